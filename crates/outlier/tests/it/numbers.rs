//! Lists that are ordered by a number: the measurements of a sensor, and the entries of a ledger.

use std::sync::Arc;
use std::time::Duration;

use bson::{Bson, Document, doc};
use document::{Engine, Error, Find, Update};
use embedded::Embedded;
use outlier::check::{Defect, Options, Outcome, check};
use outlier::describe::{DESCRIPTIONS, Description};
use outlier::{Item, Key, Limits, ListSpec, Lists, Order, OrderBy, Owner, empty, uuid_bson, value_at};
use uuid::Uuid;

fn description(key: Option<&'static str>) -> Description {
    Description {
        spec: ListSpec {
            owners: "accounts".into(),
            path: "entries".into(),
            pages: "entryPages".into(),
            key: key.map(Into::into),
            order: Order {
                at: "number".into(),
                by: OrderBy::Number,
                id: "id".into(),
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

fn lists(key: Option<&'static str>) -> Lists {
    Lists::new(description(key).spec)
}

async fn account() -> (Engine, Owner) {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    let account = doc! { "_id": "a", "entries": empty() };
    engine.insert("accounts", vec![account]).await.unwrap();
    (engine, Owner::from(Bson::from("a")))
}

fn document(id: u128, number: impl Into<Bson>) -> Document {
    doc! { "id": uuid_bson(Uuid::from_u128(id)), "number": number.into() }
}

fn item(id: u128, number: impl Into<Bson>) -> Item {
    Item::new(document(id, number), &description(None).spec.order).unwrap()
}

/// An account with the entries 1 to 20, in a head of four and four pages of four.
async fn ledger(lists: &Lists) -> (Engine, Owner) {
    let (engine, account) = account().await;
    lists.prepare(&engine).await.unwrap();
    for number in 1..=20_i32 {
        let id = number.unsigned_abs().into();
        // Languages send whole numbers in different types.
        let number = match number % 3 {
            0 => Bson::Int32(number),
            1 => Bson::Int64(number.into()),
            _ => Bson::Double(number.into()),
        };
        let appended = lists
            .on(engine.clone())
            .append(&account, item(id, number))
            .await
            .unwrap();
        assert!(appended.added);
    }
    (engine, account)
}

fn numbers(items: &[Item]) -> Vec<i64> {
    items.iter().map(|item| item.order().0).collect()
}

async fn all(lists: &Lists, engine: &Engine, account: &Owner) -> Vec<i64> {
    let list = lists.on(engine.clone());
    let mut walk = list.walk(account);
    let mut found = Vec::new();
    while let Some(stretch) = walk.next().await.unwrap() {
        found.extend(numbers(&stretch.items));
    }
    found
}

async fn findings(engine: &Engine, key: Option<&'static str>, repair: bool) -> Vec<(Defect, Outcome)> {
    let how = Options {
        repair,
        pause: Duration::ZERO,
    };
    let collections = [description(key).collection()];
    let report = check(engine, &collections, how, &|_| ()).await.unwrap();
    let found = report.findings.into_iter();
    found.map(|finding| (finding.defect, finding.outcome)).collect()
}

async fn set(engine: &Engine, collection: &str, which: Document, change: Document) {
    let update = Update::one(which, doc! { "$set": change });
    assert_eq!(engine.update(collection, update).await.unwrap().matched, 1);
}

#[tokio::test]
async fn entries_spill_and_are_read_by_their_number_in_both_directions() {
    let lists = lists(None);
    let (engine, account) = ledger(&lists).await;
    assert_eq!(
        all(&lists, &engine, &account).await,
        (1..=20).rev().collect::<Vec<_>>()
    );
    let list = lists.on(engine.clone());

    let mut after = None;
    let mut down = Vec::new();
    loop {
        let stretch = list.newest_first(&account, after, 3).await.unwrap();
        down.extend(numbers(&stretch.items));
        after = stretch.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(down, (1..=20).rev().collect::<Vec<_>>());
    let up = list.oldest_first(&account, None, 20).await.unwrap();
    assert_eq!(numbers(&up.items), (1..=20).collect::<Vec<_>>());
    let from = list.from_offset(&account, 7, 5).await.unwrap();
    assert_eq!(numbers(&from.items), [13, 12, 11, 10, 9]);
    let at = list.cursor_at(&account, 9);
    let below = list.newest_first(&account, Some(at), 3).await.unwrap();
    assert_eq!(numbers(&below.items), [9, 8, 7]);

    let pages = engine
        .find(
            "entryPages",
            Find::matching(doc! {}).sort(doc! { "page": 1 }).limit(1),
        )
        .await
        .unwrap();
    let bounds = ["first", "last"].map(|field| pages[0].get(field).cloned());
    assert_eq!(bounds, [Some(Bson::Int64(4)), Some(Bson::Int64(1))]);
    assert_eq!(findings(&engine, None, false).await, []);
}

#[tokio::test]
async fn a_number_that_has_spilled_already_gets_the_next_one_above() {
    let lists = lists(None);
    let (engine, account) = ledger(&lists).await;
    let late = lists
        .on(engine.clone())
        .append(&account, item(99, 3_i32))
        .await
        .unwrap();
    assert_eq!(late.item.document().get("number"), Some(&Bson::Int64(17)));
    let found = all(&lists, &engine, &account).await;
    assert_eq!(found[..5], [20, 19, 18, 17, 17]);
    assert_eq!(findings(&engine, None, false).await, []);
}

/// Its key would change, and nobody has looked for the new one.
#[tokio::test]
async fn a_number_that_is_the_key_is_not_raised_but_refused() {
    let lists = lists(Some("number"));
    let (engine, account) = ledger(&lists).await;
    let list = lists.on(engine.clone());
    let again = list.append(&account, item(98, Bson::Double(8.0))).await.unwrap();
    assert!(!again.added);
    list.remove(&account, &Key::Value(Bson::Int32(3))).await.unwrap();
    let refused = list.append(&account, item(99, 3_i32)).await.unwrap_err();
    assert!(
        matches!(&refused, Error::Refused { message, .. } if message.contains("`number` of a new item has to be above 16")),
        "{refused}"
    );
    // Now also where the spill itself would raise it, and with terms.
    for number in [21, 30] {
        list.append(&account, item(number, i64::try_from(number).unwrap()))
            .await
            .unwrap();
    }
    let snapshot = list.snapshot(&account).await.unwrap();
    for number in [16, 17] {
        let terms = list
            .append_if(&account, item(100, number), snapshot.clone(), doc! {})
            .await;
        assert!(
            matches!(terms, Err(Error::Refused { .. }) | Ok(Some(_))),
            "{terms:?}"
        );
    }
    let expected: Vec<i64> = [30]
        .into_iter()
        .chain((1..=21).rev())
        .filter(|number| *number != 3)
        .collect();
    assert_eq!(all(&lists, &engine, &account).await, expected);
    assert_eq!(findings(&engine, Some("number"), false).await, []);
}

#[tokio::test]
async fn a_spill_refuses_a_number_that_would_be_below_it() {
    let lists = lists(Some("number"));
    let (engine, account) = account().await;
    lists.prepare(&engine).await.unwrap();
    let list = lists.on(engine.clone());
    for number in [10, 20, 30, 40, 50] {
        list.append(&account, item(number, i64::try_from(number).unwrap()))
            .await
            .unwrap();
    }
    let refused = list.append(&account, item(15, 15)).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    list.append(&account, item(45, 45)).await.unwrap();
    assert_eq!(all(&lists, &engine, &account).await, [50, 45, 40, 30, 20, 10]);
    assert_eq!(findings(&engine, Some("number"), false).await, []);
}

#[tokio::test]
async fn what_is_no_whole_number_is_refused_by_name() {
    for number in [
        Bson::Double(1.5),
        Bson::Double(f64::NAN),
        Bson::Double(f64::INFINITY),
        Bson::Int64((1 << 53) + 1),
        Bson::Double(-1e300),
        Bson::Null,
        Bson::from("1"),
        Bson::DateTime(bson::DateTime::from_millis(5)),
    ] {
        let refused = Item::new(document(1, number.clone()), &description(None).spec.order).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("`number` is not a whole number from -2⁵³ to 2⁵³"),
            "{number}: {refused}"
        );
    }
    let largest = item(1, 1_i64 << 53);
    assert_eq!(largest.order().0, 1 << 53);
}

#[tokio::test]
async fn wrong_numbers_of_a_list_and_a_page_are_found_and_repaired() {
    let lists = lists(None);
    let (engine, _) = ledger(&lists).await;
    set(
        &engine,
        "accounts",
        doc! { "_id": "a" },
        doc! { "entries.floor": 5_i64 },
    )
    .await;
    set(&engine, "entryPages", doc! { "page": 1 }, doc! { "last": 7_i64 }).await;
    let found: Vec<Defect> = findings(&engine, None, false)
        .await
        .into_iter()
        .map(|(defect, _)| defect)
        .collect();
    let floor = Defect::Floor {
        floor: Some(5),
        newest: 16,
    };
    assert_eq!(found, [Defect::PageTimes { page: 1 }, floor]);
    for (defect, outcome) in findings(&engine, None, true).await {
        assert_eq!(outcome, Outcome::Repaired, "{defect}");
    }
    assert_eq!(findings(&engine, None, false).await, []);

    set(
        &engine,
        "accounts",
        doc! { "_id": "a" },
        doc! { "entries.floor": "high" },
    )
    .await;
    let found = findings(&engine, None, false).await;
    assert!(
        matches!(&found[..], [(Defect::Malformed { what }, _)] if what.contains("`floor`")),
        "{found:?}"
    );
}

#[tokio::test]
async fn an_array_is_adopted_by_its_numbers() {
    let lists = lists(None);
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    let entries: Vec<Bson> = [3, 1, 2, 9, 8, 7, 6, 5, 4]
        .map(|number: i32| document(number.unsigned_abs().into(), number).into())
        .into();
    engine
        .insert("accounts", vec![doc! { "_id": "a", "entries": entries }])
        .await
        .unwrap();
    lists.prepare(&engine).await.unwrap();
    let account = Owner::from(Bson::from("a"));
    lists
        .on(engine.clone())
        .append(&account, item(10, 10))
        .await
        .unwrap();
    assert_eq!(
        all(&lists, &engine, &account).await,
        (1..=10).rev().collect::<Vec<_>>()
    );
    let stored = engine.find("accounts", Find::matching(doc! {})).await.unwrap();
    let floor = value_at(&stored[0], "entries.floor");
    assert!(matches!(floor, Some(Bson::Int64(_))), "{floor:?}");
    assert_eq!(findings(&engine, None, false).await, []);
}

#[tokio::test]
async fn a_description_says_that_the_order_is_a_number() {
    let (engine, _) = account().await;
    let described = description(Some("number"));
    described.save(&engine).await.unwrap();
    let stored = engine.find(DESCRIPTIONS, Find::matching(doc! {})).await.unwrap();
    assert_eq!(
        stored[0].get_document("order").unwrap(),
        &doc! { "at": "number", "by": "number", "id": "id" }
    );
    let loaded = Description::load(&engine, "accounts", "entries")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(loaded.spec.order, described.spec.order);
    set(&engine, DESCRIPTIONS, doc! {}, doc! { "order.by": "size" }).await;
    let unknown = Description::load(&engine, "accounts", "entries")
        .await
        .unwrap_err();
    assert!(unknown.to_string().contains("`order.by`"), "{unknown}");
}
