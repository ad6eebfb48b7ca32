//! New texts of comments beside processes that die, and leftovers of them.

use std::sync::Arc;

use bson::{Bson, doc};
use checker::dying::Dying;
use document::{Find, Result};
use embedded::Embedded;
use model::{PostId, Timestamp};
use store::overflow::Item;
use store::reactions::{Attempt, Reaction};
use store::upkeep::{CheckOptions, Outcome, Violation, check};
use store::{Settings, Store};
use uuid::Uuid;

use super::timelines::{handle, join};

/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000);

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn post() -> PostId {
    Uuid::from_u128(7).into()
}

fn reaction() -> Reaction {
    Reaction::Comment(post(), Uuid::from_u128(11))
}

fn attempt(number: u128) -> Attempt {
    let id = Uuid::from_u128(number);
    Attempt { id, at: at(20) }
}

/// A post by Ada with an edited comment by Bob.
async fn edited() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    for (name, born) in [("ada", 1), ("bob", 2)] {
        join(&store, name, born).await;
    }
    let (text, born) = ("Hello".parse().unwrap(), Uuid::from_u128(70));
    let timelines = store.timelines();
    timelines
        .publish(post(), born, &handle("ada"), &text, at(5))
        .await
        .unwrap();
    timelines.deliver(&handle("ada")).await.unwrap();
    writes(&store, 11).await.unwrap();
    edits(&store, "Second").await;
    store
}

/// Bob writes the comment.
async fn writes(store: &Store, when: i64) -> Result<()> {
    let item = Item {
        id: Uuid::from_u128(11),
        by: Some(handle("bob")),
        at: at(when),
        more: doc! { "text": "First" },
    };
    store
        .reactions()
        .add(&reaction(), item, attempt(100))
        .await
        .map(drop)
}

/// Bob edits it; returns whether it was there.
async fn edits(store: &Store, text: &str) -> bool {
    let comments = store.comments();
    let found = comments.find(post(), Uuid::from_u128(11)).await.unwrap();
    let text = text.parse().unwrap();
    comments
        .edit(post(), &found.unwrap(), &text, at(30))
        .await
        .unwrap()
}

/// What the comment says; `None` if it is gone.
async fn says(store: &Store) -> Option<String> {
    let found = store.comments().find(post(), Uuid::from_u128(11)).await.unwrap();
    found.map(|comment| comment.more.get_str("text").unwrap().to_owned())
}

async fn stored(store: &Store) -> usize {
    let all = store.engine().find("commentEdits", Find::default()).await;
    all.unwrap().len()
}

#[tokio::test]
async fn whatever_write_a_process_dies_at_a_comment_that_is_deleted_leaves_no_edit() {
    for of_post in [false, true] {
        let mut died = 0;
        for writes in 0.. {
            let store = edited().await;
            let engine = Dying::of(store.engine().clone());
            let process = Store::open(engine.clone(), Settings::default()).await.unwrap();
            engine.dies_after(writes);
            let reactions = process.reactions();
            let survived = if of_post {
                let deleted = reactions.delete_post(&handle("ada"), post(), attempt(200)).await;
                deleted.is_ok()
            } else {
                let removed = reactions.remove(&handle("bob"), &reaction(), attempt(200)).await;
                removed.is_ok()
            };
            store.reactions().finish_all(LATER).await.unwrap();
            let left = says(&store).await;
            let expected = usize::from(left.is_some());
            assert_eq!(stored(&store).await, expected, "after {writes} writes");
            assert!(left.is_none_or(|text| text == "Second"));
            if survived {
                break;
            }
            died += 1;
        }
        assert!(died > 2, "{died}");
    }
}

#[tokio::test]
async fn a_later_comment_with_the_same_id_does_not_get_the_edit_of_an_earlier_one() {
    let store = edited().await;
    let left = store
        .engine()
        .find("commentEdits", Find::default())
        .await
        .unwrap();
    let reactions = store.reactions();
    reactions
        .remove(&handle("bob"), &reaction(), attempt(200))
        .await
        .unwrap();
    // As if the server had died before removing it.
    store.engine().insert("commentEdits", left).await.unwrap();
    writes(&store, 40).await.unwrap();
    assert_eq!(says(&store).await.as_deref(), Some("First"));
    assert!(edits(&store, "Third").await);
    assert_eq!(
        (says(&store).await.as_deref(), stored(&store).await),
        (Some("Third"), 1)
    );
}

#[tokio::test]
async fn a_comment_that_is_deleted_while_it_is_edited_leaves_no_edit() {
    let store = edited().await;
    let comments = store.comments();
    let read = comments.find(post(), Uuid::from_u128(11)).await.unwrap().unwrap();
    let reactions = store.reactions();
    reactions
        .remove(&handle("bob"), &reaction(), attempt(200))
        .await
        .unwrap();
    let text = "Third".parse().unwrap();
    assert!(!comments.edit(post(), &read, &text, at(30)).await.unwrap());
    assert_eq!(stored(&store).await, 0);
}

#[tokio::test]
async fn an_edit_without_its_comment_is_found_and_removed() {
    let store = edited().await;
    let whole = check(&store, CheckOptions::default(), &|_, _| {}).await.unwrap();
    assert!(
        whole.is_sound() && whole.findings.is_empty(),
        "{:#?}",
        whole.findings
    );
    let mut left = store
        .engine()
        .find("commentEdits", Find::default())
        .await
        .unwrap();
    let gone = Uuid::from_u128(12);
    left[0].insert("_id", Bson::from(format!("{} {gone}", post())));
    store.engine().insert("commentEdits", left).await.unwrap();
    for repair in [false, true] {
        let options = CheckOptions {
            repair,
            ..CheckOptions::default()
        };
        let checked = check(&store, options, &|_, _| {}).await.unwrap();
        let [finding] = &checked.findings[..] else {
            panic!("{:#?}", checked.findings);
        };
        let comment = gone.to_string();
        assert_eq!(finding.violation, Violation::EditUnfounded { comment });
        let outcome = if repair { Outcome::Repaired } else { Outcome::Found };
        assert_eq!(finding.outcome, outcome);
    }
    assert_eq!(
        (stored(&store).await, says(&store).await.as_deref()),
        (1, Some("Second"))
    );
}
