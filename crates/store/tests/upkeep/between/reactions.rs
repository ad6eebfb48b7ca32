//! Likes, comments and follows with one of their two lists written.

use super::*;

#[tokio::test]
async fn lists_written_by_the_feed_are_sound() {
    let store = people().await;
    append(&store, &user("ada"), Relation::Followers, item(5, "bob")).await;
    append(&store, &user("bob"), Relation::Following, item(5, "ada")).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(5, "follow", doc! { "user": "ada" }),
    )
    .await;
    for n in 10..30 {
        let post = post(&store, n).await;
        append(&store, &post, Relation::Likes, item(n + 100, "bob")).await;
        append(
            &store,
            &user("bob"),
            Relation::Activities,
            activity(n + 100, "like", about(n)),
        )
        .await;
        let mut comment = item(n + 200, "cem");
        comment.more = doc! { "text": "Yes." };
        append(&store, &post, Relation::Comments, comment).await;
        append(
            &store,
            &user("cem"),
            Relation::Activities,
            activity(n + 200, "comment", about(n)),
        )
        .await;
    }
    assert_eq!(findings(&store, false).await, []);
}

/// Interrupted after the first write of a follow, or before the last of an unfollow.
#[tokio::test]
async fn a_follow_with_only_its_first_write_is_finished() {
    let store = people().await;
    append(&store, &user("ada"), Relation::Followers, item(5, "bob")).await;
    let expected = [
        Violation::FollowingMissing {
            actor: "bob".to_owned(),
        },
        Violation::ActivityMissing {
            actor: "bob".to_owned(),
            what: "follow",
        },
    ];
    is_found_and_repaired(&store, &expected).await;
    let following = store
        .list(Relation::Following)
        .find(&user("bob"), &Key::By(handle("ada")))
        .await
        .unwrap();
    assert_eq!(
        following,
        Some(item(5, "ada")),
        "with the id and the time of the first write"
    );
    let id = Key::Id(Uuid::from_u128(5));
    let recorded = store
        .list(Relation::Activities)
        .find(&user("bob"), &id)
        .await
        .unwrap();
    assert_eq!(recorded, Some(activity(5, "follow", doc! { "user": "ada" })));
}

#[tokio::test]
async fn a_follow_missing_from_the_followers_is_withdrawn_with_its_activity() {
    let store = people().await;
    append(&store, &user("bob"), Relation::Following, item(5, "ada")).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(5, "follow", doc! { "user": "ada" }),
    )
    .await;
    let found = findings(&store, false).await;
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        findings(&store, true)
            .await
            .iter()
            .all(|found| found.outcome == Outcome::Repaired)
    );
    assert_eq!(findings(&store, false).await, []);
    assert!(!has(&store, &user("bob"), Relation::Following, Key::By(handle("ada"))).await);
    assert!(
        !has(
            &store,
            &user("bob"),
            Relation::Activities,
            Key::Id(Uuid::from_u128(5))
        )
        .await
    );
}

/// The note of what begins, and its end if nothing changed, go to disk with a later write or not at all.
#[tokio::test]
async fn a_like_syncs_once_for_each_of_its_lists() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = people_on(engine.clone()).await;
    let Topic::Post(post) = post(&store, 9).await else {
        unreachable!()
    };
    let like = async |id: u128| {
        let before = engine.counters().commits;
        let at = Timestamp::from_millis(20);
        let attempt = Attempt {
            id: Uuid::from_u128(id),
            at,
        };
        let item = Item::new(Uuid::from_u128(100 + id), handle("bob"), at);
        let added = store
            .reactions()
            .add(&Reaction::Like(post), item, attempt)
            .await
            .unwrap();
        (added.added, engine.counters().commits - before)
    };
    assert_eq!(like(1).await, (true, 2));
    assert!(!like(2).await.0, "it is there already");
    assert_eq!(findings(&store, false).await, []);
}

#[tokio::test]
async fn a_reaction_without_its_activity_is_reported() {
    for (relation, kind) in [
        (Relation::Likes, "like"),
        (Relation::Shares, "share"),
        (Relation::Comments, "comment"),
    ] {
        let store = people().await;
        let post = post(&store, 9).await;
        let mut item = item(20, "bob");
        if relation == Relation::Comments {
            item.more = doc! { "text": "Yes." };
        }
        append(&store, &post, relation, item).await;
        is_found_and_repaired(
            &store,
            &[Violation::ActivityMissing {
                actor: "bob".to_owned(),
                what: kind,
            }],
        )
        .await;
        let activities = store.list(Relation::Activities);
        let recorded = activities.newest_first(&user("bob"), None, 10).await.unwrap();
        let recorded = recorded
            .items
            .iter()
            .filter_map(Reaction::of)
            .map(|reaction| reaction.relation());
        assert_eq!(recorded.collect::<Vec<_>>(), [relation]);
    }
}

/// Before a repair writes the activity of a like, somebody takes the like back.
#[tokio::test]
async fn a_repair_writes_nothing_about_what_is_taken_back_meanwhile() {
    let store = people().await;
    let post = post(&store, 9).await;
    append(&store, &post, Relation::Likes, item(20, "bob")).await;
    let beside = Store::open(store.engine().clone(), store.settings().clone());
    let beside = beside.await.unwrap();
    let unlike = async move {
        let like = Reaction::Like(Uuid::from_u128(9).into());
        let bob = handle("bob");
        let removed = beside.reactions().remove(&bob, &like, attempt(30)).await;
        assert!(removed.unwrap().item.is_some());
    };
    let engine = once(store.engine().clone(), Step::Push, unlike);
    let overtaken = Store::open(engine, store.settings().clone()).await.unwrap();
    assert_eq!(findings(&overtaken, true).await.len(), 1);
    assert_eq!(findings(&store, false).await, []);
}

#[tokio::test]
async fn a_post_without_its_activity_is_reported() {
    let store = people().await;
    post(&store, 9).await;
    let id = Key::Id(Uuid::from_u128(9));
    store
        .list(Relation::Activities)
        .remove(&user("ada"), &id)
        .await
        .unwrap();
    is_found_and_repaired(
        &store,
        &[Violation::ActivityMissing {
            actor: "ada".to_owned(),
            what: "post",
        }],
    )
    .await;
    assert!(has(&store, &user("ada"), Relation::Activities, id).await);
}

#[tokio::test]
async fn an_activity_about_a_missing_like_is_removed() {
    let store = people().await;
    let post = post(&store, 9).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(20, "like", about(9)),
    )
    .await;
    let expected = Violation::ActivityUnfounded {
        what: "like",
        target: post.to_string(),
    };
    is_found_and_repaired(&store, &[expected]).await;
    assert!(
        !has(
            &store,
            &user("bob"),
            Relation::Activities,
            Key::Id(Uuid::from_u128(20))
        )
        .await
    );
}

/// When a post is deleted, the feed leaves other people's activities, so that is not a fault.
#[tokio::test]
async fn an_activity_about_a_deleted_post_is_a_notice_and_a_repair_removes_it() {
    let store = people().await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(20, "like", about(9)),
    )
    .await;
    let found = findings(&store, false).await;
    assert!(
        matches!(found[0].violation, Violation::TargetGone { .. }),
        "{found:#?}"
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Notice));
    assert_eq!(findings(&store, true).await[0].outcome, Outcome::Repaired);
    assert_eq!(findings(&store, false).await, []);
}

#[tokio::test]
async fn an_item_of_a_person_who_is_gone_is_a_notice_and_a_repair_removes_it() {
    let store = people().await;
    let post = post(&store, 9).await;
    append(&store, &user("ada"), Relation::Followers, item(5, "dan")).await;
    append(&store, &user("bob"), Relation::Following, item(6, "dan")).await;
    append(&store, &post, Relation::Likes, item(7, "dan")).await;
    append(&store, &post, Relation::Likes, item(8, "cem")).await;
    append(
        &store,
        &user("cem"),
        Relation::Activities,
        activity(8, "like", about(9)),
    )
    .await;
    let found = findings(&store, false).await;
    let gone = Violation::ActorGone {
        actor: "dan".to_owned(),
    };
    assert!(!found.is_empty());
    assert!(found.iter().all(|found| found.violation == gone), "{found:#?}");
    let repaired = findings(&store, true).await;
    assert!(
        repaired.iter().all(|found| found.outcome == Outcome::Repaired),
        "{repaired:#?}"
    );
    assert_eq!(findings(&store, false).await, []);
    let by = |name| Key::By(handle(name));
    assert!(!has(&store, &user("ada"), Relation::Followers, by("dan")).await);
    assert!(!has(&store, &user("bob"), Relation::Following, by("dan")).await);
    assert!(!has(&store, &post, Relation::Likes, by("dan")).await);
    assert!(has(&store, &post, Relation::Likes, by("cem")).await);
}

/// Left by an earlier follow. Bob follows Ada again just before a repair removes it.
#[tokio::test]
async fn a_follow_during_a_repair_stays() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let quiet = people_on(Arc::clone(&engine)).await;
    append(&quiet, &user("bob"), Relation::Following, item(5, "ada")).await;
    let store = quiet.clone();
    let follow = async move {
        let follow = Reaction::Follow(handle("ada"));
        let followed = store.reactions().add(&follow, item(20, "bob"), attempt(21)).await;
        assert!(followed.unwrap().added);
    };
    let engine = once(engine as Engine, Step::RemoveFromHead, follow);
    let store = Store::open(engine, quiet.settings().clone()).await.unwrap();
    findings(&store, true).await;
    let again = Key::Id(Uuid::from_u128(20));
    assert!(has(&quiet, &user("bob"), Relation::Following, again).await);
    assert_eq!(findings(&quiet, false).await, []);
}
