//! Arrays of code that knows nothing of lists, converted while that code goes on pushing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bson::{Bson, Document, doc};
use document::{Engine, Find, Update};
use embedded::Embedded;
use outlier::check::{Options, check};
use outlier::describe::Description;
use outlier::{Item, Limits, ListSpec, Order, OrderBy, Owner, Restored, plain};

fn description(key: Option<&'static str>) -> Description {
    Description {
        spec: ListSpec {
            owners: "devices".into(),
            path: "state.readings".into(),
            pages: "pages".into(),
            key: key.map(Into::into),
            order: Order {
                at: plain::AT.into(),
                by: OrderBy::Date,
                id: plain::ID.into(),
            },
            limits: Limits {
                threshold: 5,
                page_size: 4,
            },
            head_bytes: None,
            largest_item: 300,
            read: Ok,
        },
        ids: "string",
        undoing: false,
    }
}

fn reading(nth: usize) -> Bson {
    let nth = i32::try_from(nth).unwrap();
    match nth % 4 {
        0 => doc! { "n": nth, "price": "$n", "$set": 1 }.into(),
        1 => nth.into(),
        2 => vec![nth].into(),
        _ => Bson::String("$state".to_owned()),
    }
}

async fn device(readings: usize) -> (Engine, Owner) {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    let readings: Vec<Bson> = (0..readings).map(reading).collect();
    let device = doc! { "_id": "d", "state": { "on": true, "readings": readings } };
    engine.insert("devices", vec![device]).await.unwrap();
    (engine, Owner::from(Bson::from("d")))
}

async fn stored(engine: &Engine) -> Document {
    engine
        .find("devices", Find::matching(doc! {}))
        .await
        .unwrap()
        .remove(0)
}

/// Converts the readings while others push some of them each time that they are read; returns how often that was.
async fn convert(description: &Description, engine: &Engine, owner: &Owner, elements: &[Bson]) -> usize {
    let collection = description.collection();
    let lists = &collection.lists()[0];
    lists.prepare(engine).await.unwrap();
    let reads = AtomicUsize::new(0);
    let push = |_: &[Bson]| {
        if reads.fetch_add(1, Ordering::SeqCst) == 0 || description.spec.key.is_some() {
            let push = doc! { "$push": { "state.readings": { "$each": elements } } };
            let push = Update::one(doc! { "_id": "d" }, push);
            let pushed = async { engine.update("devices", push).await.unwrap() };
            let runtime = tokio::runtime::Handle::current();
            tokio::task::block_in_place(|| runtime.block_on(pushed));
        }
    };
    lists
        .on(engine.clone())
        .convert_plain(owner, &push)
        .await
        .unwrap();
    reads.into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_during_a_conversion_becomes_part_of_the_head() {
    for (before, pushed, reads) in [(0, 3, 1), (3, 1, 1), (30, 0, 1), (30, 12, 1), (30, 201, 2)] {
        let description = description(None);
        let (engine, owner) = device(before).await;
        let pushes: Vec<Bson> = (before..before + pushed).map(reading).collect();
        assert_eq!(
            convert(&description, &engine, &owner, &pushes).await,
            reads,
            "{before} {pushed}"
        );

        let (collections, pause) = ([description.collection()], std::time::Duration::ZERO);
        let checked = check(&engine, &collections, Options { repair: false, pause }, &|_| {})
            .await
            .unwrap();
        assert!(
            checked.findings.is_empty(),
            "{before} {pushed}: {:?}",
            checked.findings
        );
        assert_eq!(checked.items, (before + pushed) as u64);
        assert!(!stored(&engine).await.contains_key("state.readingsConversion"));

        let list = collections[0].lists()[0].on(engine.clone());
        let restored = list.restore(&owner, plain::element).await.unwrap();
        assert_eq!(restored, Restored::Array((before + pushed) as u64));
        let all: Vec<Bson> = (0..before + pushed).map(reading).collect();
        assert_eq!(
            stored(&engine).await,
            doc! { "_id": "d", "state": { "on": true, "readings": all } }
        );
        assert_eq!(engine.count("pages", doc! {}).await.unwrap(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_one_of_our_fields_is_pushed_without_losing_it() {
    let (engine, owner) = device(3).await;
    let taken: Bson = doc! { "_item": 7 }.into();
    let description = description(None);
    convert(&description, &engine, &owner, std::slice::from_ref(&taken)).await;
    let collection = description.collection();
    let list = collection.lists()[0].on(engine.clone());
    let newest = list.newest_first(&owner, None, 1).await.unwrap().items.remove(0);
    assert_eq!(plain::element(&newest), taken);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_that_is_removed_or_changed_during_a_conversion_is_not_resurrected() {
    for change in [
        doc! { "$pop": { "state.readings": -1 } },
        doc! { "$set": { "state.readings.3": "other" } },
    ] {
        let (engine, owner) = device(30).await;
        let description = description(None);
        let collection = description.collection();
        let lists = &collection.lists()[0];
        lists.prepare(&engine).await.unwrap();
        let reads = AtomicUsize::new(0);
        let disturb = |_: &[Bson]| {
            if reads.fetch_add(1, Ordering::SeqCst) == 0 {
                let change = Update::one(doc! { "_id": "d" }, change.clone());
                let changed = async { engine.update("devices", change).await.unwrap() };
                let runtime = tokio::runtime::Handle::current();
                tokio::task::block_in_place(|| runtime.block_on(changed));
            }
        };
        lists
            .on(engine.clone())
            .convert_plain(&owner, &disturb)
            .await
            .unwrap();
        assert!(reads.into_inner() >= 2);
        let mut expected: Vec<Bson> = (0..30).map(reading).collect();
        if change.contains_key("$pop") {
            expected.remove(0);
        } else {
            expected[3] = "other".into();
        }
        let mut walk = lists.on(engine.clone()).walk_from_the_oldest(&owner);
        let mut found = Vec::new();
        while let Some(stretch) = walk.next().await.unwrap() {
            found.extend(stretch.items.iter().map(plain::element));
        }
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_list_that_changed_is_restored_with_the_change_and_its_pages_are_swept() {
    let (engine, owner) = device(30).await;
    let description = description(None);
    let collection = description.collection();
    let lists = &collection.lists()[0];
    lists.prepare(&engine).await.unwrap();
    lists
        .on(engine.clone())
        .convert_plain(&owner, &|_| {})
        .await
        .unwrap();
    let list = lists.on(engine.clone());
    let all = list.newest_first(&owner, None, 30).await.unwrap().items;
    let key = description.spec.key_of(&all[20]).unwrap();
    assert!(list.remove(&owner, &key).await.unwrap().item.is_some());
    // A page as an undo leaves it that dies after it has put the array back.
    let left = doc! { "_id": "x/state.readings/0", "owner": "x", "relation": "state.readings", "page": 0_i64, "rev": 1_i64 };
    engine.insert("pages", vec![left]).await.unwrap();
    assert_eq!(lists.sweep_restored(&engine).await.unwrap(), 1);
    assert_eq!(
        list.restore(&owner, plain::element).await.unwrap(),
        Restored::Array(29)
    );
    let expected: Vec<Bson> = all
        .iter()
        .rev()
        .filter(|item| **item != all[20])
        .map(plain::element)
        .collect();
    assert_eq!(
        stored(&engine)
            .await
            .get_document("state")
            .unwrap()
            .get_array("readings")
            .unwrap(),
        &expected
    );
    assert_eq!(
        list.restore(&owner, plain::element).await.unwrap(),
        Restored::NoList
    );
}

/// The pages as an undo has read them, with which it deletes them once it has put the array back.
async fn revisions(engine: &Engine) -> Vec<Document> {
    let pages = engine.find("pages", Find::default()).await.unwrap();
    let this = |page: &Document| doc! { "_id": page.get("_id"), "rev": page.get("rev") };
    pages.iter().map(this).collect()
}

#[tokio::test]
async fn an_undo_deletes_no_page_of_the_conversion_after_it() {
    let (engine, owner) = device(30).await;
    let description = description(None);
    let collection = description.collection();
    let lists = &collection.lists()[0];
    lists.prepare(&engine).await.unwrap();
    let list = lists.on(engine.clone());
    list.convert_plain(&owner, &|_| {}).await.unwrap();
    let old = revisions(&engine).await;
    assert!(!old.is_empty());
    // The undo has put the array back, and has not deleted the pages yet.
    let readings: Vec<Bson> = (0..30).map(reading).collect();
    let array = doc! { "$set": { "state.readings": readings } };
    let put = Update::one(doc! { "_id": "d" }, array);
    engine.update("devices", put).await.unwrap();
    list.convert_plain(&owner, &|_| {}).await.unwrap();
    for page in old {
        engine.delete("pages", page, false).await.unwrap();
    }
    let mut walk = lists.on(engine.clone()).walk_from_the_oldest(&owner);
    let mut found = 0;
    while let Some(stretch) = walk.next().await.unwrap() {
        found += stretch.items.len();
    }
    assert_eq!(found, 30);
}

#[tokio::test]
async fn a_description_is_stored_once_and_read_as_it_was() {
    let (engine, _) = device(0).await;
    assert!(
        Description::load(&engine, "devices", "state.readings")
            .await
            .unwrap()
            .is_none()
    );
    let mut stored = description(Some("n"));
    stored.spec.head_bytes = Some(5_000);
    stored.save(&engine).await.unwrap();
    stored.undoing = true;
    stored.save(&engine).await.unwrap();
    let read = Description::load(&engine, "devices", "state.readings")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        format!(
            "{:?}",
            (read.ids, read.undoing, &read.spec.limits, &read.spec.order)
        ),
        format!("{:?}", ("string", true, stored.spec.limits, &stored.spec.order))
    );
    assert_eq!(
        (
            read.spec.key.as_deref(),
            read.spec.largest_item,
            read.spec.head_bytes
        ),
        (Some("n"), 300, Some(5_000))
    );
    let all = Find::matching(doc! {});
    assert_eq!(
        engine
            .find(outlier::describe::DESCRIPTIONS, all)
            .await
            .unwrap()
            .len(),
        1
    );
    let newer = Update::one(doc! {}, doc! { "$set": { "version": 2 } });
    engine
        .update(outlier::describe::DESCRIPTIONS, newer)
        .await
        .unwrap();
    let refused = Description::load(&engine, "devices", "state.readings")
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("another version"), "{refused}");
    read.remove(&engine).await.unwrap();
    assert!(
        Description::load(&engine, "devices", "state.readings")
            .await
            .unwrap()
            .is_none()
    );
}

#[test]
fn items_are_what_elements_were() {
    let elements = plain::elements(&description(None).spec, &[Bson::Null]);
    assert_eq!(
        elements.items.iter().map(plain::element).collect::<Vec<Bson>>(),
        [Bson::Null]
    );
    assert_eq!(
        elements
            .items
            .iter()
            .map(Item::order)
            .map(|(at, _)| at)
            .collect::<Vec<_>>(),
        [0]
    );
}
