use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Client, Event, Server, TIMEOUT, until};

/// The time within which a change shows on the other servers.
const SOON: Duration = Duration::from_secs(2);

/// A server that is also the store of two others.
struct Three {
    store: Server,
    one: Server,
    other: Server,
}

impl Three {
    fn start() -> Self {
        let (store, address) = Server::for_drivers();
        let over_the_store = [("SPILLWAY_STORE", address.as_str())];
        Self {
            store,
            one: Server::start_with(&over_the_store),
            other: Server::start_with(&over_the_store),
        }
    }
}

/// Waits for an event with this many likes.
#[track_caller]
fn likes(events: &Receiver<Event>, count: u64, within: Duration) -> Event {
    let deadline = Instant::now() + within;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let event = events.recv_timeout(left);
        let event = event.unwrap_or_else(|_| panic!("nobody told of {count} likes within {within:?}"));
        if event.data["likes"]["count"] == count {
            return event;
        }
    }
}

/// While a store restarts, requests may fail.
fn insist(what: &str, ask: impl Fn() -> u16) {
    until(what, || (ask() == 200).then_some(()));
}

fn watch(server: &Server, post: &str) -> Receiver<Event> {
    let visitor: Client = server.visitor();
    let events = visitor.watch(&[&format!("post:{post}")]);
    likes(&events, 0, TIMEOUT);
    events
}

/// The mark of what nobody was told of yet is in the document for a moment.
fn without_owner_bytes(mut lists: Value) -> Value {
    for list in lists.as_object_mut().unwrap().values_mut() {
        list.as_object_mut().unwrap().remove("ownerBytes");
    }
    lists
}

#[test]
fn a_like_through_one_server_moves_the_streams_of_the_others_within_two_seconds() {
    let three = Three::start();
    let (ada, bob) = (three.one.member("ada"), three.one.member("bob"));
    let post = ada.writes("Watch me from anywhere");
    let elsewhere = watch(&three.other, &post);
    let at_the_store = watch(&three.store, &post);

    assert_eq!(bob.put(&format!("/posts/{post}/like")).status, 200);
    let event = likes(&elsewhere, 1, SOON);
    likes(&at_the_store, 1, SOON);
    let now = three.store.visitor().get(&format!("/posts/{post}/overflow")).body;
    assert_eq!(
        without_owner_bytes(event.data),
        without_owner_bytes(now),
        "an event carries what the store's own server answers"
    );

    // The other direction, by somebody who signed in elsewhere.
    let bob = bob.moved_to(&three.store);
    assert_eq!(bob.delete(&format!("/posts/{post}/like")).status, 200);
    likes(&elsewhere, 0, SOON);
    likes(&at_the_store, 0, SOON);
}

#[test]
fn a_stream_outlives_a_crash_of_the_store() {
    let mut three = Three::start();
    let (ada, bob) = (three.one.member("ada"), three.one.member("bob"));
    let post = ada.writes("Watch me whatever happens");
    let events = watch(&three.other, &post);

    three.store.crash_and_restart();
    let path = format!("/posts/{post}/like");
    insist("a like goes through again", || bob.put(&path).status);
    likes(&events, 1, TIMEOUT);

    // From here on it is as quick as before.
    assert_eq!(bob.delete(&path).status, 200);
    likes(&events, 0, SOON);
}

#[test]
fn how_a_server_learns_of_changes_is_said_when_it_starts() {
    let mut three = Three::start();
    let line = three.one.says("Pages are live: ");
    assert!(
        line.contains("is read every") && line.contains("because"),
        "{line}"
    );
    let mut alone = Server::start();
    let line = alone.says("Pages are live: ");
    assert!(line.contains("the store reports"), "{line}");
    assert!(three.other.says("Pages are live: ").contains("is read every"));
}
