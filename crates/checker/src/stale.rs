//! An engine whose reads may be old, like those of a replica set while a deposed primary still answers, and those of a
//! sharded cluster in which each shard lags on its own.
//!
//! It keeps every version of the documents in a run. A read is answered from an older version when the explorer says
//! so, but within a session never from before what the session has seen or written. A write whose answer got lost is
//! unknown to its session.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, Document};
use document::{
    Capabilities, Consistency, DocumentEngine, Engine, Find, FindAndModify, Index, Result, Update, Updated,
};

use crate::cached::{Cached, State};

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

/// How many reads of a run may be old; `SPILLWAY_MODEL_STALE` raises it.
pub fn old_reads() -> usize {
    std::env::var("SPILLWAY_MODEL_STALE").map_or(1, |reads| reads.parse().unwrap())
}

/// The versions of the documents after each write of a run.
pub struct Versions {
    below: Arc<Cached>,
    sessions: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    versions: Vec<State>,
    next: Option<Age>,
    loses_answer: bool,
    seen: usize,
}

impl Versions {
    /// Over an engine. Without `sessions` a read may be older than the one before it.
    pub fn of(below: Arc<Cached>, sessions: bool) -> Arc<Self> {
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

    /// An engine in a session that has seen this version. Its first read is answered from it, the others are new.
    pub fn session_since(self: &Arc<Self>, version: usize) -> Engine {
        self.answer_next(Age::Oldest);
        Arc::new(Stale {
            versions: Arc::clone(self),
            floor: Some(Mutex::new(version)),
        })
    }

    /// Begins a run.
    pub fn begin(&self) {
        *self.kept.lock().unwrap() = Kept {
            versions: vec![self.below.now()],
            ..Kept::default()
        };
    }

    /// How many versions a read could be behind.
    pub fn behind(&self) -> usize {
        self.kept.lock().unwrap().versions.len().saturating_sub(1)
    }

    /// All versions so far.
    pub fn all(&self) -> Vec<State> {
        self.kept.lock().unwrap().versions.clone()
    }

    /// The version that the last command saw or made.
    pub fn last_seen(&self) -> usize {
        self.kept.lock().unwrap().seen
    }

    /// Decides about the next read.
    pub fn answer_next(&self, age: Age) {
        self.kept.lock().unwrap().next = Some(age);
    }

    /// Decides whether the answer of the next write gets lost.
    pub fn lose_next(&self, loses: bool) {
        self.kept.lock().unwrap().loses_answer = loses;
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
    fn source(&self) -> Engine {
        let mut kept = self.versions.kept.lock().unwrap();
        let newest = kept.versions.len().saturating_sub(1);
        let floor = self.floor.as_ref().map_or(0, |floor| *floor.lock().unwrap());
        let version = match kept.next.take().unwrap_or(Age::Newest) {
            Age::Newest => newest,
            Age::OneBehind => newest.saturating_sub(1).max(floor),
            Age::Oldest => floor,
        };
        kept.seen = version;
        self.saw(version);
        if version == newest {
            return Arc::clone(&self.versions.below) as Engine;
        }
        self.versions.below.at(kept.versions[version])
    }

    fn saw(&self, version: usize) {
        if let Some(floor) = &self.floor {
            let mut floor = floor.lock().unwrap();
            *floor = version.max(*floor);
        }
    }

    fn wrote<T>(&self, answer: Result<T>) -> Result<T> {
        let mut kept = self.versions.kept.lock().unwrap();
        kept.versions.push(self.versions.below.now());
        if !std::mem::take(&mut kept.loses_answer) {
            kept.seen = kept.versions.len() - 1;
            self.saw(kept.seen);
        }
        answer
    }
}

#[async_trait]
impl DocumentEngine for Stale {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.source().find(collection, find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.source().count(collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.source().distinct(collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.source().aggregate(collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let answer = self.versions.below.insert(collection, documents).await;
        self.wrote(answer)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let answer = self.versions.below.update(collection, update).await;
        self.wrote(answer)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let answer = self.versions.below.find_and_modify(collection, change).await;
        self.wrote(answer)
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let answer = self.versions.below.delete(collection, filter, many).await;
        self.wrote(answer)
    }

    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        // Those of the engine below exist before a run.
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        let consistency = if self.versions.sessions {
            Consistency::Causal
        } else {
            Consistency::Eventual
        };
        Capabilities {
            consistency,
            ..Capabilities::default()
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
