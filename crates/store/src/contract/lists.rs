//! Overflow lists on an engine, one operation after the other: spilling, removing, reading.

use bson::doc;
use model::{Items, Relation, Topic};

use super::feed::{LIKES, actor, down, give, join, like, like_again, open, pages, publish, sound, up};
use crate::overflow::{Item, Key, Owner, owner_collection, owner_id};
use document::{Engine, Error, Update};

/// All lists spill, are read in both directions, find their items, and remove them.
pub async fn every_relation_spills_reads_and_removes_alike(engine: &Engine) {
    let store = open(engine, 4, 3).await;
    let user = join(&store, 1).await;
    let (_, post) = publish(&store, 2).await;
    let lists = || [&user, &post].into_iter().flat_map(lists_of);
    for (relation, owner) in lists() {
        let list = store.list(relation);
        for number in 1..=14 {
            let added = list.append(owner, entry(relation, number)).await.unwrap();
            assert_eq!((added.added, added.count), (true, number), "{relation}");
            let again = list.append(owner, entry(relation, number)).await.unwrap();
            assert_eq!((again.added, again.count), (false, number), "{relation}");
            assert_eq!(again.item, entry(relation, number), "{relation}");
        }
        let items = sound(&store, owner, relation).await;
        let expected: Vec<Item> = (1..=14).rev().map(|number| entry(relation, number)).collect();
        assert_eq!(items, expected, "{relation}");
        assert!(
            store.overflow(owner).await.unwrap()[&relation].pages >= 3,
            "{relation}"
        );
        for number in [1, 14, 7] {
            let key = key(relation, number);
            assert_eq!(
                list.find(owner, &key).await.unwrap(),
                Some(entry(relation, number))
            );
            assert_eq!(
                list.remove(owner, &key).await.unwrap().item,
                Some(entry(relation, number))
            );
            assert_eq!(list.find(owner, &key).await.unwrap(), None, "{relation}");
        }
        assert_eq!(sound(&store, owner, relation).await.len(), 11, "{relation}");
    }
    // No list got in another one's way.
    for (relation, owner) in lists() {
        assert_eq!(sound(&store, owner, relation).await.len(), 11, "{relation}");
    }
}

/// Lists of things that one person may do often identify their items by id; here all items are one person's.
fn entry(relation: Relation, number: u64) -> Item {
    let mut item = like(number);
    match relation.description().items {
        Items::Activities | Items::Posts | Items::Notifications => item.by = None,
        Items::Comments => {
            item.by = Some(actor(1));
            item.more = doc! { "text": format!("comment {number}") };
        }
        Items::People => {}
    }
    item
}

fn key(relation: Relation, number: u64) -> Key {
    if relation.once_per_actor() {
        Key::By(actor(number))
    } else {
        Key::Id(like(number).id)
    }
}

/// Owners that an older version wrote lack the lists that were added since. Such a list is empty, and the first append
/// makes it.
pub async fn a_list_that_its_owner_lacks_is_empty_until_the_first_append(engine: &Engine) {
    let store = open(engine, 4, 3).await;
    let user = join(&store, 1).await;
    let (_, post) = publish(&store, 2).await;
    let forget = async |owner: &Owner, relation: Relation| {
        let owner_only = doc! { "_id": owner_id(owner) };
        let forget = Update::one(owner_only, doc! { "$unset": { relation.as_str(): "" } });
        let changed = engine.update(owner_collection(owner), forget).await.unwrap();
        assert_eq!(changed.modified, 1, "{relation}");
    };
    for (relation, owner) in [&user, &post].into_iter().flat_map(lists_of) {
        let list = store.list(relation);
        forget(owner, relation).await;
        let empty = store.overflow(owner).await.unwrap()[&relation].clone();
        assert_eq!((empty.count, empty.head, empty.pages), (0, 0, 0), "{relation}");
        match owner {
            Topic::User(handle) => assert!(store.people().summary(handle).await.unwrap().is_some()),
            Topic::Post(id) => assert!(store.posts().get(*id).await.unwrap().is_some()),
        }
        let read = list.newest_first(owner, None, 10).await.unwrap();
        assert_eq!((read.items, read.total), (Vec::new(), 0), "{relation}");

        forget(owner, relation).await;
        let removed = list.remove(owner, &key(relation, 1)).await.unwrap();
        assert_eq!((removed.item, removed.count), (None, 0), "{relation}");

        forget(owner, relation).await;
        for number in 1..=9 {
            let added = list.append(owner, entry(relation, number)).await.unwrap();
            assert_eq!((added.added, added.count), (true, number), "{relation}");
        }
        assert_eq!(sound(&store, owner, relation).await.len(), 9, "{relation}");
    }
    for &relation in user.relations() {
        forget(&user, relation).await;
    }
    let mark = doc! { "$set": { "leaving": true } };
    let mark = Update::one(doc! { "_id": owner_id(&user) }, mark);
    engine.update(owner_collection(&user), mark).await.unwrap();
    store.account_deletions().finish_all().await.unwrap();
    let gone = store.overflow(&user).await.unwrap_err();
    assert!(matches!(gone, Error::NoOwner(_)), "{gone}");
}

fn lists_of(owner: &Owner) -> impl Iterator<Item = (Relation, &Owner)> {
    owner.relations().iter().map(move |relation| (*relation, owner))
}

/// From the head and from any page, once; and the person may like again.
pub async fn an_unlike_removes_the_like_wherever_it_is(engine: &Engine) {
    let store = open(engine, 3, 2).await;
    let (_, post) = publish(&store, 1).await;
    give(&store, &post, 1..=12).await;
    let mut left = 12;
    for number in [12, 1, 6, 11, 2, 9] {
        let key = Key::By(actor(number));
        left -= 1;
        let first = store.list(LIKES).remove(&post, &key).await.unwrap();
        assert_eq!((first.item, first.count), (Some(like(number)), left));
        let second = store.list(LIKES).remove(&post, &key).await.unwrap();
        assert_eq!((second.item, second.count), (None, left));
        let items = sound(&store, &post, LIKES).await;
        assert!(items.iter().all(|item| item.by != Some(actor(number))));
        assert_eq!(items.len() as u64, left);
    }
    let again = store.list(LIKES).append(&post, like_again(6, 40)).await.unwrap();
    assert_eq!((again.added, again.count), (true, left + 1));
    assert_eq!(sound(&store, &post, LIKES).await[0], like_again(6, 40));
}

/// Empty pages cost nothing: the newest are removed, and readers skip one further down.
pub async fn pages_emptied_by_unlikes_are_removed(engine: &Engine) {
    let store = open(engine, 5, 3).await;
    let (_, post) = publish(&store, 1).await;
    give(&store, &post, 1..=30).await;
    let first = store.list(LIKES).newest_first(&post, None, 8).await.unwrap();
    let unlike = async |numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            let key = Key::By(actor(number));
            assert!(
                store
                    .list(LIKES)
                    .remove(&post, &key)
                    .await
                    .unwrap()
                    .item
                    .is_some()
            );
        }
    };
    let before = pages(&store).await;
    unlike(16..=27).await;
    assert!(pages(&store).await <= before - 3, "of {before} pages");
    // A reader who had scrolled to the removed items continues below them.
    let rest = store
        .list(LIKES)
        .newest_first(&post, first.next, 100)
        .await
        .unwrap();
    assert!(rest.items.into_iter().eq((1..=15).rev().map(like)));

    unlike(4..=9).await;
    let items = sound(&store, &post, LIKES).await;
    let expected: Vec<Item> = (28..=30).chain(10..=15).chain(1..=3).map(like).collect();
    assert_eq!(items.len(), expected.len());
    assert!(expected.iter().all(|item| items.contains(item)));

    unlike(28..=30).await;
    unlike(10..=15).await;
    unlike(1..=3).await;
    let empty = store.overflow(&post).await.unwrap()[&LIKES].clone();
    assert_eq!((empty.count, empty.pages, empty.has_overflow), (0, 0, false));
    assert_eq!(pages(&store).await, 0, "pages of an empty list");
    give(&store, &post, 41..=60).await;
    assert_eq!(sound(&store, &post, LIKES).await.len(), 20);
}

/// An offset from the newest item is the place that scrolling reaches, whatever was removed before it.
pub async fn an_offset_gives_what_a_cursor_gives(engine: &Engine) {
    let store = open(engine, 5, 3).await;
    let (_, post) = publish(&store, 1).await;
    give(&store, &post, 1..=30).await;
    for number in [1, 2, 3, 7, 8, 9, 17, 29] {
        let key = Key::By(actor(number));
        assert!(
            store
                .list(LIKES)
                .remove(&post, &key)
                .await
                .unwrap()
                .item
                .is_some()
        );
    }
    let all = sound(&store, &post, LIKES).await;
    for limit in [1, 2, 4, 50] {
        assert_eq!(down(&store, &post, LIKES, limit).await, all, "{limit} at a time");
        assert!(
            up(&store, &post, LIKES, limit).await.iter().rev().eq(&all),
            "{limit} at a time"
        );
    }
    for skip in 0..=all.len() + 1 {
        let stretch = store
            .list(LIKES)
            .from_offset(&post, skip as u64, 4)
            .await
            .unwrap();
        let expected = all.get(skip..).unwrap_or_default();
        assert_eq!(
            stretch.items,
            expected[..expected.len().min(4)],
            "after {skip} items"
        );
        assert_eq!(stretch.total, all.len() as u64);
        assert_eq!(stretch.next.is_some(), expected.len() > 4, "after {skip} items");
        if stretch.next.is_some() {
            let on = store
                .list(LIKES)
                .newest_first(&post, stretch.next, 50)
                .await
                .unwrap();
            assert_eq!(on.items, expected[4..], "on from {skip} items");
        }
    }
}

/// Likes of one moment may be on both sides of a seam. Their ids distinguish them, in either direction.
pub async fn likes_of_one_moment_are_walked_once_over_every_seam(engine: &Engine) {
    let store = open(engine, 5, 3).await;
    let (_, post) = publish(&store, 1).await;
    for number in 1..=30 {
        let given = store
            .list(LIKES)
            .append(&post, like_again(number, 7))
            .await
            .unwrap();
        assert!(given.added);
    }
    let all = down(&store, &post, LIKES, 100).await;
    assert_eq!(all.len(), 30);
    for limit in 1..=8 {
        assert_eq!(down(&store, &post, LIKES, limit).await, all, "{limit} at a time");
        let upwards = up(&store, &post, LIKES, limit).await;
        assert!(
            upwards.iter().rev().eq(&all),
            "{limit} at a time from the oldest: {upwards:#?}"
        );
    }
}
