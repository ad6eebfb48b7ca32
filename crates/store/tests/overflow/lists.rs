//! The overflow lists, one behaviour per test.

use std::collections::HashSet;

use bson::doc;
use document::{Error, Find, Update};
use model::{Relation, Timestamp};
use store::overflow::{Key, PAGES, lay_out, owner_id};
use uuid::Uuid;

use crate::support::{assert_sound, handle, like, like_at, post, post_born, small_store, walk};

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
async fn a_walk_sees_every_item_once_newest_first_and_reports_every_seam() {
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
async fn a_comment_is_identified_by_its_id_and_one_person_may_write_many() {
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
async fn a_scroll_neither_skips_nor_repeats_while_items_are_added_removed_and_spilled() {
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
        // The very item that the cursor names is removed, and enough new ones are added to move the others to pages.
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
