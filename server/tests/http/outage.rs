//! The database stops and restarts. It is a separate process here: a Spillway whose embedded store speaks
//! MongoDB's protocol. The app before it is a second one, which only knows the database's address.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Answer, Client, Server, TIMEOUT, free_address, handles, spillway, until};

/// The database and the app. A head of 5 and pages of 3, so that writes spill often.
struct Pair {
    database: Server,
    app: Server,
    address: String,
}

impl Pair {
    fn start() -> Self {
        let address = free_address();
        let database = Server::start_with(&[("SPILLWAY_MONGO_LISTEN", &address)]);
        let app = Server::start_with(&[
            ("SPILLWAY_STORE", &format!("mongodb://{address}/spillway")),
            ("SPILLWAY_THRESHOLD", "5"),
            ("SPILLWAY_PAGE_SIZE", "3"),
        ]);
        Self {
            database,
            app,
            address,
        }
    }

    /// Kills the database and waits until the app reports it.
    fn lose_database(&mut self) {
        self.database.crash();
        let probe = self.app.visitor().at_root();
        until("the app is not ready", || {
            (probe.get("/readyz").status == 503).then_some(())
        });
    }

    /// Restarts the database and waits until the app has found it.
    fn bring_back_database(&mut self) {
        self.database.restart();
        let probe = self.app.visitor().at_root();
        until("the app is ready again", || {
            (probe.get("/readyz").status == 200).then_some(())
        });
    }
}

#[track_caller]
fn says_when_to_try_again(answer: &Answer, kind: &str) {
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.headers["retry-after"], "1", "{answer:?}");
    assert!(answer.headers["content-type"].starts_with(kind), "{answer:?}");
}

#[test]
fn during_a_database_outage_requests_fail_at_once_and_recover_by_themselves() {
    let mut pair = Pair::start();
    let ada = pair.app.member("ada");
    let post = ada.writes("Before the flood");
    let visitor = pair.app.visitor();
    let page = |client: &Client| client.at_root().with("accept", "text/html");
    let form = |client: &Client, accept: &str| {
        client
            .at_root()
            .with("accept", accept)
            .with("content-type", "application/x-www-form-urlencoded")
    };
    let home = format!("http://{}/", pair.app.address);
    let events = visitor.watch(&[&format!("post:{post}")]);
    assert_eq!(events.recv_timeout(TIMEOUT).unwrap().data["likes"]["count"], 0);

    pair.lose_database();
    let began = Instant::now();
    for client in [&ada, &visitor] {
        for path in [
            "/feed".to_owned(),
            "/explore".to_owned(),
            format!("/posts/{post}"),
            format!("/posts/{post}/likes"),
            "/users/ada".to_owned(),
            format!("/events?topic=post:{post}"),
        ] {
            let answer = client.get(&path);
            says_when_to_try_again(&answer, "application/problem+json");
            answer.is_problem(503, None);
        }
        for path in [
            "/".to_owned(),
            "/explore".to_owned(),
            format!("/post/{post}"),
            "/@ada".to_owned(),
        ] {
            says_when_to_try_again(&page(client).get(&path), "text/html");
        }
    }
    says_when_to_try_again(
        &ada.put(&format!("/posts/{post}/like")),
        "application/problem+json",
    );
    says_when_to_try_again(
        &ada.post("/posts", &json!({"text": "a"})),
        "application/problem+json",
    );
    let like = format!("post={post}&on=true").into_bytes();
    let plain = form(&ada, "text/html").with("referer", &home);
    let answer = plain.send("POST", "/api/set_like", Some(like.clone()));
    says_when_to_try_again(&answer, "text/html");
    assert!(answer.text.contains("Wait a moment and go back"), "{answer:?}");
    let island = form(&ada, "application/json");
    let answer = island.send("POST", "/api/set_like", Some(like.clone()));
    says_when_to_try_again(&answer, "application/json");
    assert!(answer.body["message"].is_string(), "{answer:?}");
    // None of these thirty waited for the database.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let root = visitor.at_root();
    assert_eq!(root.get("/healthz").status, 200);
    let ready = root.get("/readyz");
    assert_eq!(
        (ready.status, ready.text.as_str()),
        (503, "the store does not answer\n")
    );

    pair.bring_back_database();
    assert_eq!(page(&ada).get("/").status, 200);
    assert_eq!(island.send("POST", "/api/set_like", Some(like)).status, 200);
    assert_eq!(
        plain
            .send(
                "POST",
                "/api/set_like",
                Some(format!("post={post}&on=false").into_bytes())
            )
            .status,
        303
    );
    assert_eq!(ada.put(&format!("/posts/{post}/like")).status, 200);
    assert_eq!(ada.get(&format!("/posts/{post}")).body["likes"], 1);
    let told = std::iter::from_fn(|| events.recv_timeout(TIMEOUT).ok());
    assert!(
        told.into_iter().any(|event| event.data["likes"]["count"] == 1),
        "an open stream goes on"
    );
}

#[test]
fn a_missing_database_is_reported_with_a_next_step() {
    let address = free_address();
    let store = format!("mongodb://ada:secret@{address}/spillway?serverSelectionTimeoutMS=300");
    for command in [&["serve", "--no-demo"][..], &["check"], &["stats"]] {
        let output = spillway()
            .args(command)
            .env("SPILLWAY_ADDR", "127.0.0.1:0")
            .env("SPILLWAY_STORE", &store)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&address) && said.contains("next:"), "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
}

#[test]
fn missing_validators_are_reported_once() {
    let (database, address) = Server::for_drivers();
    let town = [
        "seed",
        "--users=2",
        "--posts=2",
        "--viral-likes=2",
        "--celebrity-followers=2",
    ];
    let seeded = spillway().args(town).env("SPILLWAY_STORE", &address).status();
    assert!(seeded.unwrap().success());
    let log = database.data().join("log of the app");
    // With a town it opens the store twice: to look for the town, and to serve.
    let mut app = spillway()
        .args(["serve", "--addr", "127.0.0.1:0"])
        .env("SPILLWAY_STORE", &address)
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(File::create(&log).unwrap())
        .current_dir(database.data())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(app.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    app.kill().and_then(|()| app.wait()).unwrap();
    assert!(line.contains("Spillway is at"), "{line:?}");
    let said = fs::read_to_string(log).unwrap();
    assert_eq!(said.matches("does not check documents").count(), 1, "{said}");
}

/// The state that the writers share.
struct Load {
    posts: Vec<String>,
    people: usize,
    done: AtomicUsize,
    refused: AtomicUsize,
}

impl Load {
    fn handle(number: usize) -> String {
        format!("writer{number}")
    }

    /// The id of a writer's comment on a post.
    fn comment(writer: usize, post: usize) -> String {
        format!("00000000-0000-4000-8000-{writer:06}{post:06}")
    }

    fn writes_of_each(&self) -> usize {
        self.posts.len() * 2 + self.people - 1
    }

    /// Likes and comments on every post and follows everybody else, each repeated until it is acknowledged.
    fn write(&self, writer: usize, client: &Client) {
        let json = client.with("content-type", "application/json");
        for round in 0..self.posts.len().max(self.people) {
            if let Some(post) = self.posts.get(round) {
                self.insist(|| client.try_send("PUT", &format!("/posts/{post}/like"), None));
                let id = Self::comment(writer, round);
                let comment = json!({"id": id, "text": "The water rises."}).to_string();
                let path = format!("/posts/{post}/comments");
                self.insist(|| json.try_send("POST", &path, Some(comment.clone().into_bytes())));
            }
            if round < self.people && round != writer {
                let path = format!("/users/{}/follow", Self::handle(round));
                self.insist(|| client.try_send("PUT", &path, None));
            }
        }
    }

    fn insist(&self, send: impl Fn() -> Result<Answer, ureq::Error>) {
        loop {
            let answer = send().unwrap();
            if answer.status == 503 {
                says_when_to_try_again(&answer, "application/problem+json");
                self.refused.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            } else {
                assert!((200..300).contains(&answer.status), "{answer:?}");
                self.done.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

#[test]
fn writers_lose_nothing_and_repeat_nothing_while_the_database_is_killed_under_them_twice() {
    let mut pair = Pair::start();
    let author = pair.app.member("author");
    let load = Load {
        posts: (0..8).map(|n| author.writes(&format!("Post {n}"))).collect(),
        people: 16,
        done: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    };
    let writers: Vec<Client> = (0..load.people)
        .map(|number| pair.app.member(&Load::handle(number)))
        .collect();
    let all = load.people * load.writes_of_each();

    std::thread::scope(|scope| {
        for (number, client) in writers.iter().enumerate() {
            let load = &load;
            scope.spawn(move || load.write(number, client));
        }
        for share in [4, 2] {
            until("a part of the writes is acknowledged", || {
                (load.done.load(Ordering::Relaxed) >= all / share).then_some(())
            });
            pair.lose_database();
            let before = load.refused.load(Ordering::Relaxed);
            until("the writers are told", || {
                (load.refused.load(Ordering::Relaxed) > before).then_some(())
            });
            pair.bring_back_database();
        }
    });
    assert_eq!(load.done.load(Ordering::Relaxed), all);

    let reader = pair.app.visitor();
    let everybody: BTreeSet<String> = (0..load.people).map(Load::handle).collect();
    let everybody: BTreeSet<&str> = everybody.iter().map(String::as_str).collect();
    for (number, post) in load.posts.iter().enumerate() {
        let (likes, _) = reader.walk(&format!("/posts/{post}/likes"), 5);
        assert_eq!(likes.len(), load.people, "{likes:?}");
        assert_eq!(handles(&likes).into_iter().collect::<BTreeSet<_>>(), everybody);
        let (comments, _) = reader.walk(&format!("/posts/{post}/comments"), 5);
        assert_eq!(comments.len(), load.people, "{comments:?}");
        let ids: BTreeSet<&str> = comments
            .iter()
            .map(|comment| comment["id"].as_str().unwrap())
            .collect();
        let sent: BTreeSet<String> = (0..load.people)
            .map(|writer| Load::comment(writer, number))
            .collect();
        assert_eq!(ids, sent.iter().map(String::as_str).collect());
        let now = reader.get(&format!("/posts/{post}")).body;
        assert_eq!(
            (&now["likes"], &now["comments"]),
            (&load.people.into(), &load.people.into())
        );
    }
    for handle in &everybody {
        let total = |list: &str| reader.get(&format!("/users/{handle}/{list}")).body["total"].clone();
        assert_eq!(total("followers"), load.people - 1, "{handle}");
        assert_eq!(total("following"), load.people - 1, "{handle}");
        assert_eq!(total("activity"), load.writes_of_each(), "{handle}");
    }
    let checked = spillway()
        .args(["check", "--threshold", "5", "--page-size", "3", "--store"])
        .arg(format!("mongodb://{}/spillway", pair.address))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
