use bson::{Bson, Document, doc};
use checker::dying::Dying;
use document::{Engine, Find};
use outlier::check::{Defect, Severity};
use outlier::detect::{self, Form, detect};
use outlier::migrate::{MigrationReport, migrate};
use outlier::stats::{ListStats, stats};
use outlier::{Elements, Item, Key, Owner, finish_all, value_at};
use uuid::Uuid;

use super::{CUSTOMERS, ORDERS, change_customer, customers, defects, id, order, shop};

/// Gives the second customer an array of orders, and the third one of bare numbers.
async fn outgrow(engine: &Engine) {
    let orders: Vec<Document> = (1..=30).map(order).collect();
    change_customer(engine, 2, doc! { "$set": { "account.orders": orders } }).await;
    change_customer(engine, 3, doc! { "$set": { "account.orders": [1_i64, 2_i64] } }).await;
}

#[tokio::test]
async fn arrays_and_overflowed_lists_are_detected_longest_first() {
    let engine = shop().await;
    outgrow(&engine).await;
    let options = detect::Options {
        threshold: None,
        bytes: u64::MAX,
        top: 10,
    };
    let found = detect(&engine, &[customers()], options, &|_, _| ())
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|list| {
            (
                &*list.owner,
                &*list.list,
                list.form,
                list.items,
                list.pages,
                list.page_bytes > 0,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (&*id(2).to_hex(), ORDERS, Form::Unbounded, 30, 0, false),
            (&*id(1).to_hex(), ORDERS, Form::Overflowed, 20, 4, true),
        ]
    );
}

#[tokio::test]
async fn the_lists_of_each_kind_are_counted() {
    let engine = shop().await;
    outgrow(&engine).await;
    let [orders, returns] =
        <[ListStats; 2]>::try_from(stats(&engine, &[customers()], &|_, _| ()).await.unwrap()).unwrap();
    assert_eq!(
        (orders.owners, orders.lists, orders.overflowed, orders.unbounded),
        (3, 3, 1, 2)
    );
    assert_eq!((orders.items, orders.pages), (52, 4));
    assert_eq!(orders.largest, Some((id(2).to_hex(), 30)));
    assert_eq!((returns.owners, returns.lists, returns.items), (3, 0, 0));
}

#[tokio::test]
async fn arrays_of_items_are_migrated_as_a_dry_run_predicts_and_others_are_refused() {
    let engine = shop().await;
    outgrow(&engine).await;
    let planned = migrate(&engine, &[customers()], true, &|_, _| ()).await.unwrap();
    let migrated = migrate(&engine, &[customers()], false, &|_, _| ()).await.unwrap();
    assert_eq!(migrated, planned);
    let [refused] = &migrated.refused[..] else {
        panic!("{migrated:?}")
    };
    assert_eq!(
        (&*refused.owner, refused.list.as_deref()),
        (&*id(3).to_hex(), Some(ORDERS))
    );
    assert!(
        refused
            .why
            .contains("2 of 2 elements are not items (`account.orders.0`")
            && refused.why.contains("{order: UUID, number: …, placed: date}"),
        "{}",
        refused.why
    );
    let expected = MigrationReport {
        owners: 3,
        lists: 1,
        items: 30,
        pages: migrated.pages,
        bytes: migrated.bytes,
        refused: migrated.refused.clone(),
        ..MigrationReport::default()
    };
    assert!(migrated == expected && migrated.pages > 0, "{migrated:?}");
    assert_eq!(defects(&engine).await, [Defect::Unbounded { items: 2 }]);
}

#[tokio::test]
async fn elements_that_the_caller_can_read_are_converted() {
    let engine = shop().await;
    outgrow(&engine).await;
    let mut customers = customers();
    customers.beside = &["account.open"];
    customers.elements = |spec, _, customer, array| {
        assert_eq!(value_at(customer, "account.open"), Some(&Bson::Boolean(true)));
        let mut elements = Elements::default();
        for element in array {
            let order = element.as_document().cloned().unwrap_or_else(|| {
                elements.converted += 1;
                order(element.as_i64().unwrap())
            });
            elements.items.push(Item::new(order, &spec.order).unwrap());
        }
        elements
    };
    let migrated = migrate(&engine, &[customers], false, &|_, _| ()).await.unwrap();
    assert_eq!((migrated.lists, migrated.items, migrated.converted), (2, 32, 2));
    assert_eq!(migrated.refused, []);
    assert_eq!(defects(&engine).await, []);
    let find = Find::matching(doc! { "_id": id(3) });
    let stored = engine.find(CUSTOMERS, find).await.unwrap().remove(0);
    assert_eq!(value_at(&stored, "account.orders.count"), Some(&Bson::Int64(2)));
}

#[tokio::test]
async fn removals_that_a_crash_interrupted_are_finished_without_another_operation_on_the_list() {
    let mut finished = 0;
    for writes in 0.. {
        let engine = shop().await;
        let dying = Dying::of(engine.clone());
        dying.dies_after(writes);
        let shop = customers();
        let list = shop.lists()[0].on(dying);
        // The first two pages, from the oldest order on, and then the newest page.
        let (customer, mut died) = (Owner::from(Bson::from(id(1))), false);
        for number in [1, 2, 3, 4, 5, 6, 7, 8, 16, 15, 14, 13] {
            let order = Key::Id(Uuid::from_u128(number));
            died |= list.remove(&customer, &order).await.is_err();
        }
        finished += finish_all(&engine, &[customers()]).await.unwrap();
        let unfinished = |defect: &Defect| defect.severity() > Severity::Notice;
        let left = defects(&engine).await.into_iter().find(unfinished);
        assert_eq!(left, None, "after {writes} writes");
        assert_eq!(finish_all(&engine, &[customers()]).await.unwrap(), 0);
        if !died {
            break;
        }
    }
    assert!(finished > 12, "only {finished} removals were interrupted");
}
