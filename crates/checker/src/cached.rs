//! An engine that runs each command only once on the same documents, and then returns the stored answer.
//!
//! The runs of a model check share nearly all of their commands, and a command's answer and effect follow from the
//! documents of its collection alone. So the contents of each collection have a name, every command is looked up under
//! that name first, and going back to the start of a run only means setting the names.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use document::{DocumentEngine, Engine, Find, FindAndModify, Index, Result, Update, Updated};
use embedded::Embedded;

use self::command::{Answer, Command};
use crate::fingerprint::Digest;

mod command;

/// How many answers are kept before all are dropped.
const MOST: usize = 100_000;

/// The name of a state of all documents: the digests of the collections in it combined, so that the same documents
/// always have the same name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct State(u64);

impl State {
    /// The state that differs from this one in one collection. Combining its contents twice takes them out again.
    fn with(self, collection: &str, before: Contents, after: Contents) -> Self {
        let part = |contents: Contents| match contents {
            EMPTY => 0,
            _ => digest(&(collection, contents)),
        };
        Self(self.0 ^ part(before) ^ part(after))
    }
}

/// The name of a collection's documents: their digest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Contents(u64);

const EMPTY: Contents = Contents(0);

/// The contents of each collection that has been written.
type Collections = HashMap<String, Contents>;

/// The documents of a collection, encoded.
type Encoded = Arc<Vec<Vec<u8>>>;

/// The engine, and the answers that it has given.
pub struct Cached {
    engine: Engine,
    known: Mutex<Known>,
    /// What the engine below contains; held while it runs a command.
    below: tokio::sync::Mutex<Collections>,
}

#[derive(Default)]
struct Known {
    now: State,
    states: HashMap<State, Collections>,
    contents: HashMap<Contents, Encoded>,
    indexes: HashSet<u64>,
    /// Answers, and the contents of the collection afterwards.
    answers: HashMap<u64, (Result<Answer>, Contents)>,
}

/// A version of the documents, for reading.
struct Past {
    cached: Arc<Cached>,
    state: State,
}

impl Cached {
    /// Without documents yet.
    pub fn in_memory() -> Arc<Self> {
        let mut known = Known::default();
        known.states.insert(State::default(), Collections::new());
        Arc::new(Self {
            engine: Arc::new(Embedded::in_memory().unwrap()),
            known: Mutex::new(known),
            below: tokio::sync::Mutex::default(),
        })
    }

    /// The current version of the documents.
    pub fn now(&self) -> State {
        self.known.lock().unwrap().now
    }

    /// Restores a version of the documents.
    pub fn go_back_to(&self, state: State) {
        self.known.lock().unwrap().now = state;
    }

    /// A version of the documents, for reading.
    pub fn at(self: &Arc<Self>, state: State) -> Engine {
        Arc::new(Past {
            cached: Arc::clone(self),
            state,
        })
    }

    async fn run(&self, collection: &str, command: Command) -> Result<Answer> {
        let writes = command.writes();
        let mut below = self.below.lock().await;
        let now = self.now();
        let (answer, then) = self.run_in(&mut below, now, collection, command).await;
        if writes {
            self.go_back_to(then);
        }
        answer
    }

    /// The answer to a command in a state, and the resulting state.
    async fn run_in(
        &self,
        below: &mut Collections,
        state: State,
        collection: &str,
        command: Command,
    ) -> (Result<Answer>, State) {
        let before = contents_of(collection, &self.known.lock().unwrap().states[&state]);
        let asked = digest(&(collection, before, &command));
        let known = self.known.lock().unwrap().answers.get(&asked).cloned();
        let (answer, after) = match known {
            Some(known) => known,
            None => self.answer(below, (collection, before), command, asked).await,
        };
        if after == before {
            return (answer, state);
        }
        let then = state.with(collection, before, after);
        let mut known = self.known.lock().unwrap();
        if !known.states.contains_key(&then) {
            let mut collections = known.states[&state].clone();
            collections.insert(collection.to_owned(), after);
            known.states.insert(then, collections);
        }
        (answer, then)
    }

    /// Runs a command on these contents, and keeps its answer.
    async fn answer(
        &self,
        below: &mut Collections,
        (collection, before): (&str, Contents),
        command: Command,
        asked: u64,
    ) -> (Result<Answer>, Contents) {
        let there = contents_of(collection, below);
        if there != before {
            self.bring_below(collection, there, before).await;
        }
        let writes = command.writes();
        let answer = command.run(&self.engine, collection).await;
        let after = if writes {
            self.after_a_write(collection).await
        } else {
            before
        };
        below.insert(collection.to_owned(), after);
        let mut known = self.known.lock().unwrap();
        if known.answers.len() >= MOST {
            known.answers.clear();
        }
        known.answers.insert(asked, (answer.clone(), after));
        (answer, after)
    }

    /// What a collection contains after it was written.
    async fn after_a_write(&self, collection: &str) -> Contents {
        let documents = self.engine.find(collection, Find::default()).await.unwrap();
        if documents.is_empty() {
            return EMPTY;
        }
        let encoded = documents
            .iter()
            .map(|document| bson::serialize_to_vec(document).unwrap());
        let encoded = encoded.collect::<Vec<_>>();
        let contents = Contents(digest(&encoded));
        let mut known = self.known.lock().unwrap();
        known
            .contents
            .entry(contents)
            .or_insert_with(|| Arc::new(encoded));
        contents
    }

    /// Brings a collection of the engine below from some contents to others.
    async fn bring_below(&self, collection: &str, from: Contents, to: Contents) {
        let (there, wanted) = {
            let known = self.known.lock().unwrap();
            let encoded = |contents| known.contents.get(&contents).cloned().unwrap_or_default();
            (encoded(from), encoded(to))
        };
        let decoded = |bytes: &Vec<u8>| bson::deserialize_from_slice::<Document>(bytes).unwrap();
        let wrong = there.iter().filter(|bytes| !wanted.contains(bytes)).map(decoded);
        let wrong: Vec<Bson> = wrong
            .map(|document| document.get("_id").unwrap().clone())
            .collect();
        if !wrong.is_empty() {
            let wrong = doc! { "_id": { "$in": wrong } };
            self.engine.delete(collection, wrong, true).await.unwrap();
        }
        let missing = wanted.iter().filter(|bytes| !there.contains(bytes)).map(decoded);
        let missing: Vec<Document> = missing.collect();
        if !missing.is_empty() {
            self.engine.insert(collection, missing).await.unwrap();
        }
    }
}

fn contents_of(collection: &str, collections: &Collections) -> Contents {
    collections.get(collection).copied().unwrap_or_default()
}

fn digest(what: &impl Hash) -> u64 {
    let mut digest = Digest::default();
    what.hash(&mut digest);
    digest.finish()
}

/// Takes the one kind of answer that a command has.
macro_rules! answered {
    ($answer:expr, $kind:ident) => {
        match $answer? {
            Answer::$kind(answer) => Ok(answer),
            other => panic!("{other:?}"),
        }
    };
}

#[async_trait]
impl DocumentEngine for Cached {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        answered!(self.run(collection, Command::Find(find)).await, Documents)
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        answered!(self.run(collection, Command::Count(filter)).await, Number)
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        let distinct = Command::Distinct(field.to_owned(), filter);
        answered!(self.run(collection, distinct).await, Values)
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        answered!(
            self.run(collection, Command::Aggregate(pipeline)).await,
            Documents
        )
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.run(collection, Command::Insert(documents)).await.map(drop)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        answered!(self.run(collection, Command::Update(update)).await, Updated)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        answered!(
            self.run(collection, Command::FindAndModify(change)).await,
            Document
        )
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        answered!(self.run(collection, Command::Delete(filter, many)).await, Number)
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        let created = digest(&(collection, format!("{index:?}")));
        if self.known.lock().unwrap().indexes.contains(&created) {
            return Ok(());
        }
        self.engine.create_index(collection, index).await?;
        self.known.lock().unwrap().indexes.insert(created);
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}

impl Past {
    async fn run(&self, collection: &str, command: Command) -> Result<Answer> {
        let mut below = self.cached.below.lock().await;
        let (answer, _) = self
            .cached
            .run_in(&mut below, self.state, collection, command)
            .await;
        answer
    }

    fn refuses<T>() -> Result<T> {
        panic!("the past does not change")
    }
}

#[async_trait]
impl DocumentEngine for Past {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        answered!(self.run(collection, Command::Find(find)).await, Documents)
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        answered!(self.run(collection, Command::Count(filter)).await, Number)
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        let distinct = Command::Distinct(field.to_owned(), filter);
        answered!(self.run(collection, distinct).await, Values)
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        answered!(
            self.run(collection, Command::Aggregate(pipeline)).await,
            Documents
        )
    }

    async fn insert(&self, _collection: &str, _documents: Vec<Document>) -> Result<()> {
        Self::refuses()
    }

    async fn update(&self, _collection: &str, _update: Update) -> Result<Updated> {
        Self::refuses()
    }

    async fn find_and_modify(&self, _collection: &str, _change: FindAndModify) -> Result<Option<Document>> {
        Self::refuses()
    }

    async fn delete(&self, _collection: &str, _filter: Document, _many: bool) -> Result<u64> {
        Self::refuses()
    }

    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        Self::refuses()
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}
