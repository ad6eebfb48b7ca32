//! The operations of scenarios. After a lost answer each is retried until it is acknowledged, as by a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::doc;
use document::{Error, Update};
use model::{Cursor, PostId, Relation, Timestamp, Topic};
use store::Store;
use store::overflow::{Item, Key, Owner, owner_collection, owner_id};
use uuid::Uuid;

use super::{handle, like_at};
use checker::history::{Answer, History};
use checker::schedule;
pub use checker::schedule::{at_once, in_turn};

/// An operation over a store.
pub type Operation = schedule::Operation<Store>;

/// The list that most scenarios are about.
pub const LIKES: Relation = Relation::Likes;

/// Runs an operation over a store until its outcome is known. An owner that is gone is an outcome too.
macro_rules! acknowledged {
    ($call:expr) => {
        loop {
            match $call.await {
                Ok(_) | Err(Error::NoOwner(_)) => break,
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
}

/// Like [`acknowledged`], and records requests and answers in the history.
macro_rules! answered {
    ($adds:expr, $key:expr, $call:expr, |$done:ident| $changed:expr) => {
        loop {
            let asked = History::ask($adds, $key);
            match $call.await {
                Ok($done) => {
                    let (changed, count) = ($changed, $done.count);
                    break asked.answer(Answer { changed, count });
                }
                Err(Error::NoOwner(_)) => break History::stop_checking(),
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
}

/// The name of an item in a history.
pub fn key_of(relation: Relation, item: &Item) -> String {
    let key = match &item.by {
        Some(by) if relation.once_per_actor() => Key::By(by.clone()),
        _ => Key::Id(item.id),
    };
    format!("{key:?}")
}

/// Likes at some moment.
pub fn liking(owner: &Owner, actor: u64, at: i64) -> Operation {
    appending(owner, LIKES, like_at(actor, at))
}

/// Appends an item.
pub fn appending(owner: &Owner, relation: Relation, item: Item) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let (owner, item) = (owner.clone(), item.clone());
        Box::pin(async move {
            answered!(
                true,
                key_of(relation, &item),
                store.list(relation).append(&owner, item.clone()),
                |done| done.added
            );
        })
    })
}

/// Unlikes.
pub fn unliking(owner: &Owner, actor: u64) -> Operation {
    removing(owner, LIKES, Key::By(handle(actor)))
}

/// Removes an item.
pub fn removing(owner: &Owner, relation: Relation, key: Key) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let (owner, key) = (owner.clone(), key.clone());
        Box::pin(async move {
            answered!(
                false,
                format!("{key:?}"),
                store.list(relation).remove(&owner, &key),
                |done| done.item.is_some()
            );
        })
    })
}

/// Tidies emptied pages.
pub fn tidying(owner: &Owner) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            acknowledged!(store.list(LIKES).tidy(&owner));
        })
    })
}

/// Runs an operation like a server whose lists have other limits.
pub fn with_limits(threshold: usize, page_size: usize, operation: Operation) -> Operation {
    Arc::new(move |store: Store| {
        let operation = operation.clone();
        Box::pin(async move {
            let mut limits = store.settings().clone();
            for relation in Relation::ALL {
                limits.set_threshold(relation, threshold).unwrap();
                limits.set_page_size(relation, page_size).unwrap();
            }
            operation(Store::open(store.engine().clone(), limits).await.unwrap()).await;
        })
    })
}

/// Deletes the post, publishes another of the same id, and lets some people like that. If it crashes and restarts, it
/// publishes yet another: the first incarnation is `born`, and each has its own.
pub fn publishing_again(owner: &Owner, born: u64, actors: &[u64]) -> Operation {
    let Topic::Post(id) = *owner else {
        panic!("only posts are published")
    };
    let likes = in_turn(
        actors
            .iter()
            .map(|actor| liking(owner, *actor, i64::try_from(*actor).unwrap()))
            .collect(),
    );
    let incarnations = AtomicU64::new(born);
    Arc::new(move |store: Store| {
        let likes = likes.clone();
        let born = incarnations.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            History::stop_checking();
            acknowledged!(store.posts().delete(id));
            publish(&store, id, Uuid::from_u128(born.into())).await;
            likes(store).await;
        })
    })
}

async fn publish(store: &Store, id: PostId, born: Uuid) {
    let text = "The weir is open again.".parse().unwrap();
    loop {
        let (posts, author) = (store.posts(), handle(0));
        match posts
            .insert(id, born, &author, &text, Timestamp::from_millis(2))
            .await
        {
            Ok(_) | Err(Error::DuplicateKey { .. }) => break,
            Err(Error::UnknownOutcome(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Pushes to a list that is one unbounded array, like code that does not know pages; it is refused if the list is not
/// one.
pub fn pushing_to_the_array(owner: &Owner, actor: u64) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            History::stop_checking();
            let item = like_at(actor, i64::try_from(actor).unwrap());
            let push = Update::one(
                doc! { "_id": owner_id(&owner), "likes.by": { "$ne": handle(actor).as_str() } },
                doc! { "$push": { "likes": item.to_document() } },
            );
            loop {
                match store
                    .engine()
                    .update(owner_collection(&owner), push.clone())
                    .await
                {
                    Ok(_) | Err(Error::Refused { .. }) => break,
                    Err(Error::UnknownOutcome(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        })
    })
}

/// Scrolls the whole list two by two and checks that everybody in `throughout` is found exactly once.
pub fn scrolling(owner: &Owner, throughout: &[u64]) -> Operation {
    reading(owner, throughout, false)
}

/// Like [`scrolling`], from the oldest.
pub fn scrolling_up(owner: &Owner, throughout: &[u64]) -> Operation {
    reading(owner, throughout, true)
}

fn reading(owner: &Owner, throughout: &[u64], up: bool) -> Operation {
    let owner = owner.clone();
    let throughout = throughout.to_vec();
    Arc::new(move |store: Store| {
        let (owner, throughout) = (owner.clone(), throughout.clone());
        Box::pin(async move {
            let mut seen = Vec::new();
            let mut after: Option<Cursor> = None;
            loop {
                let list = store.list(LIKES);
                let stretch = if up {
                    list.oldest_first(&owner, after, 2).await.unwrap()
                } else {
                    list.newest_first(&owner, after, 2).await.unwrap()
                };
                seen.extend(stretch.items.into_iter().map(|item| item.by.unwrap()));
                after = stretch.next;
                if after.is_none() {
                    break;
                }
            }
            for actor in throughout {
                let times = seen.iter().filter(|by| **by == handle(actor)).count();
                assert_eq!(times, 1, "actor {actor} in {seen:?}");
            }
        })
    })
}

/// Reads the whole list at once and checks that the total matches the items.
pub fn reading_all(owner: &Owner) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            let all = store.list(LIKES).newest_first(&owner, None, 100).await.unwrap();
            assert_eq!((all.items.len() as u64, all.next), (all.total, None));
        })
    })
}

/// Reads from an offset and checks that what it finds there is neither above it nor missing: `(place, count)` of the
/// list throughout.
pub fn jumping(owner: &Owner, place: u64, expected: usize) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            let there = store.list(LIKES).from_offset(&owner, place, 100).await.unwrap();
            let total = usize::try_from(there.total).unwrap();
            assert_eq!(there.items.len(), total - usize::try_from(place).unwrap());
            assert!(total >= expected);
        })
    })
}
