//! The state that interrupted operations leave behind.

use bson::{DateTime, doc};
use document::Update;
use model::Relation;
use store::overflow::{Key, PAGES, owner_id};

use crate::support::{assert_sound, born_of, handle, like, like_at, post, small_store, walk};

const LIKES: Relation = Relation::Likes;

#[tokio::test]
async fn a_page_that_a_stopped_spill_left_behind_is_invisible_and_the_next_spill_replaces_it() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=3 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    // Written by an interrupted spill under other limits: one item, with the revision that is still current.
    let left = doc! {
        "_id": "left behind", "owner": owner_id(&post), "relation": "likes", "page": 0_i64, "rev": 0_i64,
        "born": born_of(&store, &post).await, "count": 1_i64, "first": DateTime::from_millis(1), "last": DateTime::from_millis(1),
        "items": [like(1).to_document()],
    };
    store.engine().insert(PAGES, vec![left]).await.unwrap();
    assert_sound(&store, &post, LIKES).await;
    for number in 4..=9 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
        assert_sound(&store, &post, LIKES).await;
    }
}

#[tokio::test]
async fn a_removal_that_stopped_after_its_first_write_is_finished_by_the_next_operation() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=6 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let pending = doc! { "page": 0_i64, "rev": 0_i64, "id": like(1).to_document().get("id").cloned() };
    let stopped = doc! {
        "$push": { "likes.pending": pending },
        "$inc": { "likes.count": -1_i64, "likes.spilled": -1_i64, "likes.rev": 1_i64 },
    };
    store
        .engine()
        .update("posts", Update::one(doc! { "_id": owner_id(&post) }, stopped))
        .await
        .unwrap();
    assert_sound_apart_from_page_count(&store, &post).await;
    assert_eq!(
        store.list(LIKES).find(&post, &Key::By(handle(1))).await.unwrap(),
        None
    );

    let again = store.list(LIKES).append(&post, like_at(1, 60)).await.unwrap();
    assert!(again.added);
    assert_sound(&store, &post, LIKES).await;
}

async fn assert_sound_apart_from_page_count(store: &store::Store, post: &store::overflow::Owner) {
    let items = walk(store, post, LIKES, 2).await;
    assert_eq!(
        items.len() as u64,
        store.overflow(post).await.unwrap()[&LIKES].count
    );
    assert!(items.iter().all(|item| item.by != Some(handle(1))));
}

#[tokio::test]
async fn an_owner_with_the_id_of_one_whose_deletion_stopped_half_way_takes_more_than_a_head() {
    let store = small_store(3, 2).await;
    let first_life = post(&store, 1).await;
    store.list(LIKES).append(&first_life, like(1)).await.unwrap();
    store
        .list(LIKES)
        .remove(&first_life, &Key::By(handle(1)))
        .await
        .unwrap();
    for number in 2..=9 {
        store.list(LIKES).append(&first_life, like(number)).await.unwrap();
    }
    // The first of the two deletes; the pages stay.
    store
        .engine()
        .delete("posts", doc! { "_id": owner_id(&first_life) }, false)
        .await
        .unwrap();

    let second_life = post(&store, 1).await;
    for number in 11..=30 {
        store
            .list(LIKES)
            .append(&second_life, like(number))
            .await
            .unwrap();
        assert_sound(&store, &second_life, LIKES).await;
    }
}

#[tokio::test]
async fn deleting_an_owner_deletes_its_pages_and_repeating_it_finishes_an_interrupted_deletion() {
    let store = small_store(3, 2).await;
    let model::Topic::Post(id) = post(&store, 1).await else {
        unreachable!()
    };
    let owner = model::Topic::Post(id);
    for relation in [LIKES, Relation::Shares] {
        for number in 1..=20 {
            store.list(relation).append(&owner, like(number)).await.unwrap();
        }
    }
    // The first write of a deletion that was interrupted there.
    let post_alone = doc! { "_id": owner_id(&owner) };
    store.engine().delete("posts", post_alone, false).await.unwrap();
    assert!(store.engine().count(PAGES, doc! {}).await.unwrap() > 10);
    assert!(!store.posts().delete(id).await.unwrap(), "it is gone already");
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);

    let again = post(&store, 1).await;
    for number in 1..=20 {
        store.list(LIKES).append(&again, like(number)).await.unwrap();
    }
    assert!(store.posts().delete(id).await.unwrap());
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
}
