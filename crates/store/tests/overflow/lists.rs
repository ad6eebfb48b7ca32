//! The overflow lists, one behaviour a test.

use std::collections::HashSet;

use crate::support::{assert_sound, born_of, handle, like, like_at, post, post_born, small_store, walk};
use bson::{DateTime, doc};
use document::Error;
use document::{Find, Update};
use model::{Relation, Timestamp};
use store::overflow::{Item, Key, PAGES, lay_out, owner_id};
use uuid::Uuid;

const LIKES: Relation = Relation::Likes;

#[tokio::test]
async fn the_item_after_a_full_head_spills_the_oldest_chunk() {
    let store = small_store(4, 3).await;
    let post = post(&store, 1).await;
    for number in 1..=4 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let full = store.overflow(&post).await.unwrap()[&LIKES].clone();
    assert_eq!(
        (full.count, full.head, full.pages, full.has_overflow),
        (4, 4, 0, false)
    );

    let fifth = store.list(LIKES).append(&post, like(5)).await.unwrap();
    assert_eq!((fifth.added, fifth.count), (true, 5));
    let spilled = store.overflow(&post).await.unwrap()[&LIKES].clone();
    assert_eq!(
        (spilled.count, spilled.head, spilled.pages, spilled.has_overflow),
        (5, 2, 1, true)
    );
    assert_sound(&store, &post, LIKES).await;
}

#[tokio::test]
async fn a_walk_sees_every_item_once_newest_first_and_tells_every_seam() {
    let store = small_store(5, 4).await;
    let post = post(&store, 1).await;
    for number in 1..=23 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    assert_sound(&store, &post, LIKES).await;
    let pages = store.overflow(&post).await.unwrap()[&LIKES].pages;
    for limit in 1..=25 {
        let mut after = None;
        let mut seen = Vec::new();
        let mut seams = Vec::new();
        loop {
            let stretch = store.list(LIKES).newest_first(&post, after, limit).await.unwrap();
            assert_eq!(stretch.total, 23);
            seen.extend(stretch.items);
            seams.extend(stretch.seams);
            after = stretch.next;
            if after.is_none() {
                break;
            }
        }
        let order: Vec<i64> = seen.iter().map(|item| item.at.millis()).collect();
        assert!(
            order.iter().copied().eq((1..=23).rev()),
            "limit {limit}: {order:?}"
        );
        let crossed: Vec<u64> = seams.iter().map(|seam| u64::from(seam.page)).collect();
        assert!(
            crossed.iter().copied().eq((0..pages).rev()),
            "limit {limit}: seams {crossed:?}"
        );
        for seam in seams {
            assert!(seen.iter().any(|item| item.id.to_string() == seam.after));
        }
    }
}

#[tokio::test]
async fn a_second_like_by_the_same_actor_changes_nothing_wherever_the_first_one_is() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=9 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let before = store.overflow(&post).await.unwrap();
    for number in 1..=9 {
        let again = store
            .list(LIKES)
            .append(&post, like_at(number, 1000))
            .await
            .unwrap();
        assert!(!again.added);
        assert_eq!((again.item, again.count), (like(number), 9));
    }
    assert_eq!(store.overflow(&post).await.unwrap(), before);
}

#[tokio::test]
async fn a_comment_is_told_by_its_id_and_one_person_may_write_many() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=7 {
        let mut comment = like(number);
        comment.by = Some(handle(1));
        for expected in [true, false] {
            let appended = store
                .list(Relation::Comments)
                .append(&post, comment.clone())
                .await
                .unwrap();
            assert_eq!((appended.added, appended.count), (expected, number));
        }
    }
    assert_sound(&store, &post, Relation::Comments).await;
}

#[tokio::test]
async fn removing_takes_an_item_from_the_head_or_any_page_once() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=9 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    for (removed, number) in [9, 1, 4, 5, 2].into_iter().enumerate() {
        let key = Key::By(handle(number));
        let left = 8 - removed as u64;
        let first = store.list(LIKES).remove(&post, &key).await.unwrap();
        assert_eq!((first.item, first.count), (Some(like(number)), left));
        let second = store.list(LIKES).remove(&post, &key).await.unwrap();
        assert_eq!((second.item, second.count), (None, left));
        assert_eq!(store.list(LIKES).find(&post, &key).await.unwrap(), None);
        assert_sound(&store, &post, LIKES).await;
    }
    let again = store.list(LIKES).append(&post, like_at(4, 50)).await.unwrap();
    assert_eq!((again.added, again.count), (true, 5));
    assert_sound(&store, &post, LIKES).await;
}

#[tokio::test]
async fn a_scroll_neither_skips_nor_repeats_while_items_come_go_and_spill() {
    let store = small_store(4, 3).await;
    let post = post(&store, 1).await;
    for number in 1..=30 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let mut after = None;
    let mut seen = Vec::new();
    let mut next_new = 31;
    loop {
        let stretch = store.list(LIKES).newest_first(&post, after, 3).await.unwrap();
        seen.extend(stretch.items.iter().map(|item| item.at.millis()));
        after = stretch.next;
        if after.is_none() {
            break;
        }
        // The very item that the cursor names goes, and enough new ones come to move the rest to pages.
        if let Some(last) = stretch.items.last() {
            store
                .list(LIKES)
                .remove(&post, &Key::By(last.by.clone().unwrap()))
                .await
                .unwrap();
        }
        for _ in 0..5 {
            store.list(LIKES).append(&post, like(next_new)).await.unwrap();
            next_new += 1;
        }
    }
    assert!(seen.iter().copied().eq((1..=30).rev()), "{seen:?}");
}

#[tokio::test]
async fn a_clock_that_runs_behind_does_not_sort_below_a_page() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for (number, at) in [
        (1, 100),
        (2, 101),
        (3, 102),
        (4, 103),
        (5, 7),
        (6, 104),
        (7, 8),
        (8, 9),
        (9, 101),
    ] {
        store
            .list(LIKES)
            .append(&post, like_at(number, at))
            .await
            .unwrap();
        assert_sound(&store, &post, LIKES).await;
    }
}

#[tokio::test]
async fn a_page_that_a_stopped_spill_left_behind_is_invisible_and_the_next_spill_replaces_it() {
    let store = small_store(3, 2).await;
    let post = post(&store, 1).await;
    for number in 1..=3 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    // What a spill under other limits had written when it stopped: one item, at the revision that still holds.
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
async fn lowering_the_threshold_takes_effect_at_the_next_append() {
    let store = small_store(10, 8).await;
    let post = post(&store, 1).await;
    for number in 1..=10 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let mut lower = store.settings().clone();
    lower.set_threshold(LIKES, 3).unwrap();
    lower.set_page_size(LIKES, 2).unwrap();
    let store = store::Store::open(store.engine().clone(), lower).await.unwrap();
    store.list(LIKES).append(&post, like(11)).await.unwrap();
    assert_sound(&store, &post, LIKES).await;
    let overflow = store.overflow(&post).await.unwrap()[&LIKES].clone();
    assert_eq!((overflow.count, overflow.head <= 3), (11, true));
}

#[tokio::test]
async fn loading_in_bulk_leaves_what_appending_one_by_one_leaves() {
    let born = Uuid::from_u128(7);
    for count in [0, 1, 4, 5, 8, 9, 40] {
        let one_by_one = small_store(5, 3).await;
        let appended = post_born(&one_by_one, 1, born).await;
        for number in 1..=count {
            one_by_one
                .list(LIKES)
                .append(&appended, like(number))
                .await
                .unwrap();
        }
        let in_bulk = small_store(5, 3).await;
        let loaded = post_born(&in_bulk, 1, born).await;
        let laid_out = lay_out(
            &loaded,
            born,
            LIKES,
            in_bulk.settings().of(LIKES),
            (1..=count).map(like).collect(),
        );
        if !laid_out.pages.is_empty() {
            in_bulk.engine().insert(PAGES, laid_out.pages).await.unwrap();
        }
        let set = Update::one(
            doc! { "_id": owner_id(&loaded) },
            doc! { "$set": { "likes": laid_out.list } },
        );
        in_bulk.engine().update("posts", set).await.unwrap();

        assert_eq!(
            in_bulk.overflow(&loaded).await.unwrap(),
            one_by_one.overflow(&appended).await.unwrap(),
            "{count} items"
        );
        let pages = Find::matching(doc! {}).sort(doc! { "page": 1 });
        assert_eq!(
            in_bulk.engine().find(PAGES, pages.clone()).await.unwrap(),
            one_by_one.engine().find(PAGES, pages).await.unwrap()
        );
        assert_sound(&in_bulk, &loaded, LIKES).await;
    }
}

#[tokio::test]
async fn an_owner_that_does_not_exist_is_named() {
    let store = small_store(3, 2).await;
    let nobody = model::Topic::Post(uuid::Uuid::from_u128(404).into());
    let error = store.list(LIKES).append(&nobody, like(1)).await.unwrap_err();
    assert!(
        matches!(&error, Error::NoOwner(owner) if owner.ends_with("194")),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_actors_liking_and_unliking_at_once_lose_and_double_nothing() {
    let store = small_store(8, 5).await;
    let post = post(&store, 1).await;
    let mut tasks = tokio::task::JoinSet::new();
    for actor in 1..=64_u64 {
        let (store, post) = (store.clone(), post.clone());
        tasks.spawn(async move {
            for round in 0..6_i64 {
                let at = round * 1000 + i64::try_from(actor).unwrap();
                let id = uuid::Uuid::from_u128(u128::from(actor) << 32 | u128::try_from(round).unwrap());
                let item = store::overflow::Item::new(id, handle(actor), Timestamp::from_millis(at));
                let list = store.list(LIKES);
                assert!(list.append(&post, item.clone()).await.unwrap().added);
                assert!(!list.append(&post, item).await.unwrap().added);
                if round < 5 || actor % 3 == 0 {
                    assert!(
                        list.remove(&post, &Key::By(handle(actor)))
                            .await
                            .unwrap()
                            .item
                            .is_some()
                    );
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_sound(&store, &post, LIKES).await;
    let left: HashSet<_> = walk(&store, &post, LIKES, 10)
        .await
        .into_iter()
        .map(|item| item.by.unwrap())
        .collect();
    let expected: HashSet<_> = (1..=64).filter(|actor| actor % 3 != 0).map(handle).collect();
    assert_eq!(left, expected);
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let store = small_store(3, 2).await;
    let (one, other) = (post(&store, 1).await, post(&store, 2).await);
    for number in 1..=5 {
        store.list(LIKES).append(&one, like(number)).await.unwrap();
        store.list(LIKES).append(&other, like(number)).await.unwrap();
    }
    let cursor = store.list(LIKES).newest_first(&one, None, 2).await.unwrap().next;
    for (owner, relation) in [(&other, LIKES), (&one, Relation::Shares)] {
        let refused = store
            .list(relation)
            .newest_first(owner, cursor, 2)
            .await
            .unwrap_err();
        assert!(matches!(refused, Error::ForeignCursor), "{refused}");
    }
    let by_time = store
        .posts()
        .list(None, store::posts::Order::Newest, cursor, 2)
        .await
        .unwrap_err();
    assert!(matches!(by_time, Error::ForeignCursor), "{by_time}");
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
    // The first of the two deletes; its pages stay.
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
async fn lowering_the_limits_far_does_not_refuse_the_next_append() {
    let store = small_store(1000, 1000).await;
    let post = post(&store, 1).await;
    for number in 1..=1000 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let mut lower = store.settings().clone();
    lower.set_threshold(LIKES, 3).unwrap();
    let store = store::Store::open(store.engine().clone(), lower).await.unwrap();
    assert!(store.list(LIKES).append(&post, like(1001)).await.unwrap().added);
    assert_sound(&store, &post, LIKES).await;
}

#[tokio::test]
async fn reading_over_many_pages_reads_each_page_once() {
    let engine = embedded::Embedded::in_memory().unwrap();
    let mut limits = store::Settings::default();
    limits.set_threshold(LIKES, 10).unwrap();
    limits.set_page_size(LIKES, 8).unwrap();
    let store = store::Store::open(std::sync::Arc::new(engine.clone()), limits)
        .await
        .unwrap();
    let post = post(&store, 1).await;
    for number in 1..=410 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let before = engine.counters().documents_read;
    let all = store.list(LIKES).newest_first(&post, None, 1000).await.unwrap();
    assert_eq!((all.items.len(), all.total), (410, 410));
    let pages = store.overflow(&post).await.unwrap()[&LIKES].pages;
    let read = engine.counters().documents_read - before;
    assert!(read <= pages + 4, "{read} documents for {pages} pages");
}

#[tokio::test]
async fn deleting_an_owner_takes_its_pages_along_and_doing_it_again_finishes_what_was_interrupted() {
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
    // The first write of a deletion that stopped there.
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

#[tokio::test]
async fn an_item_that_is_too_large_is_refused_and_nothing_is_written() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    let mut item = like(1);
    item.more = doc! { "text": "x".repeat(Item::LARGEST) };
    let refused = store
        .list(Relation::Comments)
        .append(&owner, item)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
    assert_eq!(
        store.overflow(&owner).await.unwrap()[&Relation::Comments].count,
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn even_a_tiny_head_takes_in_a_crowd() {
    let store = small_store(2, 1).await;
    let owner = post(&store, 1).await;
    let mut crowd = tokio::task::JoinSet::new();
    for actor in 1..=64 {
        let (store, owner) = (store.clone(), owner.clone());
        crowd.spawn(async move {
            for number in 0..6 {
                let item = like(actor * 10 + number);
                assert!(store.list(LIKES).append(&owner, item).await.unwrap().added);
            }
        });
    }
    crowd.join_all().await;
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(store.overflow(&owner).await.unwrap()[&LIKES].count, 64 * 6);
}
