//! Engines that leave something of the protocol out. The protocol's guards are filters, so taking a field out of a
//! filter on the way to the engine is the same as never having written the guard.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, DateTime, Document};
use document::{Change, Consistency, DocumentEngine, Engine, Find, FindAndModify, Index, Update, Updated};
use document::{Error, Result};
use store::overflow::PAGES;
use store::timeline::COLLECTION as TIMELINES;

/// One write of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    MakeOwner,
    Push,
    WritePage,
    Commit,
    AdvanceRev,
    /// An answer that changes nothing is made sure of.
    Confirm,
    RemoveFromHead,
    Pend,
    PullFromPage,
    Unpend,
    /// An emptied page leads no reader to it any more.
    Unmark,
    Trim,
    DropPage,
    MakeList,
    /// The pages of an adoption.
    WritePages,
    FinishAdoption,
    DeleteOwner,
    /// The pages of an owner that is gone.
    Sweep,
    /// A post comes into a timeline.
    Deliver,
    /// An outlier comes into a timeline.
    Announce,
    /// An author's followers are about to be told that they are an outlier.
    BeginToAnnounce,
    /// A follow or unfollow is noted.
    Doubt,
    /// A timeline is written anew.
    Rewrite,
    /// An author who leaves goes out of a timeline.
    Forget,
}

/// What is wrong with a mutant.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// A step's filter lacks a field; `head.…` and the like stand for those of any relation.
    Guard(Step, &'static str),
    /// A step's filter lacks two fields that tell of the same.
    Guards(Step, [&'static str; 2]),
    /// A step lacks one of its operators, for a field.
    Part(Step, &'static str, &'static str),
    /// A step's push lacks one of its modifiers.
    Modifier(Step, &'static str),
    /// What is added by a commit keeps the time of a clock that is late.
    Late,
    /// A push of several minds only the first of their keys.
    FirstKeyOnly,
    /// A push of several sees to it that one has room.
    RoomForOne,
    /// A push of several counts one.
    CountsOne,
    /// Readers of pages do not mind this field of their filter.
    Reader(&'static str),
    /// Readers count one page more than is committed.
    OneMorePage,
    /// Nobody sees this field of a list.
    Blind(&'static str),
    /// The owner is changed before the page is written.
    CommitFirst,
    /// A spill takes for granted that the page is what it wrote.
    NoReadBack,
    /// Answers that change nothing rest on reads.
    Unconfirmed,
}

/// An engine with a fault.
pub struct Mutant {
    pub engine: Engine,
    pub fault: Fault,
    /// A page write that waits for its commit.
    pub written: Mutex<Option<Update>>,
}

impl Mutant {
    pub fn of(engine: Engine, fault: Fault) -> Engine {
        Arc::new(Self {
            engine,
            fault,
            written: Mutex::new(None),
        })
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

/// Takes a field out, of whatever relation.
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
    path.strip_prefix("likes.")
        .or_else(|| path.strip_prefix("comments."))
        .unwrap_or(path)
}

/// Which step of the protocol an update is.
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
        () if has("$unset", "adopting").is_some() => Some(Step::FinishAdoption),
        () if has("$push", "pending").is_some() => Some(Step::Pend),
        () if has("$pull", "pending").is_some() => Some(Step::Unpend),
        () if has("$inc", "pages") == Some(Bson::Int64(1)) => Some(Step::Commit),
        () if has("$push", "head").is_some() => Some(Step::Push),
        () if has("$inc", "pages").is_some() => Some(Step::Trim),
        () if has("$pull", "head").is_some() => Some(Step::RemoveFromHead),
        () if has("$set", "rev").is_some() => Some(Step::AdvanceRev),
        () if has("$inc", "rev").is_some() => Some(Step::Confirm),
        () if has("$set", "outlier") == Some(Bson::Boolean(false)) => Some(Step::BeginToAnnounce),
        () => None,
    }
}

#[async_trait]
impl DocumentEngine for Mutant {
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
        let mut found = self.engine.find(collection, find).await?;
        self.blind(&mut found);
        Ok(found)
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.engine.count(collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.engine.distinct(collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.engine.aggregate(collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.engine.insert(collection, documents).await
    }

    async fn update(&self, collection: &str, mut update: Update) -> Result<Updated> {
        let step = step_of(collection, &update.update);
        self.spoil(step, &mut update.filter, &mut update.update);
        match (self.fault, step) {
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
        if let Fault::Guard(Step::DropPage, field) = self.fault
            && collection == PAGES
            && !many
        {
            filter.remove(field);
        }
        self.engine.delete(collection, filter, many).await
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        self.engine.create_index(collection, index).await
    }

    async fn ping(&self) -> Result<()> {
        self.engine.ping().await
    }
    fn consistency(&self) -> Consistency {
        match self.fault {
            Fault::Unconfirmed => Consistency::Linearizable,
            _ => self.engine.consistency(),
        }
    }

    fn session(&self) -> Option<Engine> {
        Some(Self::of(self.engine.session()?, self.fault))
    }
}
