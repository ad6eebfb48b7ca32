//! Engines that leave out parts of the protocol. The protocol's guards are filters, so removing a field from a filter
//! on the way to the engine is the same as never having written the guard.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread;

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, doc};
use document::{
    Capabilities, Change, Consistency, Engine, Error, Find, FindAndModify, Layer, Result, Update, Updated,
};
use store::overflow::PAGES;
use store::timeline::COLLECTION as TIMELINES;

use super::schedule::Between;

/// One write of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    MakeOwner,
    Push,
    WritePage,
    Commit,
    AdvanceRev,
    /// An answer that changes nothing is confirmed.
    Confirm,
    RemoveFromHead,
    Pend,
    PullFromPage,
    Unpend,
    /// An empty page is removed from the index.
    Unmark,
    Trim,
    DropPage,
    MakeList,
    /// The pages of an adoption.
    WritePages,
    FinishAdoption,
    DeleteOwner,
    /// Pages of owners that are gone are deleted.
    Sweep,
    /// A person's intent is noted.
    Begin,
    /// A post is put into a timeline.
    Deliver,
    /// An outlier is named in a timeline.
    Announce,
    /// An author is marked before the followers' timelines name them as an outlier.
    BeginToAnnounce,
    /// A follow or unfollow is noted.
    Doubt,
    /// A timeline is rewritten.
    Rewrite,
    /// An author who leaves is removed from a timeline.
    Forget,
}

/// The fault of a mutant.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// A step's filter lacks a field; `head.…` and the like stand for those of any relation.
    Guard(Step, &'static str),
    /// A step's filter lacks two fields that guard the same thing.
    Guards(Step, [&'static str; 2]),
    /// A step lacks one of its operators, for a field.
    Part(Step, &'static str, &'static str),
    /// A step's push lacks one of its modifiers.
    Modifier(Step, &'static str),
    /// Items added by a commit keep the time of a clock that is late.
    Late,
    /// A push of several items checks only the first key.
    FirstKeyOnly,
    /// A push of several items checks for room for one only.
    RoomForOne,
    /// A push of several items counts one.
    CountsOne,
    /// A step is left out.
    Never(Step),
    /// Pages are deleted before their owner.
    SweepFirst,
    /// Only deletions of owners sweep.
    NoSweepAfterASpill,
    /// A sweep uses a read of the owner from before its read of the pages.
    SweepByAnOldLook,
    /// Readers of pages ignore this field of their filter.
    Reader(&'static str),
    /// Readers count one page more than is committed.
    OneMorePage,
    /// All reads lack this field of a list.
    Blind(&'static str),
    /// The owner is changed before the page is written.
    CommitFirst,
    /// A spill assumes that the stored page is what it wrote.
    NoReadBack,
    /// Answers that change nothing depend on reads alone.
    Unconfirmed,
}

/// An engine with a fault.
pub struct Mutant {
    pub engine: Engine,
    pub fault: Fault,
    /// A page write that waits for its commit.
    pub written: Mutex<Option<Update>>,
    /// Whether an owner was deleted.
    pub deleted: AtomicBool,
    /// The incarnation of the owner at an earlier read.
    pub looked: Mutex<Option<Vec<Document>>>,
}

impl Mutant {
    pub fn of(engine: Engine, fault: Fault) -> Engine {
        Arc::new(Self {
            engine,
            fault,
            written: Mutex::new(None),
            deleted: AtomicBool::new(false),
            looked: Mutex::new(None),
        })
    }

    /// Puts a mutant between the operations and their engine.
    pub fn between(fault: Fault) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, fault)))
    }

    fn spoil(&self, step: Option<Step>, filter: &mut Document, change: &mut Change) {
        match (self.fault, change) {
            (Fault::Guard(wrong, field), _) if step == Some(wrong) => {
                without(filter, field);
            }
            (Fault::Guards(wrong, fields), _) if step == Some(wrong) => {
                for field in fields {
                    without(filter, field);
                }
            }
            (Fault::Part(wrong, operator, field), Change::Operators(operators)) if step == Some(wrong) => {
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
            (Fault::Modifier(wrong, modifier), Change::Operators(operators)) if step == Some(wrong) => {
                for (_, push) in operators.get_document_mut("$push").unwrap().iter_mut() {
                    push.as_document_mut().unwrap().remove(modifier);
                }
            }
            (Fault::Late, Change::Operators(operators)) if step == Some(Step::Commit) => {
                let push = operators.get_document_mut("$push").unwrap();
                let push = push.get_document_mut("likes.head").unwrap();
                for item in push.get_array_mut("$each").unwrap() {
                    item.as_document_mut()
                        .unwrap()
                        .insert("at", DateTime::from_millis(0));
                }
            }
            (Fault::FirstKeyOnly, _) if step == Some(Step::Push) => {
                let keys = filter.get_document_mut("likes.head.by").unwrap();
                keys.get_array_mut("$nin").unwrap().truncate(1);
            }
            (Fault::RoomForOne, Change::Operators(operators)) if step == Some(Step::Push) => {
                let push = operators.get_document("$push").unwrap();
                let push = push.get_document("likes.head").unwrap();
                let more = i64::try_from(push.get_array("$each").unwrap().len()).unwrap() - 1;
                let room = filter.get_document_mut("$expr").unwrap();
                if let Bson::Int64(most) = &mut room.get_array_mut("$lte").unwrap()[1] {
                    *most += more;
                }
            }
            (Fault::CountsOne, Change::Operators(operators)) if step == Some(Step::Push) => {
                let increase = operators.get_document_mut("$inc").unwrap();
                increase.insert("likes.count", 1_i64);
            }
            _ => {}
        }
    }

    fn blind(&self, documents: &mut [Document]) {
        let Fault::Blind(field) = self.fault else { return };
        for document in documents {
            for relation in ["likes", "comments"] {
                if let Ok(list) = document.get_document_mut(relation) {
                    list.remove(field);
                }
            }
        }
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

/// Removes a field, of any relation.
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

/// A path without the relation.
fn bare(path: &str) -> &str {
    let relations = ["likes.", "comments.", "activities."];
    let stripped = relations.iter().find_map(|relation| path.strip_prefix(relation));
    stripped.unwrap_or(path)
}

/// The step of the protocol that an update belongs to.
pub fn step_of(collection: &str, change: &Change) -> Option<Step> {
    let Change::Operators(operators) = change else {
        return Some(Step::MakeList);
    };
    let has = |operator: &str, field: &str| {
        let fields = operators.get_document(operator).ok()?;
        fields
            .iter()
            .find(|(path, _)| bare(path) == field)
            .map(|(_, value)| value.clone())
    };
    if collection == TIMELINES {
        return match () {
            () if has("$push", "entries").is_some() => Some(Step::Deliver),
            () if has("$push", "doubts").is_some() => Some(Step::Doubt),
            () if has("$addToSet", "outliers").is_some() => Some(Step::Announce),
            () if has("$set", "entries").is_some() => Some(Step::Rewrite),
            () if has("$pull", "entries").is_some() => Some(Step::Forget),
            () => None,
        };
    }
    if collection == PAGES {
        return match () {
            () if has("$setOnInsert", "_id").is_some() => Some(Step::WritePage),
            () if has("$pull", "items").is_some() => Some(Step::PullFromPage),
            () if has("$unset", "last").is_some() => Some(Step::Unmark),
            () => None,
        };
    }
    match () {
        () if has("$push", "intents").is_some() => Some(Step::Begin),
        () if has("$unset", "adopting").is_some() => Some(Step::FinishAdoption),
        () if has("$push", "pending").is_some() => Some(Step::Pend),
        () if has("$pull", "pending").is_some() => Some(Step::Unpend),
        () if has("$inc", "pages") == Some(Bson::Int64(1)) => Some(Step::Commit),
        () if has("$push", "head").is_some() => Some(Step::Push),
        () if has("$inc", "pages").is_some() => Some(Step::Trim),
        () if has("$pull", "head").is_some() => Some(Step::RemoveFromHead),
        () if has("$max", "rev").is_some() => Some(Step::AdvanceRev),
        () if has("$inc", "rev").is_some() => Some(Step::Confirm),
        () if has("$set", "outlier") == Some(Bson::Boolean(false)) => Some(Step::BeginToAnnounce),
        () => None,
    }
}

#[async_trait]
impl Layer for Mutant {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.fault))
    }

    async fn find(&self, collection: &str, mut find: Find) -> Result<Vec<Document>> {
        if collection == PAGES {
            if let Fault::Reader(field) = self.fault {
                find.filter.remove(field);
            }
            if let (Fault::OneMorePage, Ok(range)) = (self.fault, find.filter.get_document_mut("page"))
                && let Ok(below) = range.get_i64("$lt")
            {
                range.insert("$lt", below + 1);
            }
        }
        if collection != PAGES && find.projection == doc! { "born": 1 } {
            let looked = self.looked.lock().unwrap().take();
            if let Some(looked) = looked {
                return Ok(looked);
            }
        }
        let mut found = self.engine.find(collection, find).await?;
        self.blind(&mut found);
        Ok(found)
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        if matches!(self.fault, Fault::SweepByAnOldLook) {
            let owner = doc! { "_id": filter.get("owner") };
            let looked = self.engine.find("posts", Find::matching(owner)).await?;
            *self.looked.lock().unwrap() = Some(looked);
        }
        self.engine.distinct(collection, field, filter).await
    }

    async fn update(&self, collection: &str, mut update: Update) -> Result<Updated> {
        let step = step_of(collection, &update.update);
        self.spoil(step, &mut update.filter, &mut update.update);
        match (self.fault, step) {
            (Fault::Never(left_out), Some(step)) if left_out == step => Ok(Updated::default()),
            (Fault::CommitFirst, Some(Step::WritePage)) => {
                *self.written.lock().unwrap() = Some(update);
                Ok(Updated::default())
            }
            (Fault::NoReadBack, Some(Step::WritePage)) => {
                match self.engine.update(collection, update).await {
                    Err(Error::DuplicateKey { .. }) => Ok(Updated::default()),
                    written => written,
                }
            }
            _ => self.engine.update(collection, update).await,
        }
    }

    async fn find_and_modify(&self, collection: &str, mut change: FindAndModify) -> Result<Option<Document>> {
        let step = step_of(collection, &change.update);
        self.spoil(step, &mut change.filter, &mut change.update);
        if matches!(self.fault, Fault::Never(left_out) if step == Some(left_out)) {
            return Ok(None);
        }
        let changed = self.engine.find_and_modify(collection, change).await?;
        if step == Some(Step::Commit) {
            let page = self.written.lock().unwrap().take();
            if let Some(page) = page.filter(|_| changed.is_some()) {
                self.engine.update(PAGES, page).await?;
            }
        }
        Ok(changed)
    }

    async fn delete(&self, collection: &str, mut filter: Document, many: bool) -> Result<u64> {
        let step = match (collection, many) {
            (PAGES, false) => Step::DropPage,
            (PAGES, true) => Step::Sweep,
            _ => {
                self.deleted.store(true, Relaxed);
                if matches!(self.fault, Fault::SweepFirst) {
                    let pages = doc! { "owner": filter.get("_id") };
                    self.engine.delete(PAGES, pages, true).await?;
                }
                return self.engine.delete(collection, filter, many).await;
            }
        };
        match self.fault {
            Fault::Guard(wrong, field) if wrong == step => _ = filter.remove(field),
            Fault::Never(left_out) if left_out == step => return Ok(0),
            Fault::NoSweepAfterASpill if step == Step::Sweep && !self.deleted.load(Relaxed) => return Ok(0),
            _ => {}
        }
        self.engine.delete(collection, filter, many).await
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.engine.capabilities();
        if matches!(self.fault, Fault::Unconfirmed) {
            capabilities.consistency = Consistency::Linearizable;
        }
        capabilities
    }
}
