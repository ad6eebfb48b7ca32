//! An engine whose reads may be old, as those of a replica set are while a deposed primary still answers, and those of a
//! sharded cluster where each shard is behind by itself.
//!
//! It keeps every version that the documents of one owner had in a run. A read is answered from an older one when the
//! explorer says so, but within a session never from before what the session has seen or written.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use document::Result;
use document::{Consistency, DocumentEngine, Engine, Find, FindAndModify, Index, Update, Updated};
use embedded::Embedded;
use store::overflow::{Owner, PAGES, owner_collection, owner_id};

/// How old the next read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Not at all.
    Newest,
    /// One version behind.
    OneBehind,
    /// As old as its session allows.
    Oldest,
}

/// What the documents were after each write of a run.
pub struct Versions {
    below: Engine,
    sessions: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    owner: Option<Owner>,
    versions: Vec<Arc<[(String, Document)]>>,
    next: Option<Age>,
}

impl Versions {
    /// Over an engine. Without `sessions` a read may be older than the one before it.
    pub fn of(below: Engine, sessions: bool) -> Arc<Self> {
        Arc::new(Self {
            below,
            sessions,
            kept: Mutex::default(),
        })
    }

    /// An engine that reads from these versions.
    pub fn engine(self: &Arc<Self>) -> Engine {
        Arc::new(Stale {
            versions: Arc::clone(self),
            floor: None,
        })
    }

    /// Begins a run about an owner.
    pub async fn begin(&self, owner: &Owner) {
        *self.kept.lock().unwrap() = Kept {
            owner: Some(owner.clone()),
            ..Kept::default()
        };
        self.keep().await;
    }

    /// How many versions a read could be behind.
    pub fn behind(&self) -> usize {
        self.kept.lock().unwrap().versions.len().saturating_sub(1)
    }

    /// Decides about the next read.
    pub fn answer_next(&self, age: Age) {
        self.kept.lock().unwrap().next = Some(age);
    }

    async fn keep(&self) {
        let Some(owner) = self.kept.lock().unwrap().owner.clone() else {
            return;
        };
        let mut documents = Vec::new();
        for (collection, field) in [(owner_collection(&owner), "_id"), (PAGES, "owner")] {
            let own = Find::matching(doc! { field: owner_id(&owner) });
            let found = self.below.find(collection, own).await.unwrap();
            documents.extend(
                found
                    .into_iter()
                    .map(|document| (collection.to_owned(), document)),
            );
        }
        self.kept.lock().unwrap().versions.push(documents.into());
    }
}

/// One caller's view, or one session's.
struct Stale {
    versions: Arc<Versions>,
    /// The oldest version that the session may still see.
    floor: Option<Mutex<usize>>,
}

impl Stale {
    /// The engine to read from: the real one, or one that holds an older version.
    async fn source(&self) -> Engine {
        let (newest, age) = {
            let mut kept = self.versions.kept.lock().unwrap();
            let newest = kept.versions.len().saturating_sub(1);
            (newest, kept.next.take().unwrap_or(Age::Newest))
        };
        let floor = self.floor.as_ref().map_or(0, |floor| *floor.lock().unwrap());
        let version = match age {
            Age::Newest => newest,
            Age::OneBehind => newest.saturating_sub(1).max(floor),
            Age::Oldest => floor,
        };
        self.saw(version);
        if version == newest {
            return Arc::clone(&self.versions.below);
        }
        let documents = Arc::clone(&self.versions.kept.lock().unwrap().versions[version]);
        let older: Engine = Arc::new(Embedded::in_memory().unwrap());
        for (collection, document) in documents.iter() {
            older.insert(collection, vec![document.clone()]).await.unwrap();
        }
        older
    }

    fn saw(&self, version: usize) {
        if let Some(floor) = &self.floor {
            let mut floor = floor.lock().unwrap();
            *floor = version.max(*floor);
        }
    }

    async fn wrote<T>(&self, answer: Result<T>) -> Result<T> {
        self.versions.keep().await;
        self.saw(self.versions.behind());
        answer
    }
}

#[async_trait]
impl DocumentEngine for Stale {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.source().await.find(collection, find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.source().await.count(collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.source().await.distinct(collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.source().await.aggregate(collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let answer = self.versions.below.insert(collection, documents).await;
        self.wrote(answer).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let answer = self.versions.below.update(collection, update).await;
        self.wrote(answer).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let answer = self.versions.below.find_and_modify(collection, change).await;
        self.wrote(answer).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let answer = self.versions.below.delete(collection, filter, many).await;
        self.wrote(answer).await
    }

    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        // Those of the engine below exist before a run.
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    fn consistency(&self) -> Consistency {
        if self.versions.sessions {
            Consistency::Causal
        } else {
            Consistency::Eventual
        }
    }

    fn session(&self) -> Option<Engine> {
        let begins = self.versions.sessions && self.floor.is_none();
        begins.then(|| {
            Arc::new(Self {
                versions: Arc::clone(&self.versions),
                floor: Some(Mutex::new(0)),
            }) as Engine
        })
    }
}
