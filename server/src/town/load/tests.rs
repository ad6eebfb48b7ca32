use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use document::{Find, Update};
use embedded::Embedded;
use model::Report;
use store::overflow;
use store::reports::{self, StoredReport};
use store::upkeep::{CheckOptions, check};

use super::*;
use crate::town::tests::{NOW, small};
use crate::town::{Patience, claim, claim_again, is_loaded};

/// For tests that wait for other tasks.
const SHORT: Patience = Patience {
    beat: Duration::from_millis(2),
    looks: 250,
};

async fn store() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    Store::open(engine, Settings::default()).await.unwrap()
}

fn recipe() -> Recipe {
    Recipe {
        sizes: small(),
        seed: 1,
        now: NOW,
    }
}

fn town() -> Town {
    recipe().make()
}

async fn fill(store: &Store, town: &Town) -> document::Result<()> {
    match claim(store, Uuid::from_u128(1), Patience::ALONE).await? {
        Some(claim) => load(&claim, town, &recipe(), &|_, _| ()).await,
        None => Ok(()),
    }
}

/// As if the loader had died just before the end.
async fn undo(store: &Store) {
    let undone = doc! { "$set": { "state": "loading", "claim": "somebody", "beat": 7_i64 } };
    let marker = Update::one(doc! { "_id": "town" }, undone);
    store.engine().update("meta", marker).await.unwrap();
}

async fn wait_for_heartbeats(store: &Store, times: u32) {
    let beats = doc! { "_id": "town", "beat": { "$gte": times } };
    while store.engine().count("meta", beats.clone()).await.unwrap() == 0 {
        tokio::time::sleep(SHORT.beat).await;
    }
}

async fn count(store: &Store, collection: &str) -> u64 {
    store.engine().count(collection, Document::new()).await.unwrap()
}

#[tokio::test]
async fn a_loaded_town_has_its_people_posts_and_exact_lists() {
    let (store, town) = (store().await, town());
    let reported = AtomicU64::new(0);
    let claim = claim(&store, Uuid::nil(), Patience::ALONE)
        .await
        .unwrap()
        .unwrap();
    load(&claim, &town, &recipe(), &|done, _| {
        reported.store(done, Ordering::Relaxed);
    })
    .await
    .unwrap();
    assert!(is_loaded(&store).await.unwrap());
    assert_eq!(
        reported.into_inner(),
        (town.people.len() + town.posts.len()) as u64
    );
    assert_eq!(count(&store, people::COLLECTION).await, town.people.len() as u64);
    assert_eq!(count(&store, posts::COLLECTION).await, 120);
    let viral = Topic::Post(town.posts[town.viral].id.into());
    let overflow = store.overflow(&viral).await.unwrap();
    assert_eq!(overflow[&Relation::Likes].count, 700);
    assert_eq!(overflow[&Relation::Comments].count, 90);
    let solveig = store
        .people()
        .summary(&"solveig".parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(solveig.followers.count, 400);
    let win = store
        .people()
        .summary(&"win".parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(win.activities, 350);
}

#[tokio::test]
async fn the_shares_of_a_town_are_on_the_pages_of_those_who_share() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    assert!(!town.shares.is_empty());
    assert_eq!(count(&store, "sharedPosts").await, town.shares.len() as u64);
    let share = &town.shares[0];
    let by: Handle = town.people[share.person].handle.parse().unwrap();
    let listed = store.shared_posts().list(&[by], None, 1_000).await.unwrap();
    let post = PostId::from(town.posts[share.post].id);
    assert!(listed.iter().any(|listed| listed.id == post), "{listed:?}");
    let checked = check(&store, CheckOptions::default(), &|_, _| ()).await.unwrap();
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
}

#[tokio::test]
async fn an_interrupted_load_is_not_a_town_and_is_done_over() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    undo(&store).await;
    store
        .engine()
        .delete(posts::COLLECTION, Document::new(), true)
        .await
        .unwrap();
    assert!(!is_loaded(&store).await.unwrap());
    let pages = count(&store, overflow::PAGES).await;
    fill(&store, &town).await.unwrap();
    assert!(is_loaded(&store).await.unwrap());
    assert_eq!(count(&store, posts::COLLECTION).await, 120);
    assert_eq!(count(&store, overflow::PAGES).await, pages);
    assert_eq!(count(&store, "sharedPosts").await, town.shares.len() as u64);
}

#[tokio::test]
async fn a_store_with_other_people_in_it_is_left_alone() {
    let (store, town) = (store().await, town());
    let somebody = User {
        person: Person {
            handle: "ada".parse().unwrap(),
            name: "Ada".parse().unwrap(),
        },
        bio: String::new(),
        password: None,
        at: model::Timestamp::from_millis(0),
    };
    store.people().insert(&somebody, Uuid::nil()).await.unwrap();
    let refused = fill(&store, &town).await.unwrap_err();
    assert!(matches!(&refused, Error::Refused { .. }), "{refused}");
    assert_eq!(count(&store, people::COLLECTION).await, 1);
    assert!(!is_loaded(&store).await.unwrap());
}

#[tokio::test]
async fn one_of_several_starting_servers_loads_and_the_others_wait() {
    let (store, town) = (store().await, Arc::new(town()));
    let servers = (1..=4).map(|number| {
        let (store, town) = (store.clone(), Arc::clone(&town));
        tokio::spawn(async move {
            let claim = claim(&store, Uuid::from_u128(number), SHORT).await.unwrap();
            match &claim {
                Some(claim) => load(claim, &town, &recipe(), &|_, _| ()).await.map(|()| true),
                None => Ok(false),
            }
        })
    });
    let mut loaded = 0;
    for server in servers.collect::<Vec<_>>() {
        loaded += u32::from(server.await.unwrap().unwrap());
        assert!(is_loaded(&store).await.unwrap());
    }
    assert_eq!(loaded, 1);
    assert_eq!(count(&store, posts::COLLECTION).await, 120);
}

#[tokio::test]
async fn a_live_loader_is_waited_for_and_one_taken_for_dead_stops() {
    let (store, town) = (store().await, town());
    let slow = claim(&store, Uuid::from_u128(1), SHORT).await.unwrap().unwrap();
    let other = tokio::spawn({
        let store = store.clone();
        async move { claim(&store, Uuid::from_u128(2), SHORT).await.unwrap().is_some() }
    });
    tokio::select! {
        _ = slow.beat() => panic!("it was taken for dead"),
        () = wait_for_heartbeats(&store, 2 * SHORT.looks) => {}
    }
    assert!(!other.is_finished());
    // From here on there is no heartbeat.
    assert!(other.await.unwrap(), "it takes over");
    assert!(matches!(slow.beat().await, Error::Contended(_)));
    assert!(matches!(
        slow.complete(vec![], recipe().to_document()).await,
        Err(Error::Contended(_))
    ));
    let next = claim(&store, Uuid::from_u128(3), Patience::ALONE)
        .await
        .unwrap()
        .unwrap();
    load(&next, &town, &recipe(), &|_, _| ()).await.unwrap();
    assert!(is_loaded(&store).await.unwrap());
    assert!(claim(&store, Uuid::from_u128(4), SHORT).await.unwrap().is_none());
}

#[tokio::test]
async fn people_who_signed_up_beside_half_a_town_are_not_cleared_away() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    undo(&store).await;
    let password = doc! { "$set": { "password": "$argon2id$" } };
    let member = Update::one(doc! { "_id": "win" }, password);
    store.engine().update(people::COLLECTION, member).await.unwrap();
    let people_before = count(&store, people::COLLECTION).await;
    let refused = fill(&store, &town).await.unwrap_err();
    assert!(matches!(&refused, Error::Refused { .. }), "{refused}");
    assert_eq!(count(&store, people::COLLECTION).await, people_before);
}

/// Everything in the town, in an order that does not depend on how it was made.
async fn everything(store: &Store) -> Vec<Document> {
    let mut all = Vec::new();
    for collection in [
        people::COLLECTION,
        posts::COLLECTION,
        overflow::PAGES,
        reports::COLLECTION,
        "meta",
    ] {
        let find = Find::default().sort(doc! { "_id": 1 });
        all.extend(store.engine().find(collection, find).await.unwrap());
    }
    all
}

#[tokio::test]
async fn a_reset_town_is_the_same_to_the_last_like() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    let before = everything(&store).await;
    store
        .posts()
        .delete(town.posts[town.viral].id.into())
        .await
        .unwrap();
    let member = User {
        person: Person {
            handle: "ada".parse().unwrap(),
            name: "Ada".parse().unwrap(),
        },
        bio: String::new(),
        password: Some("$argon2id$".to_owned()),
        at: model::Timestamp::from_millis(0),
    };
    store.people().insert(&member, Uuid::nil()).await.unwrap();
    let report = StoredReport {
        by: "ada".parse().unwrap(),
        about: "solveig".parse().unwrap(),
        report: Report {
            target: "user:solveig".parse().unwrap(),
            text: "Rude".parse().unwrap(),
            at: model::Timestamp::from_millis(0),
        },
    };
    store.reports().add(report).await.unwrap();
    let (claim, kept) = claim_again(&store, Uuid::from_u128(2)).await.unwrap();
    assert_eq!(kept, recipe());
    load(&claim, &kept.make(), &kept, &|_, _| ()).await.unwrap();
    assert_eq!(everything(&store).await, before);
}

#[tokio::test]
async fn a_town_whose_reset_was_interrupted_is_loaded_at_the_next_start() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    let password = doc! { "$set": { "password": "$argon2id$" } };
    let member = Update::one(doc! { "_id": "win" }, password);
    store.engine().update(people::COLLECTION, member).await.unwrap();
    // It dies right after it recorded what it is about to do.
    store::town::mark_for_reload(&store, Uuid::from_u128(2))
        .await
        .unwrap();
    fill(&store, &town).await.unwrap();
    assert!(is_loaded(&store).await.unwrap());
    let member = store
        .people()
        .get(&"win".parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(member.password, None);
}

/// The notifications of somebody, the latest first.
async fn notifications_of(store: &Store, handle: &Handle) -> Vec<Item> {
    let list = store.list(Relation::Notifications);
    let owner = Topic::User(handle.clone());
    let stretch = list.newest_first(&owner, None, 1_000).await.unwrap();
    stretch.items
}

/// A like of each post that its author does not know of yet, and of one that they do, is told as the feed tells it.
#[tokio::test]
async fn people_were_told_of_what_happened_as_if_it_had_just_happened() {
    let (store, town) = (store().await, town());
    fill(&store, &town).await.unwrap();
    let author: Handle = town.people[town.posts[town.viral].author].handle.parse().unwrap();
    let (read, unread) = store.notifications().read(&author).await.unwrap().unwrap();
    let before = notifications_of(&store, &author).await;
    assert_eq!(before.len() as u64, u64::try_from(read.count).unwrap() + unread);
    let later: Vec<&Item> = before.iter().filter(|item| item.at > read.at).collect();
    assert_eq!(later.len() as u64, unread, "what is unread is the latest");
    let about = |item: &Item| item.more.clone();
    let distinct: std::collections::HashSet<String> =
        later.iter().map(|item| about(item).to_string()).collect();
    assert_eq!(distinct.len(), later.len(), "a post is told once of each kind");

    let newcomer: Handle = "ada".parse().unwrap();
    let member = User {
        person: Person {
            handle: newcomer.clone(),
            name: "Ada".parse().unwrap(),
        },
        bio: String::new(),
        password: None,
        at: NOW,
    };
    store.people().insert(&member, Uuid::nil()).await.unwrap();
    let own = town
        .posts
        .iter()
        .filter(|post| town.people[post.author].handle == author.as_str());
    for (post, number) in own.zip(1..) {
        let id = PostId::from(post.id);
        let liked = doc! { "kind": "like", "post": uuid_bson(post.id) };
        let known = later.iter().any(|item| item.more == liked);
        let told = notifications_of(&store, &author).await.len();
        let attempt = store::reactions::Attempt {
            id: Uuid::from_u128(number),
            at: NOW,
        };
        let item = Item::new(attempt.id, newcomer.clone(), NOW);
        store
            .reactions()
            .add(&Reaction::Like(id), item, attempt)
            .await
            .unwrap();
        store.notifications().tell(&Topic::Post(id)).await.unwrap();
        let added = notifications_of(&store, &author).await.len() - told;
        assert_eq!(added, usize::from(!known), "post {number}");
    }
    let options = store::upkeep::CheckOptions::default();
    let report = store::upkeep::check(&store, options, &|_, _| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
