//! Lists and documents over their bounds, malformed ones, and a check beside writers.

use super::*;

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
    let expected = [Defect::NoList, Defect::Unbounded { items: 3 }];
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
        .map(|page| Defect::PageOverSize {
            page,
            items: 3,
            size: 2,
        })
        .collect();
    expected.push(Defect::HeadOverThreshold {
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
        &[Defect::HeadOverCap {
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
    let expected = Defect::PageOverCap {
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
        matches!(&found[..], [one] if matches!(one.violation, Violation::List(Defect::NearLimit { percent: 83, .. }))),
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
            |finding| matches!(&finding.violation, Violation::List(Defect::Malformed { what }) if what.contains(names)),
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
    let page = |finding: &Violation| matches!(finding, Violation::List(Defect::Malformed { what }) if what.contains("page 1"));
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
