//! Engines that do wrong what a list asks of them. [`checker::mutant`] leaves out parts of single commands.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, doc};
use checker::mutant::Write as _;
use checker::schedule::Between;
use checker::step::{PAGES, Step};
use document::{
    Capabilities, Change, Consistency, Engine, Error, Find, FindAndModify, Layer, Result, Update, Updated,
};

/// What is wrong.
#[derive(Debug, Clone, Copy)]
pub enum Flaw {
    /// Items added by a commit keep the time of a clock that is late.
    Late,
    /// A push of several items checks only the first key.
    FirstKeyOnly,
    /// A push of several items checks for room for one only.
    RoomForOne,
    /// A push of several items counts one.
    CountsOne,
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

/// An engine with a flaw.
pub struct Flawed {
    engine: Engine,
    flaw: Flaw,
    /// A page write that waits for its commit.
    written: Mutex<Option<Update>>,
    /// Whether an owner was deleted.
    deleted: AtomicBool,
    /// The incarnation of the owner at an earlier read.
    looked: Mutex<Option<Vec<Document>>>,
}

impl Flawed {
    pub fn of(engine: Engine, flaw: Flaw) -> Engine {
        Arc::new(Self {
            engine,
            flaw,
            written: Mutex::new(None),
            deleted: AtomicBool::new(false),
            looked: Mutex::new(None),
        })
    }

    /// Puts it between the operations and their engine.
    pub fn between(flaw: Flaw) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, flaw)))
    }

    fn spoil(&self, step: Option<Step>, filter: &mut Document, change: &mut Change) {
        match (self.flaw, change) {
            (Flaw::Late, Change::Operators(operators)) if step == Some(Step::Commit) => {
                let push = operators.get_document_mut("$push").unwrap();
                let push = push.get_document_mut("likes.head").unwrap();
                for item in push.get_array_mut("$each").unwrap() {
                    item.as_document_mut()
                        .unwrap()
                        .insert("at", DateTime::from_millis(0));
                }
            }
            (Flaw::FirstKeyOnly, _) if step == Some(Step::Push) => {
                let keys = filter.get_document_mut("likes.head.by").unwrap();
                keys.get_array_mut("$nin").unwrap().truncate(1);
            }
            (Flaw::RoomForOne, Change::Operators(operators)) if step == Some(Step::Push) => {
                let push = operators.get_document("$push").unwrap();
                let push = push.get_document("likes.head").unwrap();
                let more = i64::try_from(push.get_array("$each").unwrap().len()).unwrap() - 1;
                let room = filter.get_document_mut("$expr").unwrap();
                if let Bson::Int64(most) = &mut room.get_array_mut("$lte").unwrap()[1] {
                    *most += more;
                }
            }
            (Flaw::CountsOne, Change::Operators(operators)) if step == Some(Step::Push) => {
                let increase = operators.get_document_mut("$inc").unwrap();
                increase.insert("likes.count", 1_i64);
            }
            _ => {}
        }
    }

    fn blind(&self, documents: &mut [Document]) {
        let Flaw::Blind(field) = self.flaw else { return };
        for document in documents {
            for relation in ["likes", "comments"] {
                if let Ok(list) = document.get_document_mut(relation) {
                    list.remove(field);
                }
            }
        }
    }
}

#[async_trait]
impl Layer for Flawed {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.flaw))
    }

    async fn find(&self, collection: &str, mut find: Find) -> Result<Vec<Document>> {
        if collection == PAGES {
            if let Flaw::Reader(field) = self.flaw {
                find.filter.remove(field);
            }
            if let (Flaw::OneMorePage, Ok(range)) = (self.flaw, find.filter.get_document_mut("page"))
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
        if matches!(self.flaw, Flaw::SweepByAnOldLook) {
            let owner = doc! { "_id": filter.get("owner") };
            let looked = self.engine.find("posts", Find::matching(owner)).await?;
            *self.looked.lock().unwrap() = Some(looked);
        }
        self.engine.distinct(collection, field, filter).await
    }

    async fn update(&self, collection: &str, mut update: Update) -> Result<Updated> {
        let step = Step::of_update(collection, &update.update);
        self.spoil(step, &mut update.filter, &mut update.update);
        match (self.flaw, step) {
            (Flaw::CommitFirst, Some(Step::WritePage)) => {
                *self.written.lock().unwrap() = Some(update);
                Ok(Updated::default())
            }
            (Flaw::NoReadBack, Some(Step::WritePage)) => match self.engine.update(collection, update).await {
                Err(Error::DuplicateKey { .. }) => Ok(Updated::default()),
                written => written,
            },
            _ => self.engine.update(collection, update).await,
        }
    }

    async fn find_and_modify(&self, collection: &str, mut change: FindAndModify) -> Result<Option<Document>> {
        let step = Step::of_update(collection, &change.update);
        self.spoil(step, &mut change.filter, &mut change.update);
        let changed = self.engine.find_and_modify(collection, change).await?;
        if step == Some(Step::Commit) {
            let page = self.written.lock().unwrap().take();
            if let Some(page) = page.filter(|_| changed.is_some()) {
                self.engine.update(PAGES, page).await?;
            }
        }
        Ok(changed)
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        match Step::of_delete(collection, many) {
            Some(Step::DeleteOwner) => {
                self.deleted.store(true, Relaxed);
                if matches!(self.flaw, Flaw::SweepFirst) {
                    let pages = doc! { "owner": filter.get("_id") };
                    self.engine.delete(PAGES, pages, true).await?;
                }
            }
            Some(Step::Sweep)
                if matches!(self.flaw, Flaw::NoSweepAfterASpill) && !self.deleted.load(Relaxed) =>
            {
                return Ok(0);
            }
            _ => {}
        }
        self.engine.delete(collection, filter, many).await
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.engine.capabilities();
        if matches!(self.flaw, Flaw::Unconfirmed) {
            capabilities.consistency = Consistency::Linearizable;
        }
        capabilities
    }
}
