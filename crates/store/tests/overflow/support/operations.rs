//! The operations of scenarios. After a lost answer each is retried until it is acknowledged, as by a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::doc;
use document::{Error, Result, Update};
use model::{Cursor, PostId, Relation, Timestamp, Topic};
use store::Store;
use store::overflow::{Item, Key, Owner, owner_collection, owner_id};
use uuid::Uuid;

use super::{handle, like_at};
use checker::history::{Answer, History, Order, Part, Request, Start};
use checker::schedule;
pub use checker::schedule::{at_once, in_turn};

/// An operation over a store.
pub type Operation = schedule::Operation<Store>;

/// The list that most scenarios are about.
pub const LIKES: Relation = Relation::Likes;

/// Runs an operation over a store until its outcome is known, and records requests and answers in the history. An owner
/// that is gone is an outcome too.
macro_rules! answered {
    ($request:expr, $call:expr, |$done:ident| $answer:expr) => {
        loop {
            let asked = History::ask($request);
            match $call.await {
                Ok($done) => break asked.answer($answer),
                Err(Error::NoOwner(_)) => break asked.answer(Answer::NoOwner),
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

/// The place of an item in its list.
pub fn order_of(item: &Item) -> Order {
    (item.at.millis(), item.id.as_u128())
}

/// An answer that does not name an item.
fn done(changed: bool) -> Answer {
    Answer::Done {
        changed,
        count: None,
        order: None,
    }
}

fn done_with(changed: bool, count: u64, item: Option<&Item>) -> Answer {
    Answer::Done {
        changed,
        count: Some(count),
        order: item.map(order_of),
    }
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
                Request::Add(key_of(relation, &item)),
                store.list(relation).append(&owner, item.clone()),
                |there| done_with(there.added, there.count, Some(&there.item))
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
                Request::Remove(format!("{key:?}")),
                store.list(relation).remove(&owner, &key),
                |gone| done_with(gone.item.is_some(), gone.count, gone.item.as_ref())
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
            loop {
                match store.list(LIKES).tidy(&owner).await {
                    Ok(()) | Err(Error::NoOwner(_)) => break,
                    Err(Error::UnknownOutcome(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
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
            answered!(Request::Delete, store.posts().delete(id), |deleted| done(deleted));
            let born = Uuid::from_u128(born.into());
            answered!(Request::Create, publish(&store, id, born), |created| done(
                created
            ));
            likes(store).await;
        })
    })
}

/// Publishes a post; returns whether there was none.
async fn publish(store: &Store, id: PostId, born: Uuid) -> Result<bool> {
    let text = "The weir is open again.".parse().unwrap();
    let (posts, author) = (store.posts(), handle(0));
    match posts
        .insert(id, born, &author, &text, Timestamp::from_millis(2))
        .await
    {
        Ok(_) => Ok(true),
        Err(Error::DuplicateKey { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Pushes to a list that is one unbounded array, like code that does not know pages; it is refused if the list is not
/// one.
pub fn pushing_to_the_array(owner: &Owner, actor: u64) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            let item = like_at(actor, i64::try_from(actor).unwrap());
            let push = Update::one(
                doc! { "_id": owner_id(&owner), "likes.by": { "$ne": handle(actor).as_str() } },
                doc! { "$push": { "likes": item.to_document() } },
            );
            let pushing = async || {
                let collection = owner_collection(&owner);
                match store.engine().update(collection, push.clone()).await {
                    Err(Error::Refused { .. }) => Ok(Answer::Refused),
                    pushed => pushed.map(|pushed| done(pushed.matched > 0)),
                }
            };
            answered!(Request::Add(key_of(LIKES, &item)), pushing(), |answer| answer);
        })
    })
}

/// Scrolls the whole list two by two.
pub fn scrolling(owner: &Owner) -> Operation {
    reading(owner, Start::Edge, false, 2)
}

/// Like [`scrolling`], from the oldest.
pub fn scrolling_up(owner: &Owner) -> Operation {
    reading(owner, Start::Edge, true, 2)
}

/// Reads the whole list at once.
pub fn reading_all(owner: &Owner) -> Operation {
    reading(owner, Start::Edge, false, 100)
}

/// Reads from an offset.
pub fn jumping(owner: &Owner, place: usize) -> Operation {
    reading(owner, Start::Offset(place), false, 100)
}

/// Reads to the end of the list, this many items at once.
fn reading(owner: &Owner, start: Start, up: bool, limit: usize) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            let walk = History::begin_walk();
            let mut part = Part {
                walk,
                start,
                up,
                limit,
            };
            let mut after: Option<Cursor> = None;
            loop {
                let asked = History::ask(Request::Read(part.clone()));
                let list = store.list(LIKES);
                let stretch = match part.start {
                    Start::Offset(skip) => list.from_offset(&owner, skip as u64, limit).await,
                    _ if up => list.oldest_first(&owner, after, limit).await,
                    _ => list.newest_first(&owner, after, limit).await,
                };
                let stretch = match stretch {
                    Ok(stretch) => stretch,
                    Err(Error::NoOwner(_)) => break asked.answer(Answer::NoOwner),
                    Err(error) => panic!("{error}"),
                };
                after = stretch.next;
                let next = after.map(|cursor| (cursor.key, cursor.id.as_u128()));
                let items = stretch.items.iter();
                asked.answer(Answer::Stretch {
                    items: items.map(|item| (key_of(LIKES, item), order_of(item))).collect(),
                    next,
                    total: stretch.total,
                });
                let Some(next) = next else { break };
                part.start = Start::After(next);
            }
        })
    })
}
