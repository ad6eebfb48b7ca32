//! Overflow lists on an engine that loses the answer to any one write, or fails just before it.

use std::sync::Arc;

use bson::{Bson, doc};

use super::answers::{Fault, Faulty};
use super::feed::{LIKES, actor, give, like, like_again, open, pages, publish, sound};
use crate::Store;
use crate::overflow::{Item, Key, Owner, PAGES, owner_id};
use document::{Engine, Error, Result, Update};

/// Whichever of its writes is in doubt or fails, a repeated like lands once; here the head spills for it.
pub async fn a_like_repeated_after_an_unknown_outcome_lands_once(engine: &Engine) {
    let writes = repeated(
        engine,
        async |store, post| give(store, post, 1..=4).await,
        async |store, post| store.list(LIKES).append(post, like(5)).await.map(drop),
        async |store, post| {
            let items = sound(store, post, LIKES).await;
            assert!(items.into_iter().eq((1..=5).rev().map(like)));
            assert_eq!(store.overflow(post).await.unwrap()[&LIKES].pages, 1);
        },
    )
    .await;
    assert!(writes >= 2, "a page, and the head without it and with the like");
}

/// The same for an unlike, from the head and from pages, one of which is emptied.
pub async fn an_unlike_repeated_after_an_unknown_outcome_happens_once(engine: &Engine) {
    let gone = [8, 1, 3, 2, 5];
    let writes = repeated(
        engine,
        async |store, post| give(store, post, 1..=9).await,
        async |store, post| {
            for number in gone {
                store.list(LIKES).remove(post, &Key::By(actor(number))).await?;
            }
            Ok(())
        },
        async |store, post| {
            let items = sound(store, post, LIKES).await;
            assert!(items.into_iter().eq([9, 7, 6, 4].map(like)));
        },
    )
    .await;
    assert!(
        writes > gone.len(),
        "an unlike from a page has more than one write"
    );
}

/// However its deletion is interrupted, nothing of a post remains, and a new one of the same id starts empty.
pub async fn a_deleted_post_leaves_no_page_and_its_successor_is_sound(engine: &Engine) {
    let writes = repeated(
        engine,
        async |store, post| give(store, post, 1..=20).await,
        async |store, post| match post {
            model::Topic::Post(id) => store.posts().delete(*id).await.map(drop),
            model::Topic::User(_) => unreachable!(),
        },
        async |store, post| {
            assert_eq!(pages(store).await, 0);
            let gone = store.list(LIKES).append(post, like(21)).await.unwrap_err();
            assert!(matches!(gone, Error::NoOwner(_)), "{gone}");
        },
    )
    .await;
    assert!(writes >= 2, "the post, and its pages");

    // A deletion that stopped after its first write, and a new post before the deletion is finished.
    let store = open(engine, 4, 3).await;
    let (_, first_life) = publish(&store, 101).await;
    give(&store, &first_life, 1..=20).await;
    let alone = doc! { "_id": owner_id(&first_life) };
    assert_eq!(engine.delete("posts", alone, false).await.unwrap(), 1);
    let (id, second_life) = publish(&store, 102).await;
    assert_eq!(sound(&store, &second_life, LIKES).await, []);
    for number in 11..=30 {
        give(&store, &second_life, [number]).await;
        let expected = (11..=number).rev().map(like);
        assert!(sound(&store, &second_life, LIKES).await.into_iter().eq(expected));
    }
    assert!(store.posts().delete(id).await.unwrap());
    assert_eq!(pages(&store).await, 0);
}

/// A list that is one array, as it was stored before the pattern, becomes head and pages when it is first used,
/// however that is interrupted. If an actor is in it twice, the first like stays.
pub async fn an_unbounded_array_is_adopted(engine: &Engine) {
    let writes = repeated(
        engine,
        async |store, post| {
            let mut likes: Vec<Item> = (1..=14).map(like).collect();
            likes.insert(9, like_again(3, 1_000));
            unbounded(store, post, &likes).await;
        },
        async |store, post| store.list(LIKES).append(post, like(15)).await.map(drop),
        async |store, post| {
            let items = sound(store, post, LIKES).await;
            assert!(items.into_iter().eq((1..=15).rev().map(like)));
        },
    )
    .await;
    assert!(writes >= 4, "the mark, the pages, the head, and the like");

    let store = open(engine, 4, 3).await;
    let (id, post) = publish(&store, 201).await;
    for count in [0, 3, 4, 40] {
        unbounded(&store, &post, &(1..=count).map(like).collect::<Vec<_>>()).await;
        let read = store.list(LIKES).newest_first(&post, None, 100).await.unwrap();
        assert_eq!(read.total, count);
        assert!(read.items.into_iter().eq((1..=count).rev().map(like)));
        let removed = store.list(LIKES).remove(&post, &Key::By(actor(1))).await.unwrap();
        assert_eq!(removed.item.is_some(), count > 0);
        sound(&store, &post, LIKES).await;
        engine.delete(PAGES, doc! {}, true).await.unwrap();
    }
    store.posts().delete(id).await.unwrap();
}

/// Repeats an operation with a fault in each of its writes in turn, until it is done, each time on a new post. Returns
/// how many writes it had.
async fn repeated(
    engine: &Engine,
    before: impl AsyncFn(&Store, &Owner),
    operation: impl AsyncFn(&Store, &Owner) -> Result<()>,
    after: impl AsyncFn(&Store, &Owner),
) -> usize {
    let quiet = open(engine, 4, 3).await;
    let mut born = 0;
    let mut most = 0;
    for fault in [Fault::Lost, Fault::Before] {
        for writes in 0.. {
            born += 1;
            let (id, post) = publish(&quiet, born).await;
            before(&quiet, &post).await;
            let faulty = Faulty::after(engine, writes, fault);
            let below: Engine = Arc::clone(&faulty) as Engine;
            let store = open(&below, 4, 3).await;
            let mut doubts = 0;
            while let Err(error) = operation(&store, &post).await {
                assert!(matches!(error, Error::UnknownOutcome(_)), "{error}");
                doubts += 1;
            }
            assert_eq!(doubts, u32::from(faulty.is_over()), "a fault is told once");
            after(&quiet, &post).await;
            quiet.posts().delete(id).await.unwrap();
            assert_eq!(pages(&quiet).await, 0, "pages of a deleted post");
            if !faulty.is_over() {
                most = most.max(writes);
                break;
            }
        }
    }
    most
}

/// Replaces the list with an array.
pub(super) async fn unbounded(store: &Store, owner: &Owner, items: &[Item]) {
    let items: Vec<Bson> = items.iter().map(|item| item.to_document().into()).collect();
    let array = doc! { "$set": { LIKES.as_str(): items } };
    let set = Update::one(doc! { "_id": owner_id(owner) }, array);
    assert_eq!(store.engine().update("posts", set).await.unwrap().modified, 1);
}
