//! From unbounded arrays to head and pages: beside writers, interrupted anywhere, and repeated.

mod arrays;
mod crashes;
mod writers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::support::{assert_sound, handle, like, like_at, post, small_store, walk};
use async_trait::async_trait;
use bson::spec::BinarySubtype;
use bson::{Bson, DateTime, Document, doc};
use document::{Capabilities, Engine, Error, Find, FindAndModify, Index, Layer, Result, Update, Updated};
use model::{Handle, Relation, Topic};
use store::Store;
use store::overflow::{Key, Owner, PAGES, owner_collection, owner_id};
use store::upkeep::{CheckOptions, DetectOptions, Form, MigrationReport, check, detect, migrate};

const LIKES: Relation = Relation::Likes;
const FOLLOWERS: Relation = Relation::Followers;

async fn set(store: &Store, owner: &Owner, field: &str, value: impl Into<Bson>) {
    let update = Update::one(
        doc! { "_id": owner_id(owner) },
        doc! { "$set": { field: value.into() } },
    );
    let done = store
        .engine()
        .update(owner_collection(owner), update)
        .await
        .unwrap();
    assert_eq!(done.matched, 1);
}

async fn run(store: &Store) -> MigrationReport {
    migrate(store, false, &|done, total| assert!(done <= total))
        .await
        .unwrap()
}

async fn is_sound(store: &Store) {
    let options = CheckOptions {
        lists_only: true,
        pause: Duration::from_millis(1),
        ..CheckOptions::default()
    };
    let checked = check(store, options, &|_, _| ()).await.unwrap();
    assert!(checked.is_sound(), "{:#?}", checked.findings);
}

fn array(likes: impl DoubleEndedIterator<Item = u64>) -> Vec<Document> {
    likes.map(|n| like(n).to_document()).collect()
}

async fn actors(store: &Store, owner: &Owner, relation: Relation) -> Vec<Handle> {
    walk(store, owner, relation, 7)
        .await
        .into_iter()
        .map(|item| item.by.unwrap())
        .collect()
}

/// Ada, whose followers are plain handles.
pub async fn ada(store: &Store, followers: &[&str]) -> Owner {
    let document =
        doc! { "_id": "ada", "name": "Ada", "at": DateTime::from_millis(1_000), "followers": followers };
    store.engine().insert("users", vec![document]).await.unwrap();
    Topic::User("ada".parse().unwrap())
}
