//! Sessions expire by themselves.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bson::{DateTime, doc};
use document::{DocumentEngine, Index};
use embedded::Embedded;
use model::Timestamp;
use store::sessions::{COLLECTION, Session};
use store::{Settings, Store};

fn session(digest: &str, expires: i64) -> Session {
    Session {
        digest: digest.to_owned(),
        user: "ada".parse().unwrap(),
        at: Timestamp::from_millis(0),
        used: Timestamp::from_millis(0),
        looked: Timestamp::from_millis(0),
        expires: Timestamp::from_millis(expires),
        device: Some("Firefox on Linux".to_owned()),
    }
}

#[tokio::test]
async fn an_expired_session_is_removed_and_a_current_one_stays() {
    let engine = Embedded::in_memory().unwrap();
    let store = Store::open(Arc::new(engine.clone()), Settings::default())
        .await
        .unwrap();
    for (digest, expires) in [("old", 1_000), ("new", 3_000)] {
        store.sessions().insert(&session(digest, expires)).await.unwrap();
    }
    assert_eq!(engine.expire(DateTime::from_millis(2_000)).await.unwrap(), 1);
    assert_eq!(store.sessions().get("old").await.unwrap(), None);
    assert_eq!(
        store.sessions().get("new").await.unwrap(),
        Some(session("new", 3_000))
    );
}

#[tokio::test]
async fn a_session_is_extended_and_never_shortened_or_revived() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    let sessions = store.sessions();
    sessions.insert(&session("mine", 1_000)).await.unwrap();
    for until in [3_000, 2_000] {
        let used = Timestamp::from_millis(until - 1_000);
        let until = Timestamp::from_millis(until);
        sessions.extend("mine", used, until).await.unwrap();
        let extended = Session {
            used: Timestamp::from_millis(2_000),
            ..session("mine", 3_000)
        };
        assert_eq!(sessions.get("mine").await.unwrap(), Some(extended));
    }
    sessions.delete("mine").await.unwrap();
    sessions
        .extend(
            "mine",
            Timestamp::from_millis(8_000),
            Timestamp::from_millis(9_000),
        )
        .await
        .unwrap();
    assert_eq!(sessions.get("mine").await.unwrap(), None);
}

#[tokio::test]
async fn a_session_from_before_its_last_use_was_recorded_is_read_and_extended() {
    let engine = Embedded::in_memory().unwrap();
    let store = Store::open(Arc::new(engine.clone()), Settings::default())
        .await
        .unwrap();
    let date = DateTime::from_millis;
    let old = doc! { "_id": "old", "user": "ada", "at": date(0), "expires": date(1_000) };
    engine.insert(COLLECTION, vec![old]).await.unwrap();
    let read = Session {
        device: None,
        ..session("old", 1_000)
    };
    assert_eq!(store.sessions().get("old").await.unwrap(), Some(read.clone()));
    let (used, expires) = (Timestamp::from_millis(500), Timestamp::from_millis(2_000));
    store.sessions().extend("old", used, expires).await.unwrap();
    let extended = Session {
        used,
        expires,
        ..read
    };
    assert_eq!(store.sessions().get("old").await.unwrap(), Some(extended));
}

#[tokio::test]
async fn a_session_of_somebody_else_is_not_ended() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    store.sessions().insert(&session("mine", 1_000)).await.unwrap();
    for (user, ended) in [("bob", false), ("ada", true), ("ada", false)] {
        let user = user.parse().unwrap();
        assert_eq!(
            store.sessions().delete_one_of(&user, "mine").await.unwrap(),
            ended
        );
    }
}

#[tokio::test]
async fn a_store_whose_sessions_never_expired_still_opens() {
    let engine = Embedded::in_memory().unwrap();
    let index = Index::on(doc! { "expires": 1 });
    engine.create_index(COLLECTION, index).await.unwrap();
    Store::open(Arc::new(engine), Settings::default()).await.unwrap();
}
