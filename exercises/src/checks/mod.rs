//! What must hold when an exercise is solved. Each check runs the answer, and panics with the violation that it
//! found.

#![expect(
    clippy::missing_panics_doc,
    reason = "each of them does, when the answer is wrong"
)]

mod orders;

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::{Engine, Find, Result};
use embedded::Embedded;

pub mod eight;
pub mod five;
pub mod four;
pub mod one;
pub mod seven;
pub mod six;
pub mod three;
pub mod two;

use orders::{ORDERS, in_order, up_to};

/// The list of every check.
const LIST: &str = "feed";

/// A store with a list in it: a head, and this many items in pages before it.
async fn with(head: impl Iterator<Item = i64>, pages: &[&[i64]]) -> Engine {
    let db = empty();
    let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
    for (number, items) in (0..).zip(pages) {
        let page =
            doc! { "_id": format!("{LIST}/{number}"), "list": LIST, "page": number, "items": items.to_vec() };
        sure(db.insert("pages", vec![page]).await);
    }
    let owner = doc! { "_id": LIST, "head": head.collect::<Vec<_>>(), "pages": count };
    sure(db.insert("lists", vec![owner]).await);
    db
}

fn empty() -> Engine {
    Arc::new(sure(Embedded::in_memory()))
}

#[track_caller]
fn sure<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the engine refused a command: {error}"),
    }
}

async fn owner(db: &Engine) -> Document {
    let found = sure(db.find("lists", Find::matching(doc! { "_id": LIST })).await);
    found
        .into_iter()
        .next()
        .unwrap_or_else(|| panic!("the list is gone"))
}

/// All page documents by number, whether or not the list counts them.
async fn pages(db: &Engine) -> BTreeMap<i64, Vec<i64>> {
    let found = sure(db.find("pages", Find::matching(doc! { "list": LIST })).await);
    let number = |page: &Document| page.get("page").and_then(Bson::as_i64_or_i32).unwrap_or_default();
    found
        .iter()
        .map(|page| (number(page), numbers(page, "items")))
        .collect()
}

/// The items that a reader of the counted pages and the head finds, oldest first.
async fn read(db: &Engine) -> Vec<i64> {
    let owner = owner(db).await;
    let counted = owner
        .get("pages")
        .and_then(Bson::as_i64_or_i32)
        .unwrap_or_default();
    let mut items: Vec<i64> = pages(db)
        .await
        .into_iter()
        .filter(|(page, _)| *page < counted)
        .flat_map(|(_, items)| items)
        .collect();
    items.extend(numbers(&owner, "head"));
    items
}

fn numbers(document: &Document, name: &str) -> Vec<i64> {
    let items = document.get_array(name).cloned().unwrap_or_default();
    items.iter().filter_map(Bson::as_i64_or_i32).collect()
}

/// A number, in either of BSON's integer types.
trait Integer {
    fn as_i64_or_i32(&self) -> Option<i64>;
}

impl Integer for Bson {
    fn as_i64_or_i32(&self) -> Option<i64> {
        self.as_i64().or_else(|| self.as_i32().map(i64::from))
    }
}

/// Asserts that each of these items is there exactly once.
#[track_caller]
fn each_once(found: &[i64], expected: impl IntoIterator<Item = i64>, when: &str) {
    for item in expected {
        match found.iter().filter(|other| **other == item).count() {
            1 => {}
            0 => panic!("{when}, item {item} is lost; a reader finds {found:?}"),
            times => panic!("{when}, item {item} is there {times} times; a reader finds {found:?}"),
        }
    }
}
