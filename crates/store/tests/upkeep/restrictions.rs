//! Mutes and blocks beside processes that die, departures, and very many of them.

use std::collections::HashSet;
use std::sync::Arc;

use bson::doc;
use checker::dying::Dying;
use document::{Error, Result, Update};
use embedded::Embedded;
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, Key};
use store::restrictions::Restriction::{self, Block, Mute};
use store::upkeep::{CheckOptions, Outcome, Violation, check};
use store::{Settings, Store};
use uuid::Uuid;

use super::timelines::{handle, join};

async fn people(names: &[&str]) -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let mut settings = Settings::default();
    for relation in [
        Relation::Hidden,
        Relation::Mutes,
        Relation::Muters,
        Relation::Blocks,
        Relation::Blockers,
    ] {
        settings.set_threshold(relation, 4).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    let store = Store::open(engine, settings).await.unwrap();
    for (name, born) in names.iter().zip(1..) {
        join(&store, name, born).await;
    }
    store
}

async fn add(store: &Store, what: Restriction, [actor, other]: [&str; 2], number: u128) -> Result<u64> {
    let at = Timestamp::from_millis(i64::try_from(number).unwrap());
    let fresh = (Uuid::from_u128(number), at);
    let (actor, other) = (handle(actor), handle(other));
    let added = store.restrictions().add(what, &actor, &other, fresh).await?;
    Ok(added.count)
}

async fn remove(store: &Store, what: Restriction, [actor, other]: [&str; 2]) -> Result<u64> {
    let (actor, other) = (handle(actor), handle(other));
    let removed = store.restrictions().remove(what, &actor, &other).await?;
    Ok(removed.count)
}

async fn listed(store: &Store, name: &str, relation: Relation) -> HashSet<String> {
    let list = store.list(relation);
    let stretch = list
        .newest_first(&Topic::User(handle(name)), None, 100)
        .await
        .unwrap();
    let named = stretch.items.into_iter().filter_map(|item| item.by);
    named.map(|by| by.to_string()).collect()
}

async fn problems(store: &Store, repair: bool) -> Vec<(Violation, Outcome)> {
    let options = CheckOptions {
        repair,
        ..CheckOptions::default()
    };
    let report = check(store, options, &|_, _| ()).await.unwrap();
    let found = report.findings.into_iter();
    found
        .map(|finding| (finding.violation, finding.outcome))
        .collect()
}

#[tokio::test]
async fn whatever_write_a_process_dies_at_a_second_try_finishes() {
    for what in [Mute, Block] {
        for adds in [true, false] {
            for writes in 0.. {
                let store = people(&["ada", "bob"]).await;
                if !adds {
                    add(&store, what, ["ada", "bob"], 5).await.unwrap();
                }
                let engine = Dying::of(store.engine().clone());
                let process = Store::open(engine.clone(), store.settings().clone())
                    .await
                    .unwrap();
                engine.dies_after(writes);
                let act = async |store: &Store, number| {
                    if adds {
                        add(store, what, ["ada", "bob"], number).await
                    } else {
                        remove(store, what, ["ada", "bob"]).await
                    }
                };
                let survived = act(&process, 6).await.is_ok();
                // What the other must not see is never forgotten.
                let (own, mirror) = (
                    what.own(),
                    if what == Mute {
                        Relation::Muters
                    } else {
                        Relation::Blockers
                    },
                );
                let (mine, theirs) = (
                    listed(&store, "ada", own).await,
                    listed(&store, "bob", mirror).await,
                );
                assert!(
                    mine.is_empty() || !theirs.is_empty(),
                    "after {writes} writes: {mine:?}, {theirs:?}"
                );
                assert_eq!(act(&store, 7).await.unwrap(), u64::from(adds));
                assert_eq!(listed(&store, "ada", own).await.len(), usize::from(adds));
                assert_eq!(listed(&store, "bob", mirror).await.len(), usize::from(adds));
                assert_eq!(problems(&store, false).await, [], "after {writes} writes");
                if survived {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_check_finds_a_list_that_lacks_what_the_other_has_and_mends_it() {
    let store = people(&["ada", "bob"]).await;
    add(&store, Mute, ["ada", "bob"], 5).await.unwrap();
    add(&store, Block, ["ada", "bob"], 6).await.unwrap();
    assert_eq!(problems(&store, false).await, []);
    let forget = async |name: &str, list: &str| {
        let nothing = doc! { "$set": { format!("{list}.head"): [], format!("{list}.count"): 0_i64 } };
        let one = Update::one(doc! { "_id": name }, nothing);
        store.engine().update("users", one).await.unwrap();
    };
    // The own list decides.
    forget("bob", "muters").await;
    forget("ada", "blocks").await;
    let found = problems(&store, false).await;
    let named: Vec<_> = found
        .iter()
        .map(|(violation, _)| match violation {
            Violation::MirrorMissing { other, list } => (other.as_str(), *list),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(named.len(), 2, "{found:?}");
    assert!(named.contains(&("bob", Relation::Muters)) && named.contains(&("ada", Relation::Blocks)));
    assert!(
        problems(&store, true)
            .await
            .iter()
            .all(|(_, outcome)| *outcome == Outcome::Repaired)
    );
    assert_eq!(problems(&store, false).await, []);
    assert_eq!(listed(&store, "bob", Relation::Muters).await.len(), 1);
    assert_eq!(listed(&store, "bob", Relation::Blockers).await.len(), 0);

    // A mirror that was lost gets the id of the own list when it is written again.
    forget("bob", "muters").await;
    assert_eq!(add(&store, Mute, ["ada", "bob"], 9).await.unwrap(), 1);
    assert_eq!(problems(&store, false).await, []);
    let item = |name: &'static str, relation| {
        let store = &store;
        async move {
            let list = store.list(relation);
            let stretch = list
                .newest_first(&Topic::User(handle(name)), None, 10)
                .await
                .unwrap();
            stretch.items[0].id
        }
    };
    assert_eq!(
        item("ada", Relation::Mutes).await,
        item("bob", Relation::Muters).await
    );
}

#[tokio::test]
async fn those_whom_a_reader_does_not_see_are_found_in_head_and_pages() {
    let names: Vec<String> = (0..30).map(|number| format!("person{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = people(&[&names[..], &["ada"]].concat()).await;
    for (name, number) in names.iter().zip(10..) {
        match number % 3 {
            0 => _ = add(&store, Mute, ["ada", name], number).await.unwrap(),
            1 => _ = add(&store, Block, ["ada", name], number).await.unwrap(),
            _ => _ = add(&store, Block, [name, "ada"], number).await.unwrap(),
        }
    }
    // Some are taken back, in pages as well.
    for name in &names[..6] {
        remove(&store, Mute, ["ada", name]).await.unwrap();
        remove(&store, Block, ["ada", name]).await.unwrap();
        remove(&store, Block, [name, "ada"]).await.unwrap();
    }
    let people: Vec<Handle> = names.iter().map(|name| handle(name)).collect();
    let restricted = store.restrictions().among(&handle("ada"), &people).await.unwrap();
    for (person, number) in people.iter().zip(10..) {
        let there = number >= 16;
        assert_eq!(
            restricted.muted.contains(person),
            there && number % 3 == 0,
            "{person}"
        );
        assert_eq!(
            restricted.blocked.contains(person),
            there && number % 3 == 1,
            "{person}"
        );
        assert_eq!(
            restricted.blockers.contains(person),
            there && number % 3 == 2,
            "{person}"
        );
        assert_eq!(restricted.hides(person), there);
        let back = store
            .restrictions()
            .among(person, [&handle("ada")])
            .await
            .unwrap();
        assert_eq!(back.hides(&handle("ada")), there && number % 3 != 0, "{person}");
    }
    assert_eq!(problems(&store, false).await, []);
}

#[tokio::test]
async fn hidden_posts_are_found_in_head_and_pages() {
    let store = people(&["ada"]).await;
    let ada = handle("ada");
    let posts: Vec<PostId> = (1..=20).map(|number| Uuid::from_u128(number).into()).collect();
    let list = store.list(Relation::Hidden);
    for (post, at) in posts.iter().zip(1..) {
        let item = Item {
            id: post.uuid(),
            by: None,
            at: Timestamp::from_millis(at),
            more: doc! {},
        };
        list.append(&Topic::User(ada.clone()), item).await.unwrap();
    }
    for post in &posts[..3] {
        let key = Key::Id(post.uuid());
        list.remove(&Topic::User(ada.clone()), &key).await.unwrap();
    }
    let wanted = [posts[0], posts[5], posts[19], Uuid::from_u128(99).into()];
    let restricted = store.restrictions().of_posts(&ada, [], wanted).await.unwrap();
    assert_eq!(restricted.hidden, HashSet::from([posts[5], posts[19]]));
    assert!(restricted.hides_post(posts[5], &ada) && !restricted.hides_post(posts[0], &ada));
}

#[tokio::test]
async fn somebody_who_is_gone_is_not_restricted() {
    let store = people(&["ada"]).await;
    for what in [Mute, Block] {
        let gone = add(&store, what, ["ada", "bob"], 5).await;
        assert!(matches!(gone, Err(Error::NoOwner(_))), "{gone:?}");
        let gone = add(&store, what, ["bob", "ada"], 6).await;
        assert!(matches!(gone, Err(Error::NoOwner(_))), "{gone:?}");
    }
    assert_eq!(problems(&store, false).await, []);
    for relation in [
        Relation::Mutes,
        Relation::Muters,
        Relation::Blocks,
        Relation::Blockers,
    ] {
        assert!(listed(&store, "ada", relation).await.is_empty());
    }
}
