use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bson::{Bson, Document};
use document::{Engine, Find, FindAndModify, Layer, Result, Update, Updated};

use crate::call::{Answer, Call, Verb};

/// The commands of an operation so far; the last may still wait for its answer.
#[derive(Debug, Clone, Default)]
pub struct Record(Arc<Mutex<Vec<Entry>>>);

/// One command, and its answer once there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The command.
    pub call: Call,
    /// The answer.
    pub answer: Option<Answer>,
    /// The conditions of the guard that did not hold, where the command changed nothing for that reason.
    pub failed: Document,
}

impl Entry {
    /// Whether the command changed something.
    pub fn wrote(&self) -> bool {
        match &self.answer {
            Some(Answer::Inserted | Answer::Modified(true)) => true,
            Some(Answer::Updated(updated)) => updated.modified > 0 || updated.upserted.is_some(),
            Some(Answer::Deleted(gone)) => *gone > 0,
            _ => false,
        }
    }
}

impl Record {
    /// All entries.
    pub fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nothing was sent yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn begin(&self, call: Call) {
        let entry = Entry {
            call,
            answer: None,
            failed: Document::new(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    fn end(&self, answer: Answer, failed: Document) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.last_mut() {
            entry.answer = Some(answer);
            entry.failed = failed;
        }
    }
}

/// An engine that keeps a record of the calls to it. When a guard fails, it asks `behind` which condition it was:
/// the same documents, without recording.
pub struct Recorded {
    engine: Engine,
    behind: Engine,
    record: Record,
    /// Concurrent calls of an operation are serialized, so that the last entry is the one that waits.
    calls: tokio::sync::Mutex<()>,
}

impl Recorded {
    /// Wraps an engine to record its calls.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is an engine like any other")]
    pub fn new(engine: Engine, behind: Engine, record: Record) -> Engine {
        Arc::new(Self {
            engine,
            behind,
            record,
            calls: tokio::sync::Mutex::default(),
        })
    }

    async fn call<T>(
        &self,
        collection: &str,
        verb: Verb,
        call: impl Future<Output = Result<T>> + Send,
        answer: impl FnOnce(&T) -> Answer + Send,
    ) -> Result<T> {
        let _one_at_a_time = self.calls.lock().await;
        let sent = Call {
            collection: collection.to_owned(),
            verb,
        };
        self.record.begin(sent.clone());
        let came = call.await;
        let answer = match &came {
            Ok(came) => answer(came),
            Err(error) => Answer::Refused(error.to_string()),
        };
        let failed = if answer.changed_nothing() {
            self.failed(&sent).await?
        } else {
            Document::new()
        };
        self.record.end(answer, failed);
        came
    }

    /// The conditions of a guard that do not hold, each asked for by itself.
    async fn failed(&self, call: &Call) -> Result<Document> {
        let mut failed = Document::new();
        let subject = call.subject();
        if subject.is_empty() {
            return Ok(failed);
        }
        for (field, condition) in call.guard() {
            let mut filter = subject.clone();
            filter.insert(&field, &condition);
            if self.behind.count(&call.collection, filter).await? == 0 {
                failed.insert(field, condition);
            }
        }
        Ok(failed)
    }
}

impl Answer {
    /// Whether a write found nothing to change.
    pub fn changed_nothing(&self) -> bool {
        match self {
            Self::Modified(found) => !found,
            Self::Updated(updated) => updated.matched == 0 && updated.upserted.is_none(),
            Self::Deleted(gone) => *gone == 0,
            _ => false,
        }
    }
}

#[async_trait]
impl Layer for Recorded {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let call = self.engine.find(collection, find.clone());
        let found = |found: &Vec<Document>| Answer::Found(found.clone());
        self.call(collection, Verb::Find(find), call, found).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        let call = self.engine.count(collection, filter.clone());
        let counted = |count: &u64| Answer::Counted(*count);
        self.call(collection, Verb::Count(filter), call, counted).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        let call = self.engine.distinct(collection, field, filter.clone());
        let different = |found: &Vec<Bson>| Answer::Different(found.len());
        let verb = Verb::Distinct(field.to_owned(), filter);
        self.call(collection, verb, call, different).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let call = self.engine.aggregate(collection, pipeline.clone());
        let found = |found: &Vec<Document>| Answer::Found(found.clone());
        self.call(collection, Verb::Aggregate(pipeline), call, found)
            .await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let call = self.engine.insert(collection, documents.clone());
        self.call(collection, Verb::Insert(documents), call, |()| Answer::Inserted)
            .await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let call = self.engine.update(collection, update.clone());
        let updated = |updated: &Updated| Answer::Updated(updated.clone());
        self.call(collection, Verb::Update(update), call, updated).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let call = self.engine.find_and_modify(collection, change.clone());
        let modified = |found: &Option<Document>| Answer::Modified(found.is_some());
        self.call(collection, Verb::FindAndModify(change), call, modified)
            .await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let call = self.engine.delete(collection, filter.clone(), many);
        let deleted = |gone: &u64| Answer::Deleted(*gone);
        self.call(collection, Verb::Delete(filter, many), call, deleted)
            .await
    }
}
