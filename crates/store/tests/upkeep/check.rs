//! Every kind of violation, made with raw writes: `check` names it, and repairs it if that is possible.

use std::time::Duration;

use crate::support::{assert_sound, born_of, handle, like, like_at, post, small_store, walk};
use bson::{DateTime, Document, doc};
use document::{Find, Update};
use model::{Relation, Timestamp};
use store::Store;
use store::overflow::{Item, Key, Owner, PAGES, empty, owner_collection, owner_id};
use store::upkeep::{CheckOptions, Checked, Outcome, Severity, Violation, check};
use uuid::Uuid;

const LIKES: Relation = Relation::Likes;

fn options(repair: bool) -> CheckOptions {
    CheckOptions {
        repair,
        lists_only: true,
        pause: Duration::from_millis(2),
    }
}

async fn checked(store: &Store, repair: bool) -> Checked {
    check(store, options(repair), &|done, total| assert!(done <= total))
        .await
        .unwrap()
}

async fn violations(store: &Store) -> Vec<Violation> {
    checked(store, false)
        .await
        .findings
        .into_iter()
        .map(|finding| finding.violation)
        .collect()
}

/// A post with fifteen likes, the oldest twelve of them in four pages of three; the head may hold five.
async fn overflowed() -> (Store, Owner) {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    for n in 1..=15 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    assert_eq!(violations(&store).await, [], "a sound list is found sound");
    (store, owner)
}

async fn change_owner(store: &Store, owner: &Owner, change: Document) {
    let update = Update::one(doc! { "_id": owner_id(owner) }, change);
    let done = store
        .engine()
        .update(owner_collection(owner), update)
        .await
        .unwrap();
    assert_eq!(done.modified, 1);
}

async fn change_page(store: &Store, page: i64, change: Document) {
    let update = Update::one(doc! { "relation": "likes", "page": page }, change);
    assert_eq!(store.engine().update(PAGES, update).await.unwrap().modified, 1);
}

/// Checks that exactly this is found, that a repair fixes it, and that nothing is found afterwards.
async fn is_found_and_repaired(store: &Store, owner: &Owner, expected: &[Violation]) {
    assert_eq!(violations(store).await, expected);
    let repaired = checked(store, true).await;
    assert!(repaired.is_sound(), "{:#?}", repaired.findings);
    assert!(
        repaired
            .findings
            .iter()
            .all(|finding| finding.outcome == Outcome::Repaired)
    );
    assert_eq!(violations(store).await, []);
    assert_sound(store, owner, LIKES).await;
    store.list(LIKES).append(owner, like(1_000)).await.unwrap();
    assert_sound(store, owner, LIKES).await;
}

/// Checks that exactly this is found, and that a repair says why it cannot be fixed and changes nothing.
async fn is_found_and_reported(store: &Store, expected: &[Violation]) {
    assert_eq!(violations(store).await, expected);
    let everything = dump(store).await;
    let repaired = checked(store, true).await;
    assert!(
        repaired
            .findings
            .iter()
            .all(|finding| matches!(finding.outcome, Outcome::Unrepairable(_))),
        "{:#?}",
        repaired.findings
    );
    assert_eq!(dump(store).await, everything, "nothing changed");
}

async fn dump(store: &Store) -> Vec<Document> {
    let mut all = store.engine().find("posts", Find::default()).await.unwrap();
    all.extend(store.engine().find(PAGES, Find::default()).await.unwrap());
    all
}

#[tokio::test]
async fn a_wrong_count() {
    let (store, owner) = overflowed().await;
    change_owner(&store, &owner, doc! { "$inc": { "likes.count": 2_i64 } }).await;
    is_found_and_repaired(
        &store,
        &owner,
        &[Violation::Count {
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
    is_found_and_repaired(&store, &owner, &[Violation::Spilled { said: 3, held: 12 }]).await;
}

#[tokio::test]
async fn a_page_that_miscounts_its_items() {
    let (store, owner) = overflowed().await;
    change_page(&store, 1, doc! { "$set": { "count": 9_i64 } }).await;
    let expected = Violation::PageCount {
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
    let expected = Violation::OverflowFlag {
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
    let expected = Violation::Floor {
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
        is_found_and_repaired(&store, &owner, &[Violation::PageTimes { page: 2 }]).await;
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
    let untidied = Violation::Untidied { page: 1 };
    assert_eq!(untidied.severity(), Severity::Unfinished);
    is_found_and_repaired(&store, &owner, &[untidied]).await;
}

#[tokio::test]
async fn a_head_that_is_not_newest_first() {
    let (store, owner) = overflowed().await;
    let head = [like(13), like(15), like(14)].map(|item| item.to_document());
    change_owner(&store, &owner, doc! { "$set": { "likes.head": &head[..] } }).await;
    is_found_and_repaired(&store, &owner, &[Violation::OutOfOrder { page: None }]).await;
}

#[tokio::test]
async fn a_page_that_is_not_newest_first() {
    let (store, owner) = overflowed().await;
    let items = [like(4), like(6), like(5)].map(|item| item.to_document());
    change_page(&store, 1, doc! { "$set": { "items": &items[..] } }).await;
    is_found_and_repaired(&store, &owner, &[Violation::OutOfOrder { page: Some(1) }]).await;
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
    let expected = Violation::Duplicate {
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
    let expected = Violation::Duplicate {
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
    let expected = Violation::Duplicate {
        key: "user:actor12".to_owned(),
        page: None,
    };
    is_found_and_repaired(&store, &owner, &[expected]).await;
    assert_eq!(walk(&store, &owner, LIKES, 4).await.len(), 16);
}

#[tokio::test]
async fn a_missing_page_is_named_and_not_invented() {
    let (store, _) = overflowed().await;
    store
        .engine()
        .delete(PAGES, doc! { "page": 1_i64 }, false)
        .await
        .unwrap();
    let expected = [
        Violation::MissingPages { from: 1, to: 1 },
        Violation::Spilled { said: 12, held: 9 },
        Violation::Count {
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
            .contains(&Violation::MissingPages { from: 2, to: 3 })
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
    assert!(
        found.contains(&Violation::PagesOutOfOrder { page: 1 }),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_removal_that_was_not_ended() {
    let (store, owner) = overflowed().await;
    let change = doc! {
        "$push": { "likes.pending": { "page": 1_i64, "rev": 0_i64, "id": like(5).to_document().get("id").unwrap() } },
        "$inc": { "likes.count": -1_i64, "likes.spilled": -1_i64, "likes.rev": 1_i64 },
    };
    change_owner(&store, &owner, change).await;
    is_found_and_repaired(&store, &owner, &[Violation::Pending { entries: 1 }]).await;
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
    is_found_and_repaired(&store, &owner, &[Violation::Adopting]).await;
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
    is_found_and_repaired(&store, &owner, &[Violation::UncommittedPage { page: 4 }]).await;
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
        [0, 1, 2, 3].map(|page| Violation::OrphanPage { page })
    );
    let owner = post(&store, 1).await;
    let expected = [0, 1, 2, 3].map(|page| Violation::OrphanPage { page });
    is_found_and_repaired(&store, &owner, &expected).await;
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
}

#[tokio::test]
async fn an_unbounded_array_and_a_missing_list_are_information_and_stay() {
    let (store, owner) = overflowed().await;
    let array: Vec<Document> = (1..=3).map(|n| like(n).to_document()).collect();
    change_owner(
        &store,
        &owner,
        doc! { "$set": { "shares": array }, "$unset": { "comments": "" } },
    )
    .await;
    let expected = [Violation::NoList, Violation::Unbounded { items: 3 }];
    is_found_and_reported(&store, &expected).await;
    assert!(checked(&store, false).await.is_sound());
}

#[tokio::test]
async fn lists_under_lowered_limits_are_a_notice() {
    let (store, _) = overflowed().await;
    let mut lower = store.settings().clone();
    lower.set_threshold(LIKES, 1).unwrap();
    lower.set_page_size(LIKES, 2).unwrap();
    let store = Store::open(store.engine().clone(), lower).await.unwrap();
    let mut expected: Vec<_> = (0..4)
        .map(|page| Violation::PageOverSize {
            page,
            items: 3,
            size: 2,
        })
        .collect();
    expected.push(Violation::HeadOverThreshold {
        items: 3,
        threshold: 1,
    });
    is_found_and_reported(&store, &expected).await;
    assert!(checked(&store, false).await.is_sound());
}

#[tokio::test]
async fn a_head_over_the_hard_cap_spills() {
    let store = small_store(500, 400).await;
    let owner = post(&store, 1).await;
    let mut list = empty();
    let head: Vec<Document> = (1..=2_000).rev().map(|n| like(n).to_document()).collect();
    list.insert("head", head);
    list.insert("count", 2_000_i64);
    change_owner(&store, &owner, doc! { "$set": { "likes": list } }).await;
    is_found_and_repaired(
        &store,
        &owner,
        &[Violation::HeadOverCap {
            items: 2_000,
            cap: 1_900,
        }],
    )
    .await;
}

#[tokio::test]
async fn a_page_over_the_hard_cap_is_reported() {
    let (store, owner) = overflowed().await;
    let items: Vec<Document> = (1..=1_901)
        .rev()
        .map(|n| like_at(n + 100, 3).to_document())
        .collect();
    let set = doc! { "items": items, "count": 1_901_i64, "first": DateTime::from_millis(3), "last": DateTime::from_millis(3) };
    change_page(&store, 0, doc! { "$set": set }).await;
    let numbers = doc! { "likes.spilled": 1_910_i64, "likes.count": 1_913_i64 };
    change_owner(&store, &owner, doc! { "$set": numbers }).await;
    let found = violations(&store).await;
    let expected = Violation::PageOverCap {
        page: 0,
        items: 1_901,
        cap: 1_900,
    };
    assert!(found.contains(&expected), "{found:?}");
}

#[tokio::test]
async fn a_document_near_16_mb() {
    let (store, owner) = overflowed().await;
    change_owner(
        &store,
        &owner,
        doc! { "$set": { "notes": "x".repeat(14_000_000) } },
    )
    .await;
    let found = checked(&store, false).await.findings;
    assert!(
        matches!(&found[..], [one] if matches!(one.violation, Violation::NearLimit { percent: 83, .. })),
        "{found:?}"
    );
}

#[tokio::test]
async fn malformed_documents_are_named() {
    for (change, names) in [
        (doc! { "$set": { "likes": 7 } }, "neither a document nor an array"),
        (doc! { "$set": { "likes.count": "many" } }, "`count`"),
        (doc! { "$set": { "likes.pages": -1 } }, "`pages`"),
        (doc! { "$set": { "likes.head": "none" } }, "`head`"),
        (doc! { "$set": { "likes.head.0.by": 7 } }, "item 0 of the head"),
        (doc! { "$set": { "likes.pending": [3] } }, "`pending`"),
        (doc! { "$set": { "likes.floor": 3 } }, "`floor`"),
        (doc! { "$unset": { "at": "" } }, "`at`"),
        (doc! { "$set": { "text": 5 } }, "`text`"),
    ] {
        let (store, owner) = overflowed().await;
        change_owner(&store, &owner, change.clone()).await;
        let checked = checked(&store, true).await;
        let malformed = checked.findings.iter().find(
            |finding| matches!(&finding.violation, Violation::Malformed { what } if what.contains(names)),
        );
        let malformed = malformed.unwrap_or_else(|| panic!("{change}: {:?}", checked.findings));
        assert_eq!(malformed.owner, owner.to_string());
        assert_eq!(malformed.severity, Severity::Broken);
        assert!(!checked.is_sound());
    }
}

#[tokio::test]
async fn malformed_pages_and_ids_are_named() {
    let (store, _) = overflowed().await;
    change_page(&store, 1, doc! { "$set": { "items.0.at": "noon" } }).await;
    store
        .engine()
        .insert(PAGES, vec![doc! { "_id": 3, "x": 1 }])
        .await
        .unwrap();
    store
        .engine()
        .insert("users", vec![doc! { "_id": "Not A Handle" }, doc! { "_id": 4 }])
        .await
        .unwrap();
    let found = checked(&store, false).await.findings;
    let named: Vec<&str> = found.iter().map(|finding| finding.owner.as_str()).collect();
    for name in ["users/4", "users/\"Not A Handle\"", "pages/3"] {
        assert!(named.contains(&name), "{name} in {named:?}");
    }
    let page =
        |finding: &Violation| matches!(finding, Violation::Malformed { what } if what.contains("page 1"));
    assert!(found.iter().any(|finding| page(&finding.violation)), "{found:?}");
}

/// Several things wrong at once, in several lists.
#[tokio::test]
async fn a_list_with_many_faults_is_repaired_completely() {
    let (store, owner) = overflowed().await;
    let items = [like(2), like(3), like(3)].map(|item| item.to_document());
    change_page(&store, 0, doc! { "$set": { "items": &items[..] } }).await;
    change_page(
        &store,
        2,
        doc! { "$set": { "count": 1_i64 }, "$unset": { "first": "" } },
    )
    .await;
    let set =
        doc! { "likes.count": 99_i64, "likes.hasOverflow": false, "likes.floor": DateTime::from_millis(0) };
    change_owner(&store, &owner, doc! { "$set": set }).await;
    let repaired = checked(&store, true).await;
    assert!(repaired.is_sound(), "{:#?}", repaired.findings);
    assert_eq!(violations(&store).await, []);
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(walk(&store, &owner, LIKES, 5).await.len(), 14);
}

/// Nothing that is merely under way is mistaken for broken, and repairing beside writers loses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checking_and_repairing_beside_writers_finds_nothing_and_loses_nothing() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4_u64 {
        let (store, owner) = (store.clone(), owner.clone());
        tasks.spawn(async move {
            for n in 0..150 {
                let actor = task * 1_000 + n;
                store
                    .list(LIKES)
                    .append(&owner, like_at(actor, i64::try_from(n).unwrap()))
                    .await
                    .unwrap();
                if n % 3 == 0 {
                    store
                        .list(LIKES)
                        .remove(&owner, &Key::By(handle(actor)))
                        .await
                        .unwrap();
                }
            }
        });
    }
    let mut rounds = 0;
    while !tasks.is_empty() {
        let checked = checked(&store, true).await;
        let broken: Vec<_> = checked
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Broken)
            .collect();
        assert!(broken.is_empty(), "{broken:#?}");
        rounds += 1;
        while let Some(done) = tasks.try_join_next() {
            done.unwrap();
        }
    }
    assert!(rounds > 3, "{rounds}");
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(walk(&store, &owner, LIKES, 9).await.len(), 400);
    assert_eq!(violations(&store).await, []);
}

#[tokio::test]
async fn progress_ends_at_its_total() {
    let (store, _) = overflowed().await;
    let last = std::sync::Mutex::new((0, 0));
    check(&store, CheckOptions::default(), &|done, total| {
        *last.lock().unwrap() = (done, total);
    })
    .await
    .unwrap();
    assert_eq!(*last.lock().unwrap(), (6, 6), "one post twice, and four pages");
}
