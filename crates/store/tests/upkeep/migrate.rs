//! From unbounded arrays to head and pages: beside writers, interrupted anywhere, and repeated.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::support::{assert_sound, handle, like, like_at, post, small_store, walk};
use async_trait::async_trait;
use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Error, Find, FindAndModify, Index, Layer, Result, Update, Updated};
use model::{Handle, Relation, Topic};
use store::Store;
use store::overflow::{Key, Owner, PAGES, owner_collection, owner_id};
use store::upkeep::{CheckOptions, DetectOptions, Form, Migrated, check, detect, migrate};

const LIKES: Relation = Relation::Likes;
const FOLLOWERS: Relation = Relation::Followers;

async fn set(store: &Store, owner: &Owner, field: &str, value: impl Into<Bson>) {
    let update = Update::one(
        doc! { "_id": owner_id(owner) },
        doc! { "$set": { field: value.into() } },
    );
    let done = store
        .engine()
        .update(owner_collection(owner), update)
        .await
        .unwrap();
    assert_eq!(done.matched, 1);
}

async fn run(store: &Store) -> Migrated {
    migrate(store, false, &|done, total| assert!(done <= total))
        .await
        .unwrap()
}

async fn is_sound(store: &Store) {
    let options = CheckOptions {
        lists_only: true,
        pause: Duration::from_millis(1),
        ..CheckOptions::default()
    };
    let checked = check(store, options, &|_, _| ()).await.unwrap();
    assert!(checked.is_sound(), "{:#?}", checked.findings);
}

fn array(likes: impl DoubleEndedIterator<Item = u64>) -> Vec<Document> {
    likes.map(|n| like(n).to_document()).collect()
}

async fn actors(store: &Store, owner: &Owner, relation: Relation) -> Vec<Handle> {
    walk(store, owner, relation, 7)
        .await
        .into_iter()
        .map(|item| item.by.unwrap())
        .collect()
}

/// Ada, whose followers are plain handles.
pub async fn ada(store: &Store, followers: &[&str]) -> Owner {
    let document =
        doc! { "_id": "ada", "name": "Ada", "at": DateTime::from_millis(1_000), "followers": followers };
    store.engine().insert("users", vec![document]).await.unwrap();
    Topic::User("ada".parse().unwrap())
}

#[tokio::test]
async fn an_array_becomes_head_and_pages_and_a_second_run_changes_nothing() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    set(&store, &owner, "likes", array(1..=20)).await;
    let migrated = run(&store).await;
    assert_eq!(
        (migrated.lists, migrated.items, migrated.refused.len()),
        (1, 20, 0)
    );
    assert!(migrated.pages >= 5 && migrated.bytes > 0, "{migrated:?}");
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(
        actors(&store, &owner, LIKES).await,
        (1..=20).rev().map(handle).collect::<Vec<_>>()
    );
    is_sound(&store).await;
    let again = run(&store).await;
    assert_eq!((again.lists, again.made, again.pages), (0, 0, 0));
}

#[tokio::test]
async fn a_dry_run_predicts_the_run_and_changes_nothing() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let twice: Vec<Document> = array(1..=20)
        .into_iter()
        .chain([like_at(3, 99).to_document()])
        .collect();
    set(&store, &owner, "likes", twice).await;
    ada(&store, &["bob", "cem", "bob"]).await;
    let before = store.engine().find("posts", Find::default()).await.unwrap();
    let planned = migrate(&store, true, &|_, _| ()).await.unwrap();
    assert_eq!(
        store.engine().find("posts", Find::default()).await.unwrap(),
        before
    );
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
    assert_eq!(
        (planned.lists, planned.items, planned.handles, planned.duplicates),
        (2, 22, 3, 2)
    );
    assert_eq!(planned, run(&store).await);
}

#[tokio::test]
async fn a_missing_list_is_made_and_an_interrupted_adoption_is_finished() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let unset = Update::one(
        doc! { "_id": owner_id(&owner) },
        doc! { "$unset": { "shares": "" } },
    );
    store.engine().update("posts", unset).await.unwrap();
    let mut head = array(1..=20);
    head.reverse();
    for (field, value) in [
        ("head", Bson::from(head)),
        ("count", Bson::Int64(20)),
        ("adopting", true.into()),
    ] {
        set(&store, &owner, &format!("likes.{field}"), value).await;
    }
    let migrated = run(&store).await;
    assert_eq!((migrated.lists, migrated.made, migrated.items), (1, 1, 20));
    assert_sound(&store, &owner, LIKES).await;
    assert_sound(&store, &owner, Relation::Shares).await;
    is_sound(&store).await;
}

#[tokio::test]
async fn a_list_that_does_not_fit_is_refused_by_name_and_stops_no_other() {
    let store = small_store(5, 3).await;
    let (bad, good, worse) = (
        post(&store, 1).await,
        post(&store, 2).await,
        post(&store, 3).await,
    );
    let mut items: Vec<Bson> = array(1..=4).into_iter().map(Bson::from).collect();
    items.insert(2, doc! { "by": "ada" }.into());
    set(&store, &bad, "likes", items).await;
    set(&store, &good, "likes", array(1..=9)).await;
    set(&store, &worse, "comments", vec!["ada"]).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.lists, 1);
    let refused: Vec<(&str, &str)> = migrated
        .refused
        .iter()
        .map(|refusal| (refusal.owner.as_str(), refusal.why.as_str()))
        .collect();
    assert_eq!(refused.len(), 2);
    assert!(
        refused[0].0 == bad.to_string() && refused[0].1.contains("`likes.2`"),
        "{refused:?}"
    );
    assert!(
        refused[1].0 == worse.to_string() && refused[1].1.contains("plain handle"),
        "{refused:?}"
    );
    assert_sound(&store, &good, LIKES).await;
}

#[tokio::test]
async fn plain_handles_become_items_in_their_order_and_the_same_ones_each_time() {
    let names: Vec<String> = (0..40).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let store = small_store(5, 3).await;
        let owner = ada(&store, &names).await;
        let migrated = run(&store).await;
        assert_eq!(
            (migrated.handles, migrated.items, migrated.refused.len()),
            (40, 40, 0),
            "{migrated:?}"
        );
        assert_sound_without_incarnation(&store, &owner).await;
        let items = walk(&store, &owner, FOLLOWERS, 7).await;
        let by: Vec<String> = items
            .iter()
            .rev()
            .map(|item| item.by.clone().unwrap().to_string())
            .collect();
        assert_eq!(by, names, "who came first is the oldest");
        let find = Find::matching(doc! { "_id": "ada" });
        let ada = store.engine().find("users", find).await.unwrap().remove(0);
        assert!(!ada.contains_key("followersConversion"), "{ada}");
        store.list(FOLLOWERS).append(&owner, like_at(1, 5)).await.unwrap();
        assert_sound_without_incarnation(&store, &owner).await;
        seen.push(items);
    }
    assert_eq!(seen[0], seen[1]);
}

async fn assert_sound_without_incarnation(store: &Store, _owner: &Owner) {
    is_sound(store).await;
}

/// The old code pushes and pulls while its list is converted: every acknowledged change is in the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_that_old_code_pushes_and_pulls_meanwhile_are_neither_lost_nor_kept() {
    let store = small_store(20, 15).await;
    let names: Vec<String> = (0..600).map(|n| format!("fan{n}")).collect();
    let owner = ada(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            let (mut came, mut went) = (Vec::new(), Vec::new());
            for n in 0..200 {
                let new = format!("late{task}x{n}");
                let push = doc! { "$push": { "followers": &new } };
                let array = doc! { "_id": "ada" };
                match store
                    .engine()
                    .update("users", Update::one(array.clone(), push))
                    .await
                {
                    Ok(done) if done.modified == 1 => came.push(new),
                    _ => break,
                }
                if n % 5 == 0 {
                    let old = format!("fan{}", task * 100 + n / 5);
                    let pull = doc! { "$pull": { "followers": &old } };
                    match store.engine().update("users", Update::one(array, pull)).await {
                        Ok(done) if done.modified == 1 => went.push(old),
                        _ => break,
                    }
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            (came, went)
        });
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    let mut expected: BTreeSet<String> = names.into_iter().collect();
    let mut writes = 0;
    while let Some(done) = tasks.join_next().await {
        let (came, went) = done.unwrap();
        writes += came.len();
        expected.extend(came);
        expected.retain(|name| !went.contains(name));
    }
    assert!(writes > 0, "somebody wrote meanwhile");
    let found = walk(&store, &owner, FOLLOWERS, 50).await;
    let names: BTreeSet<String> = found
        .iter()
        .map(|item| item.by.clone().unwrap().to_string())
        .collect();
    assert_eq!(names.len(), found.len());
    assert_eq!(names, expected);
    is_sound(&store).await;
}

/// Almost 16 MB in one document, and fifty tasks that like at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_16_mb_is_migrated_while_fifty_tasks_append() {
    let store = Store::open(
        small_store(5, 3).await.engine().clone(),
        store::Settings::default(),
    )
    .await
    .unwrap();
    let owner = post(&store, 1).await;
    // 63 bytes per item, and its index in the array.
    let n = 241_000_u64;
    set(&store, &owner, "likes", array(1..=n)).await;
    let options = DetectOptions {
        threshold: None,
        bytes: 1 << 20,
        top: 3,
    };
    let outliers = detect(&store, options, &|_, _| ()).await.unwrap();
    assert_eq!((outliers[0].form, outliers[0].items), (Form::Unbounded, n));
    assert!(outliers[0].of_most > 99.0, "{outliers:?}");
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..50 {
        let (store, owner) = (store.clone(), owner.clone());
        tasks.spawn(async move {
            for k in 0..4 {
                let new = 1_000_000 + task * 10 + k;
                assert!(store.list(LIKES).append(&owner, like(new)).await.unwrap().added);
                // A second like changes nothing.
                let old = task * 1_000 + k + 1;
                assert!(
                    !store
                        .list(LIKES)
                        .append(&owner, like_at(old, 5_000_000))
                        .await
                        .unwrap()
                        .added
                );
            }
        });
    }
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let items = walk(&store, &owner, LIKES, 1_000).await;
    let names: BTreeSet<&str> = items
        .iter()
        .map(|item| item.by.as_ref().unwrap().as_str())
        .collect();
    assert_eq!((items.len() as u64, names.len() as u64), (n + 200, n + 200));
    is_sound(&store).await;
}

/// Old code pushes items to the raw array until it is refused: acknowledged items are in the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_old_code_pushed_before_it_was_refused_is_kept() {
    let store = small_store(50, 40).await;
    let owner = post(&store, 1).await;
    set(&store, &owner, "likes", array(1..=2_000)).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4_u64 {
        let (store, owner) = (store.clone(), owner.clone());
        tasks.spawn(async move {
            for n in 0_u64.. {
                let new = like(10_000 + task * 1_000 + n);
                let push = doc! { "$push": { "likes": new.to_document() } };
                let update = Update::one(doc! { "_id": owner_id(&owner) }, push);
                match store.engine().update("posts", update).await {
                    Ok(_) => {}
                    Err(Error::Refused { .. }) => return (task, n),
                    Err(error) => panic!("{error}"),
                }
            }
            unreachable!()
        });
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    let mut pushed = 0;
    while let Some(done) = tasks.join_next().await {
        let (task, n) = done.unwrap();
        pushed += n;
        for k in 0..n {
            let key = Key::By(handle(10_000 + task * 1_000 + k));
            assert!(
                store.list(LIKES).find(&owner, &key).await.unwrap().is_some(),
                "{key:?}"
            );
        }
    }
    assert!(pushed > 0);
    assert_eq!(
        walk(&store, &owner, LIKES, 100).await.len() as u64,
        2_000 + pushed
    );
    is_sound(&store).await;
}

/// Lets this many writes through and fails every one after them, like a process that was killed.
struct Dying {
    inner: Engine,
    writes: AtomicI64,
}

impl Dying {
    fn write(&self) -> Result<()> {
        if self.writes.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        Err(Error::Unavailable("the process is dead".to_owned()))
    }
}

#[async_trait]
impl Layer for Dying {
    fn below(&self) -> &Engine {
        &self.inner
    }

    async fn aggregate(&self, _: &str, _: Vec<Document>) -> Result<Vec<Document>> {
        Err(Error::refused(59, "no such command: 'aggregate'"))
    }
    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        // One after the other, so that a crash leaves only some of them.
        for document in documents {
            self.write()?;
            self.inner.insert(collection, vec![document]).await?;
        }
        Ok(())
    }
    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.write()?;
        self.inner.update(collection, update).await
    }
    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.write()?;
        self.inner.find_and_modify(collection, change).await
    }
    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.write()?;
        self.inner.delete(collection, filter, many).await
    }
    async fn create_index(&self, _: &str, _: Index) -> Result<()> {
        Ok(())
    }
}

async fn dying(store: &Store, writes: i64) -> Store {
    let engine = Dying {
        inner: store.engine().clone(),
        writes: AtomicI64::new(writes),
    };
    Store::open(Arc::new(engine), store.settings().clone())
        .await
        .unwrap()
}

/// Killed before every single write, and run again.
#[tokio::test]
async fn a_migration_that_crashes_at_any_write_has_the_same_result_when_repeated() {
    let names: Vec<String> = (0..17).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut results = Vec::new();
    for writes in 0.. {
        let store = small_store(5, 3).await;
        let owner = post(&store, 1).await;
        set(&store, &owner, "likes", array(1..=20)).await;
        let ada = ada(&store, &names).await;
        let died = migrate(&dying(&store, writes).await, false, &|_, _| ()).await;
        // A like in between, whatever the state.
        store.list(LIKES).append(&owner, like(77)).await.unwrap();
        let migrated = run(&store).await;
        assert_eq!(migrated.refused, [], "after {writes} writes");
        assert_sound(&store, &owner, LIKES).await;
        is_sound(&store).await;
        results.push((
            walk(&store, &owner, LIKES, 9).await,
            walk(&store, &ada, FOLLOWERS, 9).await,
        ));
        if died.is_ok() {
            break;
        }
    }
    assert!(results.len() > 15, "{}", results.len());
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!((results[0].0.len(), results[0].1.len()), (21, 17));
}

/// An interrupted repair is continued too.
#[tokio::test]
async fn a_repair_that_crashes_at_any_write_leaves_a_sound_store_when_repeated() {
    for writes in 0.. {
        let store = small_store(5, 3).await;
        let owner = post(&store, 1).await;
        for n in 1..=20 {
            store.list(LIKES).append(&owner, like(n)).await.unwrap();
        }
        let items = [like(6), like(4), like(4), like(2)]
            .map(|item| item.to_document())
            .to_vec();
        let page = Update::one(doc! { "page": 1_i64 }, doc! { "$set": { "items": items } });
        store.engine().update(PAGES, page).await.unwrap();
        set(&store, &owner, "likes.hasOverflow", false).await;
        set(
            &store,
            &owner,
            "likes.pending",
            vec![doc! { "page": 0_i64, "rev": 0_i64, "id": like(1).to_document().get("id").unwrap() }],
        )
        .await;
        let options = CheckOptions {
            repair: true,
            lists_only: true,
            pause: Duration::from_millis(1),
        };
        let died = check(&dying(&store, writes).await, options, &|_, _| ()).await;
        let checked = check(&store, options, &|_, _| ()).await.unwrap();
        assert!(
            checked.is_sound(),
            "after {writes} writes: {:#?}",
            checked.findings
        );
        is_sound(&store).await;
        assert_sound(&store, &owner, LIKES).await;
        if died.is_ok() {
            assert!(writes > 4, "{writes}");
            return;
        }
    }
}

#[tokio::test]
async fn outliers_are_the_same_with_and_without_aggregation() {
    let store = small_store(5, 3).await;
    for n in 1..=4 {
        let owner = post(&store, u128::from(n)).await;
        for k in 0..n * 4 {
            store.list(LIKES).append(&owner, like(k + 1)).await.unwrap();
        }
    }
    let unbounded = post(&store, 9).await;
    set(&store, &unbounded, "likes", array(1..=40)).await;
    ada(&store, &["bob"; 7]).await;
    let options = DetectOptions {
        threshold: None,
        bytes: 1 << 20,
        top: 3,
    };
    let found = detect(&store, options, &|_, _| ()).await.unwrap();
    let summary: Vec<_> = found
        .iter()
        .map(|found| (found.relation, found.form, found.items, found.pages > 0))
        .collect();
    assert_eq!(
        summary,
        [
            (FOLLOWERS, Form::Unbounded, 7, false),
            (LIKES, Form::Unbounded, 40, false),
            (LIKES, Form::Overflowed, 16, true),
            (LIKES, Form::Overflowed, 12, true),
        ]
    );
    assert!(found[2].page_bytes > 500 && found[2].owner_bytes > 300);
    assert_eq!(
        detect(&dying(&store, 0).await, options, &|_, _| ())
            .await
            .unwrap(),
        found
    );
    let by_bytes = DetectOptions {
        threshold: Some(1_000),
        bytes: found[1].owner_bytes,
        top: 3,
    };
    let large = detect(&store, by_bytes, &|_, _| ()).await.unwrap();
    assert!(
        large.iter().all(|found| found.owner == unbounded.to_string()) && large.len() == 1,
        "{large:?}"
    );
}
