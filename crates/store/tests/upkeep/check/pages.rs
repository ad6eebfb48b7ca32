//! Pages that are missing, overlap, were not committed or belong to nobody.

use super::*;

#[tokio::test]
async fn a_missing_page_is_named_and_not_invented() {
    let (store, _) = overflowed().await;
    store
        .engine()
        .delete(PAGES, doc! { "page": 1_i64 }, false)
        .await
        .unwrap();
    let expected = [
        Defect::MissingPages { from: 1, to: 1 },
        Defect::Spilled { said: 12, held: 9 },
        Defect::Count {
            said: 15,
            reachable: 12,
        },
    ];
    is_found_and_reported(&store, &expected).await;
}

#[tokio::test]
async fn the_last_pages_missing() {
    let (store, _) = overflowed().await;
    let above = doc! { "page": { "$gte": 2_i64 } };
    store.engine().delete(PAGES, above, true).await.unwrap();
    assert!(
        violations(&store)
            .await
            .contains(&Defect::MissingPages { from: 2, to: 3 })
    );
}

#[tokio::test]
async fn pages_whose_items_overlap() {
    let (store, _) = overflowed().await;
    let items = [like_at(6, 60), like(5), like(4)].map(|item| item.to_document());
    let newest = DateTime::from_millis(60);
    change_page(
        &store,
        1,
        doc! { "$set": { "items": &items[..], "first": newest } },
    )
    .await;
    let found = violations(&store).await;
    assert!(found.contains(&Defect::PagesOutOfOrder { page: 1 }), "{found:?}");
}

#[tokio::test]
async fn a_removal_that_was_not_ended() {
    let (store, owner) = overflowed().await;
    let change = doc! {
        "$push": { "likes.pending": { "page": 1_i64, "rev": 0_i64, "id": like(5).to_document().get("id").unwrap() } },
        "$inc": { "likes.count": -1_i64, "likes.spilled": -1_i64, "likes.rev": 1_i64 },
    };
    change_owner(&store, &owner, change).await;
    is_found_and_repaired(&store, &owner, &[Defect::Pending { entries: 1 }]).await;
    assert_eq!(
        store.list(LIKES).find(&owner, &Key::By(handle(5))).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn an_adoption_that_was_not_ended() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let head: Vec<Document> = (1..=20).rev().map(|n| like(n).to_document()).collect();
    let set = doc! { "likes.head": head, "likes.count": 20_i64, "likes.adopting": true };
    change_owner(&store, &owner, doc! { "$set": set }).await;
    is_found_and_repaired(&store, &owner, &[Defect::Adopting]).await;
    assert_eq!(walk(&store, &owner, LIKES, 6).await.len(), 21);
}

#[tokio::test]
async fn an_uncommitted_page_is_removed_and_a_spill_in_flight_cannot_commit_it() {
    let (store, owner) = overflowed().await;
    let rev = || async { store.engine().find("posts", Find::default()).await.unwrap()[0].clone() };
    let before = rev().await.get_document("likes").unwrap().get_i64("rev").unwrap();
    let page = doc! {
        "_id": "left behind", "owner": owner_id(&owner), "relation": "likes", "born": born_of(&store, &owner).await,
        "page": 4_i64, "rev": before, "count": 1_i64, "items": [like(13).to_document()],
    };
    store.engine().insert(PAGES, vec![page]).await.unwrap();
    is_found_and_repaired(&store, &owner, &[Defect::UncommittedPage { page: 4 }]).await;
    let after = rev().await.get_document("likes").unwrap().get_i64("rev").unwrap();
    assert!(
        after > before,
        "a spill that read revision {before} must find another"
    );
}

#[tokio::test]
async fn an_uncommitted_page_stays_where_the_numbers_are_in_doubt() {
    let (store, owner) = overflowed().await;
    change_owner(&store, &owner, doc! { "$set": { "likes.pages": 3_i64 } }).await;
    store
        .engine()
        .delete(PAGES, doc! { "page": 1_i64 }, false)
        .await
        .unwrap();
    let repaired = checked(&store, true).await;
    assert!(!repaired.is_sound());
    assert_eq!(
        store.engine().count(PAGES, doc! {}).await.unwrap(),
        3,
        "pages 0, 2 and 3"
    );
}

#[tokio::test]
async fn pages_of_an_owner_that_is_gone_and_of_an_earlier_one() {
    let (store, owner) = overflowed().await;
    store
        .engine()
        .delete("posts", doc! { "_id": owner_id(&owner) }, false)
        .await
        .unwrap();
    assert_eq!(
        violations(&store).await,
        [0, 1, 2, 3].map(|page| Defect::OrphanPage { page })
    );
    let owner = post(&store, 1).await;
    let expected = [0, 1, 2, 3].map(|page| Defect::OrphanPage { page });
    is_found_and_repaired(&store, &owner, &expected).await;
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
}
