//! The contract: what every [engine](crate::DocumentEngine) does, as cases that any engine can run.
//!
//! Each case gets a fresh, empty engine and panics if the engine differs from MongoDB. One line in an engine's tests runs
//! them all, each as a test of its own:
//!
//! ```ignore
//! document::contract_tests!(make_engine);
//! ```
//!
//! `make_engine` is an async function that makes an engine. The only differences are the
//! [capabilities](crate::Capabilities) that an engine declares; the cases check that it declares them truthfully.

#![expect(clippy::unwrap_used, reason = "a case fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]

pub mod aggregation;
mod cases;
pub mod changes;
pub mod concurrency;
pub mod documents;
pub mod filters;
pub mod indexes;
pub mod modify;
pub mod pipelines;
pub mod queries;
pub mod sampling;
pub mod updates;

#[doc(hidden)]
pub use std::panic::AssertUnwindSafe;

use bson::{Bson, Document, doc};
use futures::FutureExt;

use crate::{Engine, Error, Find, FindAndModify, Result, Update};

/// A case that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Its module and name.
    pub case: &'static str,
    /// Whether it is about a corner case that the feed does not use: error codes for invalid input, stages that only
    /// shells send, rare forms of paths and updates. Servers that speak MongoDB's protocol differ in these.
    pub corner: bool,
}

/// Runs every case, each on an engine of its own. Returns those that failed.
pub async fn failures(make: impl AsyncFn() -> Engine) -> Vec<Failure> {
    crate::each_contract_case!(run_contract_cases(make))
}

/// The same, for an engine that must pass all of them.
pub async fn engine(make: impl AsyncFn() -> Engine) {
    let failed = failures(make).await;
    assert!(failed.is_empty(), "the engine breaks the contract: {failed:#?}");
}

/// The collection that the cases use.
pub(crate) const THINGS: &str = "things";

/// MongoDB's code of an error.
#[track_caller]
pub(crate) fn code(error: &Error) -> i32 {
    match error {
        Error::Refused { code, .. } | Error::TooLarge { code, .. } => *code,
        Error::DuplicateKey { .. } => 11000,
        other => panic!("an error without a code: {other}"),
    }
}

pub(crate) async fn insert(engine: &Engine, documents: Vec<Document>) {
    engine.insert(THINGS, documents).await.unwrap();
}

/// The documents as they are now, by `_id`.
pub(crate) async fn everything(engine: &Engine) -> Vec<Document> {
    engine
        .find(THINGS, Find::default().sort(doc! { "_id": 1 }))
        .await
        .unwrap()
}

/// The document with an `_id`.
pub(crate) async fn one(engine: &Engine, id: impl Into<Bson>) -> Document {
    let found = engine
        .find(THINGS, Find::matching(doc! { "_id": id.into() }))
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    found[0].clone()
}

/// The `_id`s that a query finds, in its order.
pub(crate) async fn ids(engine: &Engine, find: Find) -> Vec<i32> {
    let found = engine
        .find(THINGS, find.project(doc! { "_id": 1 }))
        .await
        .unwrap();
    found
        .iter()
        .map(|document| document.get_i32("_id").unwrap())
        .collect()
}

/// The result of an update on a document, which it replaces in the collection.
pub(crate) async fn changed(
    engine: &Engine,
    mut document: Document,
    update: impl Into<crate::Change>,
) -> Result<Document> {
    if !document.contains_key("_id") {
        document.insert("_id", 1);
    }
    engine.delete(THINGS, doc! {}, true).await?;
    engine.insert(THINGS, vec![document]).await?;
    let after = engine
        .find_and_modify(THINGS, FindAndModify::after(doc! {}, update))
        .await?;
    let after = after.unwrap();
    assert_eq!(everything(engine).await, std::slice::from_ref(&after));
    Ok(after)
}

/// The error of an update, which must have changed nothing.
pub(crate) async fn refusal(engine: &Engine, update: Update) -> i32 {
    let before = everything(engine).await;
    let refused = match engine.update(THINGS, update.clone()).await {
        Err(error) => code(&error),
        Ok(updated) => panic!("{update:?} came to {updated:?}"),
    };
    assert_eq!(everything(engine).await, before, "{update:?} changed something");
    refused
}
