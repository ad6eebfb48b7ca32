//! Every kind of violation, made with raw writes: `check` names it, and repairs it if that is possible.

mod bounds;
mod items;
mod pages;

use std::time::Duration;

use crate::support::{assert_sound, born_of, handle, like, like_at, post, small_store, walk};
use bson::{DateTime, Document, doc};
use document::{Find, Update};
use model::{Relation, Timestamp};
use store::Store;
use store::overflow::{Item, Key, Owner, PAGES, empty, owner_collection, owner_id};
use store::upkeep::{CheckOptions, CheckReport, Defect, Outcome, Severity, Violation, check};
use uuid::Uuid;

const LIKES: Relation = Relation::Likes;

fn options(repair: bool) -> CheckOptions {
    CheckOptions {
        repair,
        lists_only: true,
        pause: Duration::from_millis(2),
    }
}

async fn checked(store: &Store, repair: bool) -> CheckReport {
    check(store, options(repair), &|done, total| assert!(done <= total))
        .await
        .unwrap()
}

async fn violations(store: &Store) -> Vec<Defect> {
    checked(store, false)
        .await
        .findings
        .into_iter()
        .map(|finding| match finding.violation {
            Violation::List(defect) => defect,
            other => panic!("{other}"),
        })
        .collect()
}

/// A post with fifteen likes, the oldest twelve of them in four pages of three; the head may hold five.
async fn overflowed() -> (Store, Owner) {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    for n in 1..=15 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    assert_eq!(violations(&store).await, [], "a sound list is found sound");
    (store, owner)
}

async fn change_owner(store: &Store, owner: &Owner, change: Document) {
    let update = Update::one(doc! { "_id": owner_id(owner) }, change);
    let done = store
        .engine()
        .update(owner_collection(owner), update)
        .await
        .unwrap();
    assert_eq!(done.modified, 1);
}

async fn change_page(store: &Store, page: i64, change: Document) {
    let update = Update::one(doc! { "relation": "likes", "page": page }, change);
    assert_eq!(store.engine().update(PAGES, update).await.unwrap().modified, 1);
}

/// Checks that exactly this is found, that a repair fixes it, and that nothing is found afterwards.
async fn is_found_and_repaired(store: &Store, owner: &Owner, expected: &[Defect]) {
    assert_eq!(violations(store).await, expected);
    let repaired = checked(store, true).await;
    assert!(repaired.is_sound(), "{:#?}", repaired.findings);
    assert!(
        repaired
            .findings
            .iter()
            .all(|finding| finding.outcome == Outcome::Repaired)
    );
    assert_eq!(violations(store).await, []);
    assert_sound(store, owner, LIKES).await;
    store.list(LIKES).append(owner, like(1_000)).await.unwrap();
    assert_sound(store, owner, LIKES).await;
}

/// Checks that exactly this is found, and that a repair says why it cannot be fixed and changes nothing.
async fn is_found_and_reported(store: &Store, expected: &[Defect]) {
    assert_eq!(violations(store).await, expected);
    let everything = dump(store).await;
    let repaired = checked(store, true).await;
    assert!(
        repaired
            .findings
            .iter()
            .all(|finding| matches!(finding.outcome, Outcome::Unrepairable(_))),
        "{:#?}",
        repaired.findings
    );
    assert_eq!(dump(store).await, everything, "nothing changed");
}

async fn dump(store: &Store) -> Vec<Document> {
    let mut all = store.engine().find("posts", Find::default()).await.unwrap();
    all.extend(store.engine().find(PAGES, Find::default()).await.unwrap());
    all
}
