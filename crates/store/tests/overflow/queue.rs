//! Appends during a round: they go together, and a cancelled caller does not affect the others.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, Error, FindAndModify, Layer, Result};
use futures::future::join_all;
use futures::poll;
use store::Store;
use store::overflow::{Appended, Owner, Work};
use tokio::sync::Semaphore;

use crate::support::operations::LIKES;
use crate::support::{assert_sound, handle, like, like_at, post, small_store, walk};

/// What happens to a push that is let through.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Proceed,
    Fail,
    LoseAnswer,
    Panic,
}

/// An engine in which every push waits until it is let through.
struct Gate {
    engine: Engine,
    waiting: Semaphore,
    open: Semaphore,
    fates: Mutex<Vec<Fate>>,
}

impl Gate {
    /// Waits until a push arrives.
    async fn wait_for_push(&self) {
        self.waiting.acquire().await.unwrap().forget();
    }

    /// Lets one push through.
    fn release(&self, fate: Fate) {
        self.fates.lock().unwrap().insert(0, fate);
        self.open.add_permits(1);
    }
}

#[async_trait]
impl Layer for Gate {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.waiting.add_permits(1);
        self.open.acquire().await.unwrap().forget();
        let fate = self.fates.lock().unwrap().pop().unwrap();
        let lost = || Err(Error::UnknownOutcome("the connection broke".to_owned()));
        match fate {
            Fate::Proceed => self.engine.find_and_modify(collection, change).await,
            Fate::Fail => Err(Error::Unavailable("no connection".to_owned())),
            Fate::LoseAnswer => {
                self.engine.find_and_modify(collection, change).await?;
                lost()
            }
            Fate::Panic => panic!("an engine that panics on purpose"),
        }
    }
}

/// A store behind a gate, and a post that nobody likes.
async fn gated() -> (Arc<Gate>, Store, Owner) {
    let beneath = small_store(20, 10).await;
    let post = post(&beneath, 1).await;
    let gate = Arc::new(Gate {
        engine: beneath.engine().clone(),
        waiting: Semaphore::new(0),
        open: Semaphore::new(0),
        fates: Mutex::default(),
    });
    let store = Store::open(gate.clone(), beneath.settings().clone())
        .await
        .unwrap();
    (gate, store, post)
}

/// The actors who like the post, the newest first.
async fn likers(store: &Store, post: &Owner) -> Vec<u64> {
    assert_sound(store, post, LIKES).await;
    let number = |by: &model::Handle| (1..100).find(|number| handle(*number) == *by).unwrap();
    let items = walk(store, post, LIKES, 7).await;
    items
        .iter()
        .map(|item| number(item.by.as_ref().unwrap()))
        .collect()
}

fn counts(answers: &[Result<Appended>]) -> Vec<u64> {
    answers
        .iter()
        .map(|answer| answer.as_ref().unwrap().count)
        .collect()
}

#[tokio::test]
async fn appends_during_a_round_go_together_and_each_gets_its_own_count() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    let mut first = pin!(list.append(&post, like(1)));
    assert!(poll!(&mut first).is_pending());
    gate.wait_for_push().await;
    let mut others = join_all((2..=9).map(|number| list.append(&post, like(number))));
    assert!(poll!(&mut others).is_pending());

    gate.release(Fate::Proceed);
    assert_eq!(first.await.unwrap().count, 1, "who comes first waits for nobody");
    gate.release(Fate::Proceed);
    assert_eq!(counts(&others.await), (2..=9).collect::<Vec<_>>());
    let work = Work {
        added: 9,
        pushes: 2,
        ..Work::default()
    };
    assert_eq!(store.work(LIKES), work);
    assert_eq!(likers(&store, &post).await, (1..=9).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_double_click_among_others_gets_the_first_like() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    let mut again = like_at(1, 5);
    again.id = uuid::Uuid::from_u128(5);
    let round = [like(1), like(2), again].map(|item| list.append(&post, item));
    // The second click's push fails on its guard.
    (0..2).for_each(|_| gate.release(Fate::Proceed));
    let answers = join_all(round).await;
    let expected = [(like(1), true, 1), (like(2), true, 2), (like(1), false, 2)];
    for (answer, (item, added, count)) in answers.into_iter().zip(expected) {
        assert_eq!(answer.unwrap(), Appended { item, added, count });
    }
    assert_eq!(likers(&store, &post).await, [2, 1]);
}

#[tokio::test]
async fn a_round_continues_when_the_caller_that_began_it_is_cancelled() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    {
        let mut first = pin!(list.append(&post, like(1)));
        assert!(poll!(&mut first).is_pending());
        gate.wait_for_push().await;
    }
    let mut second = pin!(list.append(&post, like(2)));
    assert!(poll!(&mut second).is_pending());
    gate.release(Fate::Proceed);
    gate.release(Fate::Proceed);
    assert_eq!(second.await.unwrap().count, 2);
    assert_eq!(likers(&store, &post).await, [2, 1]);
}

#[tokio::test]
async fn an_append_cancelled_before_its_round_adds_nothing() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    let mut first = pin!(list.append(&post, like(1)));
    assert!(poll!(&mut first).is_pending());
    gate.wait_for_push().await;
    let mut third = pin!(list.append(&post, like(3)));
    {
        let mut second = pin!(list.append(&post, like(2)));
        assert!(poll!(&mut second).is_pending());
        assert!(poll!(&mut third).is_pending());
    }
    gate.release(Fate::Proceed);
    gate.release(Fate::Proceed);
    assert_eq!((first.await.unwrap().count, third.await.unwrap().count), (1, 2));
    assert_eq!(likers(&store, &post).await, [3, 1]);
}

#[tokio::test]
async fn a_list_whose_callers_were_all_cancelled_is_idle_again() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    {
        let mut all = join_all((1..=3).map(|number| list.append(&post, like(number))));
        assert!(poll!(&mut all).is_pending());
    }
    gate.release(Fate::Proceed);
    assert_eq!(list.append(&post, like(4)).await.unwrap().count, 1);
    assert_eq!(likers(&store, &post).await, [4]);
}

#[tokio::test]
async fn a_failure_is_reported_to_every_caller_of_its_round_and_the_next_round_runs() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    let mut both = join_all([1, 2].map(|number| list.append(&post, like(number))));
    assert!(poll!(&mut both).is_pending());
    gate.wait_for_push().await;
    let mut third = pin!(list.append(&post, like(3)));
    assert!(poll!(&mut third).is_pending());
    gate.release(Fate::Fail);
    gate.release(Fate::Proceed);
    for failed in both.await {
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    }
    assert_eq!(third.await.unwrap().count, 1);
    assert_eq!(likers(&store, &post).await, [3]);
}

#[tokio::test]
async fn a_retry_after_a_lost_answer_finds_the_like() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    gate.release(Fate::LoseAnswer);
    for lost in join_all([1, 2].map(|number| list.append(&post, like(number)))).await {
        assert!(matches!(lost, Err(Error::UnknownOutcome(_))), "{lost:?}");
    }
    gate.release(Fate::Proceed);
    for (number, again) in [1, 2]
        .into_iter()
        .zip(join_all([1, 2].map(|number| list.append(&post, like(number)))).await)
    {
        let expected = Appended {
            item: like(number),
            added: false,
            count: 2,
        };
        assert_eq!(again.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_round_that_panics_leaves_no_caller_waiting() {
    let (gate, store, post) = gated().await;
    let list = store.list(LIKES);
    let mut first = pin!(list.append(&post, like(1)));
    assert!(poll!(&mut first).is_pending());
    gate.wait_for_push().await;
    let mut second = pin!(list.append(&post, like(2)));
    assert!(poll!(&mut second).is_pending());
    gate.release(Fate::Panic);
    for lost in [first.await, second.await] {
        assert!(matches!(lost, Err(Error::UnknownOutcome(_))), "{lost:?}");
    }
    gate.release(Fate::Proceed);
    assert_eq!(list.append(&post, like(3)).await.unwrap().count, 1);
    assert_eq!(likers(&store, &post).await, [3]);
}
