//! Counts and items of a list that contradict each other.

use super::*;

#[tokio::test]
async fn a_wrong_count() {
    let (store, owner) = overflowed().await;
    change_owner(&store, &owner, doc! { "$inc": { "likes.count": 2_i64 } }).await;
    is_found_and_repaired(
        &store,
        &owner,
        &[Defect::Count {
            said: 17,
            reachable: 15,
        }],
    )
    .await;
}

#[tokio::test]
async fn a_wrong_number_of_spilled_items() {
    let (store, owner) = overflowed().await;
    change_owner(&store, &owner, doc! { "$set": { "likes.spilled": 3_i64 } }).await;
    is_found_and_repaired(&store, &owner, &[Defect::Spilled { said: 3, held: 12 }]).await;
}

#[tokio::test]
async fn a_page_that_miscounts_its_items() {
    let (store, owner) = overflowed().await;
    change_page(&store, 1, doc! { "$set": { "count": 9_i64 } }).await;
    let expected = Defect::PageCount {
        page: 1,
        said: 9,
        held: 3,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
}

#[tokio::test]
async fn a_flag_that_contradicts_the_pages() {
    let (store, owner) = overflowed().await;
    change_owner(&store, &owner, doc! { "$set": { "likes.hasOverflow": false } }).await;
    let expected = Defect::OverflowFlag {
        said: "false".to_owned(),
        pages: 4,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
}

#[tokio::test]
async fn a_floor_below_what_spilled() {
    let (store, owner) = overflowed().await;
    let low = doc! { "$set": { "likes.floor": DateTime::from_millis(3) } };
    change_owner(&store, &owner, low).await;
    let expected = Defect::Floor {
        floor: Some(3),
        newest: 12,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
}

#[tokio::test]
async fn times_that_do_not_enclose_a_pages_items() {
    for wrong in [
        doc! { "$set": { "last": DateTime::from_millis(8) } },
        doc! { "$set": { "first": DateTime::from_millis(8) } },
        doc! { "$unset": { "last": "" } },
    ] {
        let (store, owner) = overflowed().await;
        change_page(&store, 2, wrong).await;
        is_found_and_repaired(&store, &owner, &[Defect::PageTimes { page: 2 }]).await;
    }
}

#[tokio::test]
async fn a_page_that_lost_its_newest_or_oldest_item_is_sound() {
    let (store, owner) = overflowed().await;
    for n in [4, 9] {
        let key = Key::By(handle(n));
        store.list(LIKES).remove(&owner, &key).await.unwrap();
    }
    assert_eq!(violations(&store).await, []);
}

#[tokio::test]
async fn a_page_that_was_emptied_and_not_tidied_is_unfinished_work() {
    let (store, owner) = overflowed().await;
    for n in 4..=6 {
        store
            .list(LIKES)
            .remove(&owner, &Key::By(handle(n)))
            .await
            .unwrap();
    }
    change_page(&store, 1, doc! { "$set": { "last": DateTime::from_millis(4) } }).await;
    let untidied = Defect::Untidied { page: 1 };
    assert_eq!(untidied.severity(), Severity::Unfinished);
    is_found_and_repaired(&store, &owner, &[untidied]).await;
}

#[tokio::test]
async fn a_head_that_is_not_newest_first() {
    let (store, owner) = overflowed().await;
    let head = [like(13), like(15), like(14)].map(|item| item.to_document());
    change_owner(&store, &owner, doc! { "$set": { "likes.head": &head[..] } }).await;
    is_found_and_repaired(&store, &owner, &[Defect::OutOfOrder { page: None }]).await;
}

#[tokio::test]
async fn a_page_that_is_not_newest_first() {
    let (store, owner) = overflowed().await;
    let items = [like(4), like(6), like(5)].map(|item| item.to_document());
    change_page(&store, 1, doc! { "$set": { "items": &items[..] } }).await;
    is_found_and_repaired(&store, &owner, &[Defect::OutOfOrder { page: Some(1) }]).await;
}

#[tokio::test]
async fn an_actor_twice_in_the_head_keeps_the_older_like() {
    let (store, owner) = overflowed().await;
    let again = Item::new(Uuid::from_u128(7), handle(13), Timestamp::from_millis(90));
    let push = doc! {
        "$push": { "likes.head": { "$each": [again.to_document()], "$position": 0 } },
        "$inc": { "likes.count": 1_i64 },
    };
    change_owner(&store, &owner, push).await;
    let expected = Defect::Duplicate {
        key: "user:actor13".to_owned(),
        page: None,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
    let kept = store
        .list(LIKES)
        .find(&owner, &Key::By(handle(13)))
        .await
        .unwrap();
    assert_eq!(kept, Some(like(13)));
}

#[tokio::test]
async fn an_actor_in_two_pages_keeps_the_older_like() {
    let (store, owner) = overflowed().await;
    let items = [
        like(9),
        like(8),
        Item::new(Uuid::from_u128(7), handle(2), Timestamp::from_millis(7)),
    ];
    let items = items.map(|item| item.to_document());
    change_page(&store, 2, doc! { "$set": { "items": &items[..] } }).await;
    let expected = Defect::Duplicate {
        key: "user:actor2".to_owned(),
        page: Some(2),
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
    assert_eq!(
        store.list(LIKES).find(&owner, &Key::By(handle(2))).await.unwrap(),
        Some(like(2))
    );
}

#[tokio::test]
async fn the_same_item_in_head_and_page() {
    let (store, owner) = overflowed().await;
    let push = doc! { "$push": { "likes.head": like(12).to_document() }, "$inc": { "likes.count": 1_i64 } };
    change_owner(&store, &owner, push).await;
    let expected = Defect::Duplicate {
        key: "user:actor12".to_owned(),
        page: None,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
    assert_eq!(walk(&store, &owner, LIKES, 4).await.len(), 16);
}
