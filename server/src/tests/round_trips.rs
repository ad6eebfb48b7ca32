//! Actions cost as many commands as `docs/round-trips.md` says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use document::Engine;
use futures::StreamExt as _;
use model::Topic;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use self::rounds::Rounds;
use super::engines;
use super::player::Player;
use super::tap::Tap;

mod rounds;

/// What records the commands.
enum Recorder {
    /// By their names, on the wire.
    Tap(Tap),
    /// By the rounds in which they are answered.
    Rounds(Arc<Rounds>),
}

/// What an action cost.
struct Row {
    action: &'static str,
    /// The names of its commands, or their number.
    commands: Vec<String>,
    /// How many of them waited for each other before the answer.
    depth: usize,
}

/// The actions in the order in which they ran.
struct Ledger {
    recorder: Recorder,
    /// The depth of the last answer.
    depth: usize,
    rows: Vec<Row>,
}

impl Ledger {
    fn with(recorder: Recorder) -> Self {
        let mut ledger = Self {
            recorder,
            depth: 0,
            rows: Vec::new(),
        };
        ledger.take();
        ledger
    }

    /// To be called when there is an answer.
    fn answered(&mut self) {
        self.depth = match &self.recorder {
            Recorder::Tap(_) => 0,
            Recorder::Rounds(rounds) => rounds.rounds(),
        };
    }

    /// Records what was sent since the last row; an action without a name is discarded.
    fn row(&mut self, action: &'static str) {
        let (commands, depth) = (self.take(), self.depth);
        if !action.is_empty() {
            self.rows.push(Row {
                action,
                commands,
                depth,
            });
        }
    }

    fn take(&mut self) -> Vec<String> {
        match &self.recorder {
            Recorder::Tap(tap) => tap.take(),
            Recorder::Rounds(rounds) => vec![String::new(); rounds.take()],
        }
    }

    /// Discards the first poll of a watched owner, where there are polls. It takes the owner for changed, which is then
    /// read once more.
    async fn skip_first_poll(&mut self) {
        if let Recorder::Tap(tap) = &self.recorder {
            while tap.polls() < 2 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        self.take();
    }
}

/// Sends a request to the API and records it, with what it tells people.
async fn act(
    player: &mut Player,
    ledger: &mut Ledger,
    action: &'static str,
    (who, method, path, body): (&str, &str, &str, Option<Value>),
) -> Value {
    let answer = player.api(who, method, path, body).await;
    let status = player.exchanges.last().unwrap().status;
    assert!((200..300).contains(&status), "{action}: {answer}");
    ledger.answered();
    player.feed.notifications().are_told().await;
    ledger.row(action);
    answer
}

/// Each action once, on lists whose heads hold five items and whose pages hold three.
async fn play(player: &mut Player, ledger: &mut Ledger) {
    player.joins("ada").await;
    ledger.answered();
    ledger.row("Sign up");
    let credentials = json!({ "handle": "ada", "password": "correct horse" });
    let sign_in = ("ada again", "POST", "/session", Some(credentials));
    act(player, ledger, "Sign in", sign_in).await;
    let fans: Vec<String> = (0..12).map(|number| format!("fan{number}")).collect();
    for fan in &fans {
        player.joins(fan).await;
    }
    ledger.row("");
    let text = |text: &str| Some(json!({ "text": text }));
    let writes = ("ada", "POST", "/posts", text("The weir is open."));
    let post = act(player, ledger, "Write a post", writes).await;
    let post = post["id"].as_str().unwrap();
    let path = |what: &str| format!("/posts/{post}{what}");
    let (like, share) = (path("/like"), path("/share"));
    for (number, fan) in fans.iter().enumerate() {
        let action = match number {
            0 => "Like, the head has room and there is no page",
            5 => "Like, the head is full: a spill",
            6 => "Like, the head has room and there are pages",
            _ => "",
        };
        act(player, ledger, action, (fan, "PUT", &like, None)).await;
    }
    for (action, request) in [
        (
            "Take a like back, from the head",
            ("fan11", "DELETE", &*like, None),
        ),
        ("Take a like back, from a page", ("fan0", "DELETE", &*like, None)),
        ("Comment", ("fan1", "POST", &*path("/comments"), text("Hello"))),
        ("Share", ("fan1", "PUT", &*share, None)),
        (
            "Edit a post",
            ("ada", "PATCH", &*path(""), text("The weir is closed.")),
        ),
        ("Follow", ("fan1", "PUT", "/users/ada/follow", None)),
    ] {
        act(player, ledger, action, request).await;
    }
    read(player, ledger, post).await;
    fill_home(player, ledger).await;

    let topic = Topic::Post(post.parse().unwrap());
    let mut events = player.feed.live().watch(&[topic], None).unwrap();
    events.next().await.unwrap();
    ledger.answered();
    ledger.row("Begin to watch a post");
    ledger.skip_first_poll().await;
    player.api("fan1", "DELETE", &share, None).await;
    ledger.answered();
    events.next().await.unwrap();
    ledger.row("Take a share back from the head, of a post that any number of people watch");
}

/// Opens pages, and reads on in a list.
async fn read(player: &mut Player, ledger: &mut Ledger, post: &str) {
    for (reader, path, action) in [
        ("", "/".to_owned(), "Open home, not signed in"),
        ("fan1", "/".to_owned(), "Open home, signed in, for the first time"),
        ("fan1", "/".to_owned(), "Open home, signed in"),
        ("", "/explore".to_owned(), "Open explore, not signed in"),
        (
            "",
            "/search?q=weir".to_owned(),
            "Search for posts with a word, not signed in",
        ),
        ("fan1", format!("/post/{post}"), "Open a post, signed in"),
        ("fan1", "/@ada".to_owned(), "Open a profile, signed in"),
        (
            "",
            format!("/post/{post}/likes"),
            "Open the likes of a post, not signed in",
        ),
    ] {
        player.send(reader, "GET", &path, None).await;
        player.was(200);
        ledger.answered();
        ledger.row(action);
    }
    let likes = format!("/posts/{post}/likes?limit=5");
    let first = act(player, ledger, "", ("", "GET", &likes, None)).await;
    let next = first["next"].as_str().unwrap();
    let likes = format!("/posts/{post}/likes?limit=1&cursor={next}");
    let action = "Read on in the likes, across a seam";
    act(player, ledger, action, ("", "GET", &likes, None)).await;
}

/// Opens a home that needs nobody else: its page is full, and its reader follows enough people.
async fn fill_home(player: &mut Player, ledger: &mut Ledger) {
    for number in 0..20 {
        player.writes("ada", &format!("Level {number}")).await;
    }
    for followed in ["ada", "fan3", "fan4"] {
        let follow = format!("/users/{followed}/follow");
        act(player, ledger, "", ("fan2", "PUT", &follow, None)).await;
    }
    player.send("fan2", "GET", "/", None).await;
    player.was(200);
    ledger.row("");
    player.send("fan2", "GET", "/", None).await;
    player.was(200);
    ledger.answered();
    ledger.row("Open home, signed in, with a full page");
}

/// The table in the document.
fn documented() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/round-trips.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| Action"));
    rows.map(|row| {
        let (action, rest) = row.trim_start_matches("| ").split_once(" | ").unwrap();
        (action.to_owned(), rest.trim_end_matches(" |").to_owned())
    })
    .collect()
}

/// `3 | 2 | find posts · find users ×2`: how many, how many one after the other, and which.
fn cells(commands: &[String], depth: usize) -> String {
    let mut kinds: Vec<(&String, usize)> = Vec::new();
    for command in commands {
        match kinds.iter_mut().find(|(kind, _)| *kind == command) {
            Some((_, times)) => *times += 1,
            None => kinds.push((command, 1)),
        }
    }
    // Commands that are sent at once arrive in any order.
    kinds.sort();
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, times)| {
            if times == 1 {
                kind.clone()
            } else {
                format!("{kind} ×{times}")
            }
        })
        .collect();
    format!("{} | {depth} | {}", commands.len(), kinds.join(" · "))
}

async fn on_the_wire() -> Vec<Row> {
    let listener = engines::listener().await;
    let tap = Tap::before(listener.address()).await;
    let mut player = Player::on(engines::driver(tap.address).await).await;
    let mut ledger = Ledger::with(Recorder::Tap(tap));
    play(&mut player, &mut ledger).await;
    ledger.rows
}

async fn in_rounds() -> Vec<Row> {
    let rounds = Arc::new(Rounds::over(engines::embedded()));
    let mut player = Player::on(Arc::clone(&rounds) as Engine).await;
    let mut ledger = Ledger::with(Recorder::Rounds(rounds));
    play(&mut player, &mut ledger).await;
    ledger.rows
}

#[test]
fn every_action_sends_the_documented_commands() {
    let runtime = |mut builder: Builder| builder.enable_all().build().unwrap();
    let sent = runtime(Builder::new_multi_thread()).block_on(on_the_wire());
    let waited = runtime(Builder::new_current_thread()).block_on(in_rounds());

    let mut table = "| Action | Commands | In turn | Which |\n|---|---|---|---|\n".to_owned();
    let mut actual = BTreeMap::new();
    for (Row { action, commands, .. }, in_rounds) in sent.iter().zip(&waited) {
        let both = (commands.len(), *action);
        assert_eq!((in_rounds.commands.len(), in_rounds.action), both);
        let cells = cells(commands, in_rounds.depth);
        writeln!(table, "| {action} | {cells} |").unwrap();
        actual.insert((*action).to_owned(), cells);
    }
    assert!(
        documented() == actual,
        "docs/round-trips.md should say:\n\n{table}"
    );
}
