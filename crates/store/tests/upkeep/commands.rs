//! The upkeep of many owners takes few commands, and finds the same as checking each of them alone.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::time::Duration;

use bson::doc;
use document::{Find, Update};
use model::{Relation, Topic};
use store::Store;
use store::overflow::{Key, Owner, PAGES, owner_collection, owner_id};
use store::upkeep::{
    CheckOptions, CheckReport, Defect, DetectOptions, MigrationReport, Outcome, Violation, check, detect,
    migrate,
};

use crate::town::{Counting, PEOPLE, POPULAR, POSTS, person, post, town};

const OWNERS: u64 = PEOPLE + POSTS;

async fn checked(store: &Store, repair: bool) -> CheckReport {
    let options = CheckOptions {
        repair,
        lists_only: false,
        pause: Duration::from_millis(1),
    };
    check(store, options, &|_, _| ()).await.unwrap()
}

async fn change(store: &Store, owner: &Owner, change: bson::Document) {
    let update = Update::one(doc! { "_id": owner_id(owner) }, change);
    let done = store
        .engine()
        .update(owner_collection(owner), update)
        .await
        .unwrap();
    assert_eq!(done.modified, 1);
}

/// The oldest item of a list, which is in its first page.
async fn oldest(store: &Store, owner: &Owner, relation: Relation) -> store::overflow::Item {
    let list = store.list(relation);
    let mut stretch = list.oldest_first(owner, None, 1).await.unwrap();
    stretch.items.remove(0)
}

#[tokio::test]
async fn a_check_of_many_owners_sends_few_commands() {
    let store = town().await;
    let items: u64 = 14 * PEOPLE * 3 + POSTS * 9 + (POSTS / POPULAR) * 57 * 2;
    let (counted, counting) = Counting::over(&store).await;
    let checked = checked(&counted, false).await;
    assert_eq!(checked.findings, []);
    assert_eq!((checked.owners, checked.items), (OWNERS, items));
    assert!(checked.pages > OWNERS, "{} pages", checked.pages);
    let commands = counting.commands();
    assert!(commands <= OWNERS / 5, "{commands} commands for {OWNERS} owners");
}

/// Expected or actual findings: owner, relation and violation.
#[derive(Debug, Default, PartialEq)]
struct Faults(BTreeSet<(String, Option<Relation>, String)>);

impl Faults {
    fn add(&mut self, owner: &Owner, relation: Relation, violation: &dyn Display) {
        let new = self
            .0
            .insert((owner.to_string(), Some(relation), violation.to_string()));
        assert!(new, "{owner} {relation}: {violation} twice");
    }
}

fn popular(number: u64) -> Owner {
    post(number * POPULAR)
}

const LIKES: Relation = Relation::Likes;

/// Lists and pages that contradict themselves.
async fn break_numbers(store: &Store, expected: &mut Faults) {
    change(store, &popular(1), doc! { "$inc": { "likes.count": 2_i64 } }).await;
    let (said, reachable) = (62, 60);
    expected.add(&popular(1), LIKES, &Defect::Count { said, reachable });

    change(
        store,
        &person(20),
        doc! { "$set": { "followers.hasOverflow": false } },
    )
    .await;
    let said = "false".to_owned();
    expected.add(
        &person(20),
        Relation::Followers,
        &Defect::OverflowFlag { said, pages: 1 },
    );

    let page = doc! { "owner": owner_id(&popular(2)), "relation": "likes", "page": 3_i64 };
    let update = Update::one(page, doc! { "$set": { "count": 5_i64 } });
    store.engine().update(PAGES, update).await.unwrap();
    let (page, said, held) = (3, 5, 8);
    expected.add(&popular(2), LIKES, &Defect::PageCount { page, said, held });
}

/// Likes without their activities, and an activity without its like; in heads and in pages.
async fn break_likes(store: &Store, expected: &mut Faults) {
    // A like in the head of a post and one in a page, both without their activities, which are in pages.
    let like = oldest(store, &popular(4), LIKES).await;
    let short = oldest(store, &post(1), LIKES).await;
    for (owner, like) in [(popular(4), like), (post(1), short)] {
        let actor = like.by.unwrap();
        let activities = store.list(Relation::Activities);
        let id = Key::Id(like.id);
        activities.remove(&Topic::User(actor.clone()), &id).await.unwrap();
        let (actor, what) = (actor.to_string(), "like");
        expected.add(&owner, LIKES, &Violation::ActivityMissing { actor, what });
    }

    // An activity about a like that is in no page any more.
    let like = oldest(store, &popular(5), LIKES).await;
    let actor = like.by.unwrap();
    let by = Key::By(actor.clone());
    store.list(LIKES).remove(&popular(5), &by).await.unwrap();
    let (what, target) = ("like", popular(5).to_string());
    expected.add(
        &Topic::User(actor),
        Relation::Activities,
        &Violation::ActivityUnfounded { what, target },
    );
}

/// A follow that only the follower has, and one that only the followed person has.
async fn break_follows(store: &Store, expected: &mut Faults) {
    let (fan, star) = (person(30), person(31));
    let (Topic::User(from), Topic::User(to)) = (&fan, &star) else {
        unreachable!("both are people")
    };
    let by = Key::By(from.clone());
    store.list(Relation::Followers).remove(&star, &by).await.unwrap();
    let followed = to.to_string();
    expected.add(
        &fan,
        Relation::Following,
        &Violation::FollowerMissing { followed },
    );
    let (what, target) = ("follow", Topic::User(to.clone()).to_string());
    expected.add(
        &fan,
        Relation::Activities,
        &Violation::ActivityUnfounded { what, target },
    );
    let (fan, star) = (person(40), person(41));
    let (Topic::User(from), Topic::User(to)) = (&fan, &star) else {
        unreachable!("both are people")
    };
    let by = Key::By(to.clone());
    store.list(Relation::Following).remove(&fan, &by).await.unwrap();
    let actor = from.to_string();
    expected.add(&star, Relation::Followers, &Violation::FollowingMissing { actor });
}

/// A missing list, one that is an array, and a page that belongs to no list.
async fn leave_strays(store: &Store, expected: &mut Faults) {
    change(store, &post(2), doc! { "$unset": { "shares": "" } }).await;
    expected.add(&post(2), Relation::Shares, &Violation::from(Defect::NoList));
    change(store, &post(3), doc! { "$set": { "shares": [] } }).await;
    expected.add(
        &post(3),
        Relation::Shares,
        &Violation::from(Defect::Unbounded { items: 0 }),
    );
    let find = Find::matching(doc! { "_id": owner_id(&post(4)) });
    let born = store.engine().find("posts", find).await.unwrap()[0]
        .get("born")
        .cloned();
    let stray = doc! {
        "_id": "left behind", "owner": owner_id(&post(4)), "relation": "likes", "born": born,
        "page": 0_i64, "rev": 0_i64, "count": 0_i64, "items": [],
    };
    store.engine().insert(PAGES, vec![stray]).await.unwrap();
    expected.add(&post(4), LIKES, &Defect::UncommittedPage { page: 0 });
}

/// One fault of each kind, each in a list among hundreds of sound ones.
#[tokio::test]
async fn every_fault_among_many_sound_lists_is_found_and_nothing_else() {
    let store = town().await;
    let mut expected = Faults::default();
    break_numbers(&store, &mut expected).await;
    break_likes(&store, &mut expected).await;
    break_follows(&store, &mut expected).await;
    leave_strays(&store, &mut expected).await;

    let mut found = Faults::default();
    for finding in checked(&store, false).await.findings {
        let owner = finding.owner.parse().unwrap();
        found.add(&owner, finding.relation.unwrap(), &finding.violation);
    }
    assert_eq!(found, expected);

    let repaired = checked(&store, true).await;
    let unbounded =
        |what: &Violation| matches!(what, Violation::List(Defect::NoList | Defect::Unbounded { .. }));
    for finding in &repaired.findings {
        let repaired = finding.outcome == Outcome::Repaired;
        assert_eq!(repaired, !unbounded(&finding.violation), "{finding:?}");
    }
    let left = checked(&store, false).await.findings;
    assert!(left.iter().all(|left| unbounded(&left.violation)), "{left:#?}");
}

/// The feed keeps people's activities about a post when its author deletes it.
#[tokio::test]
async fn many_activities_about_deleted_posts_cost_few_commands() {
    let store = town().await;
    for number in (0..POSTS).filter(|number| number % POPULAR != 0) {
        let Topic::Post(id) = post(number) else {
            unreachable!("it is a post")
        };
        store.posts().delete(id).await.unwrap();
    }
    let (counted, counting) = Counting::over(&store).await;
    let found = checked(&counted, false).await.findings;
    let gone = |what: &Violation| matches!(what, Violation::TargetGone { .. });
    assert!(found.iter().all(|finding| gone(&finding.violation)), "{found:#?}");
    // For each post its publication, three likes and a comment.
    assert_eq!(found.len() as u64, (POSTS - POSTS / POPULAR) * 5);
    let commands = counting.commands();
    assert!(commands <= OWNERS / 5, "{commands} commands for {OWNERS} owners");
}

/// A list that cannot be read is reported once, and the others are still compared.
#[tokio::test]
async fn a_malformed_list_stops_no_comparison() {
    let store = town().await;
    change(&store, &post(POPULAR), doc! { "$set": { "likes.pages": "many" } }).await;
    let found = checked(&store, false).await.findings;
    assert!(
        matches!(&found[..], [one] if matches!(one.violation, Violation::List(Defect::Malformed { .. })) && one.owner == post(POPULAR).to_string()),
        "{found:#?}"
    );
}

/// Whatever happens between two commands: what is no longer true at the second look is not a finding.
#[tokio::test]
async fn a_check_beside_people_who_like_and_unlike_finds_nothing() {
    let store = town().await;
    let (busy, counting) = Counting::over(&store).await;
    counting.begin_traffic(store.clone());
    assert_eq!(checked(&busy, false).await.findings, []);
    assert_eq!(checked(&busy, true).await.findings, []);
    assert_eq!(checked(&store, false).await.findings, []);
}

#[tokio::test]
async fn many_outliers_are_measured_with_few_commands() {
    let store = town().await;
    let options = DetectOptions {
        threshold: None,
        bytes: 1_048_576,
        top: 1_000,
    };
    let (counted, counting) = Counting::over(&store).await;
    let found = detect(&counted, options, &|_, _| ()).await.unwrap();
    assert_eq!(found.len() as u64, 3 * PEOPLE + POSTS / POPULAR);
    assert_eq!(
        counting.commands(),
        Relation::ALL.len() as u64 + 4,
        "one for each relation, and one more for each of the four that have outliers"
    );
    let bytes: u64 = found.iter().map(|outlier| outlier.page_bytes).sum();
    let stored = store.engine().find(PAGES, Find::default()).await.unwrap();
    let bytes_of = |page| bson::RawDocumentBuf::try_from(page).unwrap().as_bytes().len();
    let stored: usize = stored.iter().map(bytes_of).sum();
    assert_eq!(bytes, stored as u64, "each page is one outlier's");
}

#[tokio::test]
async fn a_dry_run_over_many_lists_sends_few_commands_and_predicts_the_migration() {
    let store = town().await;
    let every = |likes: bson::Document| document::Update {
        many: true,
        ..Update::one(doc! {}, likes)
    };
    let handles: Vec<String> = (0..25).map(|n| format!("actor{n}")).collect();
    for change in [
        doc! { "$unset": { "comments": "" } },
        doc! { "$set": { "shares": handles } },
    ] {
        store.engine().update("posts", every(change)).await.unwrap();
    }
    let (counted, counting) = Counting::over(&store).await;
    let planned = migrate(&counted, true, &|_, _| ()).await.unwrap();
    let commands = counting.commands();
    let expected = MigrationReport {
        owners: OWNERS,
        lists: POSTS,
        made: POSTS,
        items: POSTS * 25,
        handles: POSTS * 25,
        pages: POSTS * 2,
        bytes: planned.bytes,
        ..MigrationReport::default()
    };
    assert_eq!(planned, expected);
    assert!(commands <= OWNERS / 5, "{commands} commands for {OWNERS} owners");
}
