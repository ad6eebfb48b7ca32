//! The handles of people who leave, at the worst moments: while somebody else signs up, and with a server that dies.
//! Two engines leave out a part of the protocol, and each test fails over one of them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Change, Engine, Error, Find, Layer, Result, Update, Updated};
use embedded::Embedded;
use feed::{Client, Feed};
use model::{Handle, Kind, Problem};

use super::player::{Ticking, feed_over};

const PASSWORD: &str = "correct horse";
const HELD: &str = "heldHandles";

fn ada() -> Handle {
    "ada".parse().unwrap()
}

async fn over(engine: Engine) -> Feed {
    feed_over(engine, Ticking::since(1_700_000_000_000), false).await
}

/// Returns whether somebody got the handle.
async fn signs_up(feed: &Feed) -> bool {
    let (name, password) = ("Ada".parse().unwrap(), PASSWORD.parse().unwrap());
    let accounts = feed.accounts();
    match accounts.sign_up(ada(), name, password, &Client::default()).await {
        Ok(_) => true,
        Err(problem) => {
            assert_eq!(problem.kind, Kind::Conflict, "{problem:?}");
            false
        }
    }
}

async fn leaves(feed: &Feed) -> std::result::Result<(), Problem> {
    let accounts = feed.accounts();
    accounts
        .delete_account(&ada(), PASSWORD, &Client::default())
        .await
}

async fn finish(feed: &Feed) {
    feed.store().account_deletions().finish_all().await.unwrap();
}

/// An engine on which the holder of the handle leaves just before somebody else is inserted.
struct LeavesBefore {
    engine: Engine,
    feed: Feed,
    left: AtomicBool,
    /// Whether a look after that finds no handle held.
    blind: bool,
}

#[async_trait]
impl Layer for LeavesBefore {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        if self.blind && collection == HELD && self.left.load(Ordering::SeqCst) {
            return Ok(Vec::new());
        }
        self.engine.find(collection, find).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        if collection == "users" && !self.left.swap(true, Ordering::SeqCst) {
            leaves(&self.feed).await.unwrap();
            finish(&self.feed).await;
        }
        self.engine.insert(collection, documents).await
    }
}

/// Whether somebody gets the handle of a person who leaves while they sign up, and whether anybody has it then.
async fn holder_leaves_during_a_sign_up(blind: bool) -> (bool, bool) {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    let feed = over(engine.clone()).await;
    assert!(signs_up(&feed).await);
    let late = LeavesBefore {
        engine,
        feed: feed.clone(),
        left: AtomicBool::new(false),
        blind,
    };
    let got_it = signs_up(&over(Arc::new(late)).await).await;
    let holder = feed.store().people().get(&ada()).await.unwrap();
    (got_it, holder.is_some())
}

#[tokio::test]
async fn nobody_gets_a_handle_whose_holder_leaves_while_they_sign_up() {
    assert_eq!(holder_leaves_during_a_sign_up(false).await, (false, false));
}

#[tokio::test]
async fn somebody_gets_a_held_handle_without_the_second_look() {
    assert_eq!(holder_leaves_during_a_sign_up(true).await, (true, true));
}

/// An engine of a server that dies after a number of updates.
struct Dying {
    engine: Engine,
    writes_left: AtomicUsize,
    /// Whether the handle is held only after its holder is marked.
    marks_first: bool,
    hold: Mutex<Option<Update>>,
}

impl Dying {
    async fn write(&self, collection: &str, update: Update) -> Result<Updated> {
        let lives = |left: usize| left.checked_sub(1);
        let left = self
            .writes_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lives);
        if left.is_err() {
            return Err(Error::Unavailable("the process died before the write".to_owned()));
        }
        self.engine.update(collection, update).await
    }
}

#[async_trait]
impl Layer for Dying {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        if self.marks_first && collection == HELD {
            *self.hold.lock().unwrap() = Some(update);
            return Ok(Updated::default());
        }
        let marks = matches!(&update.update, Change::Operators(operators) if operators
            .get_document("$set")
            .is_ok_and(|set| set.contains_key("leaving")));
        let written = self.write(collection, update).await?;
        let hold = self.hold.lock().unwrap().take_if(|_| marks);
        if let Some(hold) = hold {
            self.write(HELD, hold).await?;
        }
        Ok(written)
    }
}

/// After how many writes of a server that dies while somebody leaves another person gets the handle at once.
async fn handles_given_away(marks_first: bool) -> Vec<usize> {
    let mut given_away = Vec::new();
    for writes in 0..=2 {
        let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
        let other = over(engine.clone()).await;
        assert!(signs_up(&other).await);
        let dying = over(Arc::new(Dying {
            engine,
            writes_left: AtomicUsize::new(writes),
            marks_first,
            hold: Mutex::default(),
        }))
        .await;
        let left = leaves(&dying).await;
        assert_eq!(left.is_ok(), writes == 2, "after {writes} writes");
        finish(&other).await;
        let gone = other.store().people().get(&ada()).await.unwrap().is_none();
        assert_eq!(gone, writes == 2 || (marks_first && writes == 1));
        if signs_up(&other).await {
            given_away.push(writes);
        }
    }
    given_away
}

#[tokio::test]
async fn a_handle_is_held_wherever_a_server_dies_while_its_holder_leaves() {
    assert_eq!(handles_given_away(false).await, [0_usize; 0]);
}

#[tokio::test]
async fn a_handle_is_given_away_if_its_holder_is_marked_before_it_is_held() {
    assert_eq!(handles_given_away(true).await, [1]);
}
