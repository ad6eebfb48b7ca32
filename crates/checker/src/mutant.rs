//! Engines that leave out parts of a protocol. Its guards are filters, so removing a field from a filter on the way to
//! the engine is the same as never having written the guard.

use std::fmt::Debug;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Change, Engine, FindAndModify, Layer, Result, Update, Updated};

use crate::schedule::Between;
use crate::step::bare;

/// One write of a protocol.
pub trait Write: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The write that an update of a collection belongs to.
    fn of_update(collection: &str, change: &Change) -> Option<Self>;

    /// The write that an insertion into a collection belongs to.
    fn of_insert(_collection: &str) -> Option<Self> {
        None
    }

    /// The write that a deletion in a collection belongs to.
    fn of_delete(_collection: &str, _many: bool) -> Option<Self> {
        None
    }
}

/// The fault of a mutant.
#[derive(Debug, Clone, Copy)]
pub enum Fault<W> {
    /// A write's filter lacks a field; `head.…` and the like stand for those of any list.
    Guard(W, &'static str),
    /// A write's filter lacks two fields that guard the same thing.
    Guards(W, [&'static str; 2]),
    /// A write lacks one of its operators, for a field.
    Part(W, &'static str, &'static str),
    /// A write's push lacks one of its modifiers.
    Modifier(W, &'static str),
    /// A write is left out.
    Never(W),
}

/// An engine with a fault.
pub struct Mutant<W> {
    engine: Engine,
    fault: Fault<W>,
}

impl<W: Write> Mutant<W> {
    /// An engine over another one.
    pub fn of(engine: Engine, fault: Fault<W>) -> Engine {
        Arc::new(Self { engine, fault })
    }

    /// Puts a mutant between the operations and their engine.
    pub fn between(fault: Fault<W>) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, fault)))
    }

    /// Returns whether the write is to be made.
    fn spoil(&self, write: Option<W>, filter: &mut Document, change: Option<&mut Change>) -> bool {
        let is = |wrong: W| write == Some(wrong);
        match (self.fault, change) {
            (Fault::Never(wrong), _) => return !is(wrong),
            (Fault::Guard(wrong, field), _) if is(wrong) => without(filter, field),
            (Fault::Guards(wrong, fields), _) if is(wrong) => {
                for field in fields {
                    without(filter, field);
                }
            }
            (Fault::Part(wrong, operator, field), Some(Change::Operators(operators))) if is(wrong) => {
                if let Ok(fields) = operators.get_document_mut(operator) {
                    without(fields, field);
                    if fields.is_empty() {
                        operators.remove(operator);
                    }
                    if operators.is_empty() {
                        operators.insert("$set", doc! { "nothing": true });
                    }
                }
            }
            (Fault::Modifier(wrong, modifier), Some(Change::Operators(operators))) if is(wrong) => {
                for (_, push) in operators.get_document_mut("$push").unwrap().iter_mut() {
                    push.as_document_mut().unwrap().remove(modifier);
                }
            }
            _ => {}
        }
        true
    }
}

/// Whether an exploration fails.
pub fn fails<E: Future>(explore: impl FnOnce() -> E + Send + 'static) -> bool {
    let explored = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        panic::catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(explore());
        }))
    });
    explored.join().unwrap().is_err()
}

/// Removes a field, of any list.
fn without(document: &mut Document, field: &str) {
    let paths: Vec<String> = document
        .keys()
        .filter(|path| bare(path) == field)
        .cloned()
        .collect();
    for path in paths {
        document.remove(path);
    }
}

#[async_trait]
impl<W: Write> Layer for Mutant<W> {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.fault))
    }

    async fn update(&self, collection: &str, mut update: Update) -> Result<Updated> {
        let write = W::of_update(collection, &update.update);
        if !self.spoil(write, &mut update.filter, Some(&mut update.update)) {
            return Ok(Updated::default());
        }
        self.engine.update(collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, mut change: FindAndModify) -> Result<Option<Document>> {
        let write = W::of_update(collection, &change.update);
        if !self.spoil(write, &mut change.filter, Some(&mut change.update)) {
            return Ok(None);
        }
        self.engine.find_and_modify(collection, change).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        if !self.spoil(W::of_insert(collection), &mut Document::new(), None) {
            return Ok(());
        }
        self.engine.insert(collection, documents).await
    }

    async fn delete(&self, collection: &str, mut filter: Document, many: bool) -> Result<u64> {
        let write = W::of_delete(collection, many);
        if !self.spoil(write, &mut filter, None) {
            return Ok(0);
        }
        self.engine.delete(collection, filter, many).await
    }
}
