use std::sync::mpsc::Receiver;

use crate::support::{Client, Event, Server, TIMEOUT};

#[test]
fn a_like_moves_an_open_stream() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = ada.writes("Watch me");
    let topic = format!("post:{post}");
    let events = server.visitor().watch(&[&topic]);
    let first = events.recv_timeout(TIMEOUT).unwrap();
    assert_eq!(
        (first.name.as_str(), &first.data["likes"]["count"]),
        ("overflow", &0.into())
    );
    assert!(first.id.starts_with(&format!("{topic}@")), "{first:?}");

    bob.put(&format!("/posts/{post}/like"));
    let second = events.recv_timeout(TIMEOUT).unwrap();
    assert_ne!(first.id, second.id);
    let now = server.visitor().get(&format!("/posts/{post}/overflow")).body;
    assert_eq!(
        second.data, now,
        "an event carries what the overflow endpoint answers"
    );
    assert_eq!(now["likes"]["count"], 1);
}

#[test]
fn each_change_is_sent_once() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("Watch me");
    let fans = ["bob", "cem", "dan"].map(|handle| server.member(handle));
    let topic = format!("post:{post}");
    let events = server.visitor().watch(&[&topic]);
    let mut told = vec![events.recv_timeout(TIMEOUT).unwrap()];
    for fan in fans {
        fan.put(&format!("/posts/{post}/like"));
        told.push(events.recv_timeout(TIMEOUT).unwrap());
    }
    for (number, event) in told.iter().enumerate() {
        assert_eq!(event.data["likes"]["count"], number, "{told:?}");
        assert_eq!(event.id, format!("{topic}@{}", number + 1), "{told:?}");
    }
}

#[test]
fn one_stream_carries_many_topics() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = ada.writes("Watch me");
    let events = server
        .visitor()
        .watch(&[&format!("post:{post}"), "user:ada", "user:bob"]);
    let mut seen: Vec<String> = (0..3).map(|_| events.recv_timeout(TIMEOUT).unwrap().id).collect();
    seen.sort();
    assert!(
        seen[0].starts_with("post:") && seen[1].starts_with("user:ada@") && seen[2].starts_with("user:bob@"),
        "{seen:?}"
    );
    bob.put("/users/ada/follow");
    let followers = std::iter::from_fn(|| events.recv_timeout(TIMEOUT).ok())
        .find(|event| event.id.starts_with("user:ada@") && event.data["followers"]["count"] == 1);
    assert!(followers.is_some(), "nobody told that ada has a follower");
}

#[test]
fn a_topic_whose_owner_is_gone_does_not_silence_the_others() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("Watch me");
    let events = server.visitor().watch(&["user:nobody", &format!("post:{post}")]);
    assert!(events.recv_timeout(TIMEOUT).unwrap().id.starts_with("post:"));
    ada.put(&format!("/posts/{post}/like"));
    assert_eq!(events.recv_timeout(TIMEOUT).unwrap().data["likes"]["count"], 1);
}

#[test]
fn a_burst_is_sent_as_few_events_that_end_with_the_final_count() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let post = ada.writes("Popular");
    let fans: Vec<_> = (0..12).map(|n| server.member(&format!("fan{n}"))).collect();
    let events = server.visitor().watch(&[&format!("post:{post}")]);
    std::thread::scope(|scope| {
        for fan in &fans {
            scope.spawn(|| assert_eq!(fan.put(&format!("/posts/{post}/like")).status, 200));
        }
    });
    let last = std::iter::from_fn(|| events.recv_timeout(TIMEOUT).ok())
        .find(|event| event.data["likes"]["count"] == 12);
    let likes = last.expect("the final count is told").data["likes"].clone();
    assert_eq!(likes["hasOverflow"], true, "{likes}");
}

#[test]
fn a_stream_is_neither_stored_nor_held_back_nor_compressed() {
    let server = Server::start();
    server.member("ada");
    let headers = server
        .visitor()
        .with("accept-encoding", "gzip, br")
        .headers_of("/events?topic=user:ada");
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-accel-buffering"], "no");
    assert!(!headers.contains_key("content-encoding"));
}

#[test]
fn topics_that_cannot_be_watched_are_refused() {
    let server = Server::start();
    let ada = server.member("ada");
    ada.get("/events").is_problem(422, Some("topic"));
    for bad in ["", "ada", "user:", "post:7", "page:ada"] {
        ada.get(&format!("/events?topic={bad}"))
            .is_problem(422, Some("topic"));
    }
    let many: Vec<String> = (0..101).map(|n| format!("topic=user:u{n}")).collect();
    ada.get(&format!("/events?{}", many.join("&")))
        .is_problem(422, Some("topic"));
    ada.get("/events?topic=post:00000000-0000-0000-0000-000000000001")
        .is_problem(404, None);
}

#[test]
fn a_reader_is_told_how_many_posts_are_newer_than_those_they_see() {
    let server = Server::start();
    let (ada, bob, cem) = (server.member("ada"), server.member("bob"), server.member("cem"));
    ada.put("/users/bob/follow");
    bob.writes("Seen already");
    let seen = newest_of(&ada, "/");
    let home = ada.watch_query(&format!("posts=home&since={seen}"));
    let everybodys = server.visitor().watch_query(&format!("posts=home&since={seen}"));
    let cems = server.visitor().watch_query("posts=cem&since=");
    let newer = |events: &Receiver<Event>| {
        let event = events.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(event.name, "posts");
        event.data["newer"].as_u64().unwrap()
    };
    assert_eq!([&home, &everybodys, &cems].map(newer), [0, 0, 0]);

    cem.writes("Ada does not follow me");
    assert_eq!([&everybodys, &cems].map(newer), [1, 1]);
    bob.writes("Ada follows me");
    assert_eq!([&everybodys, &home].map(newer), [2, 1]);
}

#[test]
fn a_position_that_no_list_of_posts_gave_out_is_refused() {
    let server = Server::start();
    let visitor = server.visitor();
    visitor
        .get("/events?posts=home&since=nonsense")
        .is_problem(422, Some("since"));
    visitor
        .get("/events?posts=nobody%20at%20all")
        .is_problem(422, Some("posts"));
}

/// The position of the newest post that a page shows.
fn newest_of(reader: &Client, path: &str) -> String {
    let page = reader.at_root().with("accept", "text/html").get(path).text;
    let (_, rest) = page.split_once("data-newest=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}
