//! Our side of every scenario: an operation that is overtaken, or whose process crashes, at each of its commands in
//! turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use articles::{Layout, Overflow};
use async_trait::async_trait;
use bson::{Bson, Document};
use document::{Engine, Error, Find, FindAndModify, Index, Layer, Result, Update, Updated};
use model::{Cursor, Relation, Topic};
use store::overflow::{Appended, FeedList, Item, Owner};
use store::{Limits, Store};
use tokio::sync::oneshot;

use crate::support::{engine, items, numbers, owner};

/// A spill leaves an item behind, as with the default limits.
pub const LIMITS: Limits = Limits {
    threshold: 4,
    page_size: 3,
};

/// The likes of one post, stored our way.
pub struct Ours {
    engine: Engine,
    layout: Overflow,
}

impl Ours {
    /// A list with the first actors in it.
    pub async fn with(count: u64) -> Self {
        let ours = Self::over(engine(), LIMITS).await;
        ours.load(count).await;
        ours
    }

    /// Puts the first actors into it.
    pub async fn load(&self, count: u64) {
        self.layout.load(owner(), items(count)).await.unwrap();
    }

    /// The list in this engine.
    pub async fn over(engine: Engine, limits: Limits) -> Self {
        let layout = Overflow::open(engine.clone(), limits).await.unwrap();
        Self { engine, layout }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn store(&self) -> &Store {
        self.layout.store()
    }

    pub fn owner() -> Owner {
        Topic::Post(owner())
    }

    pub fn likes(&self) -> FeedList<'_> {
        self.store().list(Relation::Likes)
    }

    pub async fn append(&self, item: Item) -> Result<Appended> {
        self.likes().append(&Self::owner(), item).await
    }

    /// Everything that a reader sees, in stretches of 3.
    pub async fn walk(&self) -> Vec<u64> {
        let mut found = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let stretch = self.likes().newest_first(&Self::owner(), after, 3).await.unwrap();
            found.extend(numbers(&stretch.items));
            after = stretch.next;
            if after.is_none() {
                return found;
            }
        }
    }

    /// Exactly these actors are in the list, in this order, each once; the count says so, and nothing is too long.
    pub async fn assert_holds(&self, newest_first: impl IntoIterator<Item = u64>) {
        let expected: Vec<u64> = newest_first.into_iter().collect();
        assert_eq!(self.walk().await, expected);
        self.assert_bounded(expected.len() as u64).await;
    }

    /// Like [`Ours::assert_holds`], in any order.
    pub async fn assert_holds_all(&self, actors: impl IntoIterator<Item = u64>) {
        let (mut found, mut expected) = (self.walk().await, actors.into_iter().collect::<Vec<_>>());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        self.assert_bounded(expected.len() as u64).await;
    }

    async fn assert_bounded(&self, count: u64) {
        let overflow = self.store().overflow(&Self::owner()).await.unwrap()[&Relation::Likes].clone();
        assert_eq!(overflow.count, count);
        assert_eq!(overflow.has_overflow, overflow.pages > 0);
        assert!(overflow.head <= overflow.threshold, "{overflow:?}");
        for page in self.engine.find("pages", Find::default()).await.unwrap() {
            assert!(
                page.get_array("items").unwrap().len() <= LIMITS.page_size,
                "{page}"
            );
        }
    }
}

/// Runs an operation on a list of `count`, once for each of its commands: each time something else happens just before
/// another of them. Then checks the list.
pub async fn overtaken_anywhere(
    count: u64,
    operation: impl AsyncFn(&Ours),
    meanwhile: impl AsyncFn(&Ours),
    look: impl AsyncFn(&Ours),
) {
    let list = async || Ours::with(count).await.engine;
    overtaken_anywhere_over(list, operation, meanwhile, look).await;
}

/// Like [`overtaken_anywhere`], each time over a new engine that holds a list already.
pub async fn overtaken_anywhere_over(
    list: impl AsyncFn() -> Engine,
    operation: impl AsyncFn(&Ours),
    meanwhile: impl AsyncFn(&Ours),
    look: impl AsyncFn(&Ours),
) {
    for nth in 0.. {
        let ours = Ours::over(list().await, LIMITS).await;
        let (arrived, arrival) = oneshot::channel();
        let (resume, resumed) = oneshot::channel();
        let gate = Gate::new(&ours.engine, nth, Some((arrived, resumed)));
        let slow = Ours::over(gate, LIMITS).await;
        let overtaking = async {
            let happened = arrival.await.is_ok();
            if happened {
                meanwhile(&ours).await;
                resume.send(()).unwrap();
            }
            happened
        };
        let slowly = async {
            // Dropped when it is over, so that nothing waits for a command that does not come.
            let slow = slow;
            operation(&slow).await;
        };
        let ((), happened) = tokio::join!(slowly, overtaking);
        if !happened {
            assert!(nth > 0, "the operation has no commands");
            return;
        }
        look(&ours).await;
    }
}

/// Runs an operation on a list of `count`, once for each of its commands: each time its process crashes just before
/// another of them. Then checks the list.
pub async fn dying_anywhere(
    count: u64,
    operation: impl AsyncFn(&Ours) -> Result<Appended>,
    look: impl AsyncFn(&Ours),
) {
    let list = async || Ours::with(count).await.engine;
    dying_anywhere_over(list, operation, look).await;
}

/// Like [`dying_anywhere`], each time over a new engine that holds a list already.
pub async fn dying_anywhere_over(
    list: impl AsyncFn() -> Engine,
    operation: impl AsyncFn(&Ours) -> Result<Appended>,
    look: impl AsyncFn(&Ours),
) {
    for nth in 0.. {
        let ours = Ours::over(list().await, LIMITS).await;
        let dying = Ours::over(Gate::new(&ours.engine, nth, None), LIMITS).await;
        match operation(&dying).await {
            Err(Error::Unavailable(_)) => look(&ours).await,
            outcome => {
                outcome.unwrap();
                assert!(nth > 0, "the operation has no commands");
                return;
            }
        }
    }
}

type Pause = (oneshot::Sender<()>, oneshot::Receiver<()>);

/// An engine that pauses before its n-th command, or, without a pause, does nothing from then on.
struct Gate {
    engine: Engine,
    nth: usize,
    seen: AtomicUsize,
    dies: bool,
    pause: Mutex<Option<Pause>>,
}

impl Gate {
    #[expect(clippy::new_ret_no_self, reason = "what it makes is an engine like any other")]
    fn new(engine: &Engine, nth: usize, pause: Option<Pause>) -> Engine {
        Arc::new(Self {
            engine: engine.clone(),
            nth,
            seen: AtomicUsize::new(0),
            dies: pause.is_none(),
            pause: Mutex::new(pause),
        })
    }

    async fn turn(&self) -> Result<&Engine> {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if self.dies && seen >= self.nth {
            return Err(Error::Unavailable("the process has died".to_owned()));
        }
        if seen == self.nth {
            let (arrived, resumed) = self.pause.lock().unwrap().take().unwrap();
            arrived.send(()).unwrap();
            resumed.await.unwrap();
        }
        Ok(&self.engine)
    }
}

#[async_trait]
impl Layer for Gate {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.turn().await?.find(collection, find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.turn().await?.count(collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.turn().await?.distinct(collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.turn().await?.aggregate(collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.turn().await?.insert(collection, documents).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.turn().await?.update(collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.turn().await?.find_and_modify(collection, change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.turn().await?.delete(collection, filter, many).await
    }

    /// Indexes are created before the operation begins.
    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        Ok(())
    }
}
