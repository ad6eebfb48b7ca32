//! Engines that change the order of the writes of a removal, or hide from the caller that a list changed between two of
//! its reads. [`checker::mutant`] leaves out parts of single commands.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Engine, Find, FindAndModify, Layer, Result, Update, Updated};
use store::overflow::PAGES;

use checker::mutant::Write as _;
use checker::schedule::Between;
use checker::step::Step;

/// What is wrong.
#[derive(Debug, Clone, Copy)]
pub enum Disorder {
    /// A removal takes the item out of its page before the owner says that it is pending.
    PullBeforePend,
    /// A removal is no longer pending before its item is out of the page.
    UnpendBeforePull,
    /// A removal is no longer pending before the page that it emptied is hidden from readers.
    UnpendBeforeUnmark,
    /// Readers do not look at the owner again after they have read pages.
    NoSecondLook,
    /// Searches of pages find items in pages that were written after the owner was read.
    AnyRevision,
    /// Nothing is written to the owner before the sweep that follows a lost answer.
    NoWriteBeforeSweep,
}

/// An engine on which something is in disorder.
pub struct Disordered {
    engine: Engine,
    disorder: Disorder,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// A pull that waits until its removal is no longer pending.
    pull: Option<FindAndModify>,
    /// An empty page that is hidden when its removal is no longer pending.
    unmark: Option<Update>,
    /// The last read of an owner, if nothing was written since.
    owner: Option<Vec<Document>>,
    /// Whether pages were read since.
    paged: bool,
}

impl Disordered {
    /// Puts the disorder between the operations and their engine.
    pub fn between(disorder: Disorder) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, disorder)))
    }

    fn of(engine: Engine, disorder: Disorder) -> Engine {
        Arc::new(Self {
            engine,
            disorder,
            memory: Mutex::default(),
        })
    }

    /// The stored result of the last read of the owner, where a reader looks at it for the second time.
    fn first_look(&self, find: &Find) -> Option<Vec<Document>> {
        let memory = self.memory.lock().unwrap();
        let reads = |field: &str| find.projection.keys().any(|path| path.ends_with(field));
        let second = memory.paged && reads(".rev") && !reads(".head");
        let second = second && matches!(self.disorder, Disorder::NoSecondLook);
        memory.owner.clone().filter(|_| second)
    }

    /// Gives pages no newer revision than the owner had.
    fn age(&self, search: &Document, pages: &mut [Document]) {
        let memory = self.memory.lock().unwrap();
        let relation = search.get_str("relation").unwrap_or_default();
        let owner = memory.owner.iter().flatten().next();
        let rev = owner.and_then(|owner| owner.get_document(relation).ok()?.get_i64("rev").ok());
        let searches_items = search.keys().any(|path| path.starts_with("items."));
        let Some(rev) = rev.filter(|_| searches_items && matches!(self.disorder, Disorder::AnyRevision))
        else {
            return;
        };
        for page in pages {
            let newer = page.get_i64("rev").is_ok_and(|written| written > rev);
            if newer {
                page.insert("rev", rev);
            }
        }
    }
}

/// The pull of the item that a removal notes as pending.
fn pull_of(pend: &FindAndModify) -> Option<FindAndModify> {
    let document::Change::Operators(operators) = &pend.update else {
        return None;
    };
    let pending = operators
        .get_document("$push")
        .ok()?
        .get_document("likes.pending")
        .ok()?;
    let holding = doc! {
        "owner": pend.filter.get("_id"), "relation": "likes", "born": pend.filter.get("born"),
        "page": pending.get("page"), "rev": pending.get("rev"), "items.id": pending.get("id"),
    };
    let pull = doc! { "$pull": { "items": { "id": pending.get("id") } }, "$inc": { "count": -1_i64 } };
    Some(FindAndModify::after(holding, pull))
}

#[async_trait]
impl Layer for Disordered {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.disorder))
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        if collection == PAGES {
            let search = find.filter.clone();
            let mut pages = self.engine.find(collection, find).await?;
            self.memory.lock().unwrap().paged = true;
            self.age(&search, &mut pages);
            return Ok(pages);
        }
        if let Some(owner) = self.first_look(&find) {
            return Ok(owner);
        }
        let found = self.engine.find(collection, find).await?;
        let mut memory = self.memory.lock().unwrap();
        memory.owner = Some(found.clone());
        memory.paged = false;
        Ok(found)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.memory.lock().unwrap().owner = None;
        let step = Step::of_update(collection, &update.update);
        if matches!(self.disorder, Disorder::NoWriteBeforeSweep) && step == Some(Step::Confirm) {
            return Ok(Updated::default());
        }
        if matches!(self.disorder, Disorder::UnpendBeforeUnmark) && step == Some(Step::Unmark) {
            self.memory.lock().unwrap().unmark = Some(update);
            return Ok(Updated {
                matched: 1,
                ..Updated::default()
            });
        }
        let unpends = step == Some(Step::Unpend);
        let updated = self.engine.update(collection, update).await?;
        let unmark = self.memory.lock().unwrap().unmark.take_if(|_| unpends);
        if let Some(unmark) = unmark {
            self.engine.update(PAGES, unmark).await?;
        }
        let pull = self.memory.lock().unwrap().pull.take_if(|_| unpends);
        if let Some(pull) = pull {
            self.engine.find_and_modify(PAGES, pull).await?;
        }
        Ok(updated)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.memory.lock().unwrap().owner = None;
        match (self.disorder, Step::of_update(collection, &change.update)) {
            (Disorder::UnpendBeforePull, Some(Step::PullFromPage)) => {
                self.memory.lock().unwrap().pull = Some(change);
                return Ok(None);
            }
            (Disorder::PullBeforePend, Some(Step::Pend)) => {
                if let Some(pull) = pull_of(&change) {
                    self.engine.find_and_modify(PAGES, pull).await?;
                }
            }
            _ => {}
        }
        self.engine.find_and_modify(collection, change).await
    }
}
