//! Shared by the gallery's tests: small lists, and helpers that read documents.

use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::gate::{CallerGuard, Decision, Gate, GateEvent, WaitingCall};
use document::{DocumentEngine, Engine, Find, Result};
use embedded::Embedded;
use model::{Handle, PostId, Timestamp};
use store::Limits;
use store::overflow::{Item, uuid_bson};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// 4 replaces the articles' 1,000.
pub const SMALL: Limits = Limits {
    threshold: 4,
    page_size: 4,
};

pub fn engine() -> Engine {
    Arc::new(Embedded::in_memory().unwrap())
}

pub fn owner() -> PostId {
    PostId::from(Uuid::from_u128(7))
}

pub fn owner_bson() -> Bson {
    uuid_bson(owner().uuid())
}

pub fn actor(number: u64) -> Handle {
    format!("actor{number}").parse().unwrap()
}

/// The item of the n-th actor, made at moment n.
pub fn item(number: u64) -> Item {
    attempt(number, 0)
}

/// A repeated request of the n-th actor: the same item under a new id.
pub fn attempt(number: u64, nth: u64) -> Item {
    Item::new(
        Uuid::from_u128(0xA000 + u128::from(number) + (u128::from(nth) << 32)),
        actor(number),
        Timestamp::from_millis(i64::try_from(number).unwrap()),
    )
}

/// The items of the first actors, oldest first.
pub fn items(count: u64) -> Vec<Item> {
    (1..=count).map(item).collect()
}

/// The actors' numbers.
pub fn numbers(items: &[Item]) -> Vec<u64> {
    let number = |item: &Item| {
        item.by.as_ref().unwrap().as_str()["actor".len()..]
            .parse()
            .unwrap()
    };
    items.iter().map(number).collect()
}

/// An operation that stopped before one of its commands. Dropped, it has crashed there.
pub struct Paused {
    events: mpsc::UnboundedReceiver<GateEvent>,
    waiting: Option<WaitingCall>,
    outcome: JoinHandle<Result<()>>,
}

impl Paused {
    /// Sends the first few commands of an operation on an engine.
    pub async fn after<Operation>(
        commands: usize,
        engine: &Engine,
        operation: impl FnOnce(Engine) -> Operation,
    ) -> Self
    where
        Operation: Future<Output = Result<()>> + Send + 'static,
    {
        let (messages, events) = mpsc::unbounded_channel();
        let guard = CallerGuard::new(0, messages.clone());
        let operation = operation(Gate::new(engine.clone(), 0, messages));
        let outcome = tokio::spawn(async move {
            let _until_it_ends = guard;
            operation.await
        });
        let mut paused = Self {
            events,
            waiting: None,
            outcome,
        };
        paused.wait().await;
        for _ in 0..commands {
            paused.send().await;
        }
        paused
    }

    /// Sends the remaining commands.
    pub async fn finish(mut self) -> Result<()> {
        while self.waiting.is_some() {
            self.send().await;
        }
        self.outcome.await.unwrap()
    }

    async fn send(&mut self) {
        let Some(call) = self.waiting.take() else {
            panic!("it is over already");
        };
        assert!(call.decide(Decision::Proceed));
        self.wait().await;
    }

    async fn wait(&mut self) {
        self.waiting = match self.events.recv().await {
            Some(GateEvent::CallArrived(call)) => Some(call),
            Some(GateEvent::CallerEnded(_)) | None => None,
        };
    }
}

/// The only document that matches.
pub async fn one(engine: &dyn DocumentEngine, collection: &str, filter: Document) -> Document {
    let mut found = engine.find(collection, Find::matching(filter)).await.unwrap();
    assert_eq!(found.len(), 1, "in {collection}: {found:#?}");
    found.remove(0)
}

/// The articles' user.
pub async fn user(engine: &dyn DocumentEngine) -> Document {
    one(engine, "users", doc! { "_id": owner_bson() }).await
}

/// How many elements an array has.
pub fn length(document: &Document, array: &str) -> usize {
    document.get_array(array).unwrap().len()
}
