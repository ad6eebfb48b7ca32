//! Actions cost as many commands as `docs/round-trips.md` says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use futures::StreamExt as _;
use model::Topic;
use serde_json::json;

use super::engines;
use super::player::Player;
use super::tap::Tap;

/// The actions and their commands, in the order in which they ran.
struct Ledger {
    tap: Tap,
    rows: Vec<(&'static str, Vec<String>)>,
}

impl Ledger {
    /// Records what was sent since the last row.
    fn row(&mut self, action: &'static str) {
        self.rows.push((action, self.tap.take()));
    }

    /// Discards it.
    fn skip(&self) {
        self.tap.take();
    }

    /// Discards the first poll of a watched owner. It takes the owner for changed, which is then read once more.
    async fn skip_first_poll(&self) {
        while self.tap.polls() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.skip();
    }
}

/// Each action once, on lists whose heads hold five items and whose pages hold three.
async fn play(player: &mut Player, ledger: &mut Ledger) {
    player.joins("ada").await;
    ledger.row("Sign up");
    let credentials = json!({ "handle": "ada", "password": "correct horse" });
    player
        .api("ada again", "POST", "/session", Some(credentials))
        .await;
    player.was(200);
    ledger.row("Sign in");
    let fans: Vec<String> = (0..12).map(|number| format!("fan{number}")).collect();
    for fan in &fans {
        player.joins(fan).await;
    }
    ledger.skip();
    let post = player.writes("ada", "The weir is open.").await;
    ledger.row("Write a post");
    let like = format!("/posts/{post}/like");
    for (number, fan) in fans.iter().enumerate() {
        let action = match number {
            0 => "Like, the head has room and there is no page",
            5 => "Like, the head is full: a spill",
            6 => "Like, the head has room and there are pages",
            _ => "",
        };
        player.api(fan, "PUT", &like, None).await;
        player.was(200);
        player.feed.notifications().are_told().await;
        if action.is_empty() {
            ledger.skip();
        } else {
            ledger.row(action);
        }
    }
    player.api("fan11", "DELETE", &like, None).await;
    player.was(200);
    ledger.row("Take a like back, from the head");
    player.api("fan0", "DELETE", &like, None).await;
    player.was(200);
    ledger.row("Take a like back, from a page");
    player
        .api(
            "fan1",
            "POST",
            &format!("/posts/{post}/comments"),
            Some(json!({ "text": "Hello" })),
        )
        .await;
    player.was(201);
    player.feed.notifications().are_told().await;
    ledger.row("Comment");
    player
        .api("fan1", "PUT", &format!("/posts/{post}/share"), None)
        .await;
    player.was(200);
    player.feed.notifications().are_told().await;
    ledger.row("Share");
    player
        .api(
            "ada",
            "PATCH",
            &format!("/posts/{post}"),
            Some(json!({ "text": "The weir is closed." })),
        )
        .await;
    player.was(200);
    ledger.row("Edit a post");
    player.api("fan1", "PUT", "/users/ada/follow", None).await;
    player.was(200);
    player.feed.notifications().are_told().await;
    ledger.row("Follow");
    read(player, ledger, &post).await;

    let topic = Topic::Post(post.parse().unwrap());
    let mut events = player.feed.live().watch(&[topic], None).unwrap();
    events.next().await.unwrap();
    ledger.row("Begin to watch a post");
    ledger.skip_first_poll().await;
    player
        .api("fan1", "DELETE", &format!("/posts/{post}/share"), None)
        .await;
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
        ledger.row(action);
    }
    let first = player
        .api("", "GET", &format!("/posts/{post}/likes?limit=5"), None)
        .await;
    ledger.skip();
    let next = first["next"].as_str().unwrap();
    player
        .api(
            "",
            "GET",
            &format!("/posts/{post}/likes?limit=1&cursor={next}"),
            None,
        )
        .await;
    player.was(200);
    ledger.row("Read on in the likes, across a seam");
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

/// `3 | find posts · find users ×2`: how many, and which.
fn cells(commands: &[String]) -> String {
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
    format!("{} | {}", commands.len(), kinds.join(" · "))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_action_sends_the_documented_commands() {
    let listener = engines::listener().await;
    let tap = Tap::before(listener.address()).await;
    let mut player = Player::on(engines::driver(tap.address).await).await;
    let mut ledger = Ledger {
        tap,
        rows: Vec::new(),
    };
    ledger.skip();
    play(&mut player, &mut ledger).await;

    let mut table = "| Action | Commands | Which |\n|---|---|---|\n".to_owned();
    let mut actual = BTreeMap::new();
    for (action, commands) in &ledger.rows {
        let cells = cells(commands);
        writeln!(table, "| {action} | {cells} |").unwrap();
        actual.insert((*action).to_owned(), cells);
    }
    assert!(
        documented() == actual,
        "docs/round-trips.md should say:\n\n{table}"
    );
}
