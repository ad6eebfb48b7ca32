use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use checker::cached::Cached;
use checker::stale::Versions;
use document::{Engine, Find, Layer, Result, session_of};
use outlier::check::{Defect, Options, Outcome, Severity, check};
use outlier::{uuid_bson, value_at};
use uuid::Uuid;

use super::{
    CUSTOMERS, ORDERS, PAGES, change, change_customer, checked, customers, defects, found, id, order, repair,
    shop, shop_on,
};

#[tokio::test]
async fn a_sound_collection_is_found_sound_and_counted() {
    let engine = shop().await;
    let checked = checked(&engine, false).await;
    assert_eq!(checked.findings, []);
    assert_eq!((checked.owners, checked.pages, checked.items), (3, 4, 20));
}

#[tokio::test]
async fn wrong_numbers_of_a_nested_list_are_named_and_repaired() {
    let engine = shop().await;
    change_customer(&engine, 1, doc! { "$inc": { "account.orders.count": 2_i64 } }).await;
    change(
        &engine,
        PAGES,
        doc! { "page": 1_i64 },
        doc! { "$set": { "count": 9_i64 } },
    )
    .await;
    let findings = found(&engine).await;
    let (said, reachable, held) = (22, 20, 4);
    assert_eq!(
        findings.iter().map(|finding| &finding.defect).collect::<Vec<_>>(),
        [
            &Defect::PageCount {
                page: 1,
                said: 9,
                held
            },
            &Defect::Count { said, reachable },
        ]
    );
    for finding in &findings {
        assert_eq!(finding.owner, id(1).to_hex());
        assert_eq!(finding.list.as_deref(), Some(ORDERS));
        assert_eq!(
            (finding.severity, &finding.outcome),
            (Severity::Broken, &Outcome::Found)
        );
    }
    repair(&engine).await;
}

#[tokio::test]
async fn an_order_number_that_is_in_the_list_twice_is_named_by_its_field() {
    let engine = shop().await;
    let mut again = order(3);
    again.insert("order", uuid_bson(Uuid::from_u128(1_000)));
    again.insert("placed", DateTime::from_millis(99_000));
    let push = doc! { "$each": [again], "$position": 0 };
    let twice = doc! { "$push": { "account.orders.head": push }, "$inc": { "account.orders.count": 1_i64 } };
    change_customer(&engine, 1, twice).await;
    let (key, page) = ("number 3".to_owned(), None);
    assert_eq!(defects(&engine).await, [Defect::Duplicate { key, page }]);
    repair(&engine).await;
    assert_eq!(checked(&engine, false).await.items, 20);
}

#[tokio::test]
async fn a_repair_keeps_the_order_of_the_fields_of_an_item() {
    let engine = shop().await;
    let turned = |number| {
        let fields: Vec<_> = order(number).into_iter().collect();
        fields.into_iter().rev().collect::<Document>()
    };
    let turned = |numbers: [i64; 4]| Bson::from(numbers.map(turned).to_vec());
    let items = doc! { "$set": { "items": turned([6, 8, 7, 5]) } };
    change(&engine, PAGES, doc! { "page": 1_i64 }, items).await;
    let head = turned([19, 20, 18, 17]);
    change_customer(&engine, 1, doc! { "$set": { "account.orders.head": head } }).await;
    let pages = [Some(1), None];
    assert_eq!(
        defects(&engine).await,
        pages.map(|page| Defect::OutOfOrder { page })
    );
    repair(&engine).await;
    // As text: documents are equal whatever the order of their fields.
    let stored = |array: Option<&Bson>| array.unwrap().to_string();
    let find = Find::matching(doc! { "page": 1_i64 });
    let page = engine.find(PAGES, find).await.unwrap().remove(0);
    assert_eq!(stored(page.get("items")), turned([8, 7, 6, 5]).to_string());
    let find = Find::matching(doc! { "_id": id(1) });
    let customer = engine.find(CUSTOMERS, find).await.unwrap().remove(0);
    let head = value_at(&customer, "account.orders.head");
    assert_eq!(stored(head), turned([20, 19, 18, 17]).to_string());
}

#[tokio::test]
async fn a_removal_that_is_pending_in_a_page_is_no_item_whatever_the_id_is_called() {
    let engine = shop().await;
    let pending = doc! { "page": 0_i64, "rev": 0_i64, "id": uuid_bson(Uuid::from_u128(2)) };
    let begun = doc! {
        "$push": { "account.orders.pending": pending },
        "$inc": { "account.orders.count": -1_i64, "account.orders.spilled": -1_i64, "account.orders.rev": 1_i64 },
    };
    change_customer(&engine, 1, begun).await;
    assert_eq!(defects(&engine).await, [Defect::Pending { entries: 1 }]);
    repair(&engine).await;
    assert_eq!(checked(&engine, false).await.items, 19);
}

fn empty_page(owner: u8, path: &str, page: i64) -> Document {
    doc! {
        "_id": format!("{owner}/{path}/{page}"), "owner": id(owner), "relation": path, "born": Bson::Null,
        "page": page, "rev": 0_i64, "count": 0_i64, "items": [],
    }
}

#[tokio::test]
async fn pages_in_no_list_are_deleted_by_a_repair() {
    let engine = shop().await;
    let strays = vec![empty_page(2, "returns", 0), empty_page(9, ORDERS, 3)];
    engine.insert(PAGES, strays).await.unwrap();
    assert_eq!(
        defects(&engine).await,
        [
            Defect::UncommittedPage { page: 0 },
            Defect::OrphanPage { page: 3 }
        ]
    );
    repair(&engine).await;
    assert_eq!(engine.count(PAGES, doc! {}).await.unwrap(), 4);
}

#[tokio::test]
async fn documents_and_pages_that_are_nobodys_are_reported_and_stay() {
    let engine = shop().await;
    engine
        .insert(CUSTOMERS, vec![doc! { "_id": "ada" }])
        .await
        .unwrap();
    let other = doc! { "_id": 1, "owner": id(1), "relation": "wishes", "page": 0_i64 };
    engine.insert(PAGES, vec![other]).await.unwrap();
    for findings in [found(&engine).await, checked(&engine, true).await.findings] {
        let names: Vec<&str> = findings.iter().map(|finding| &*finding.owner).collect();
        assert_eq!(names, ["customers/\"ada\"", "orderPages/1"]);
        assert!(
            findings
                .iter()
                .all(|finding| finding.outcome != Outcome::Repaired)
        );
    }
}

#[tokio::test]
async fn what_the_caller_knows_of_owners_and_items_is_checked_too() {
    let engine = shop().await;
    let mut customers = customers();
    customers.faults = |customer| match customer.get("name") {
        None => vec!["nobody's name".to_owned()],
        Some(_) => Vec::new(),
    };
    customers.item = |_, order| match order.get_i64("number") {
        Ok(20) => Err("a number that was never given out".to_owned()),
        _ => Ok(()),
    };
    let options = Options {
        repair: false,
        pause: Duration::ZERO,
    };
    let checked = check(&engine, &[customers], options, &|_| ()).await.unwrap();
    let words: Vec<String> = checked
        .findings
        .iter()
        .map(|found| found.defect.to_string())
        .collect();
    assert_eq!(
        words,
        [
            "malformed: nobody's name",
            "malformed: item 0 of the head: a number that was never given out",
            "malformed: nobody's name",
            "malformed: nobody's name",
        ]
    );
}

/// Counts the sessions that are begun, and the commands outside of them.
#[derive(Clone)]
struct Watched {
    below: Engine,
    in_session: bool,
    sessions: Arc<AtomicUsize>,
    outside: Arc<AtomicUsize>,
}

impl Layer for Watched {
    fn below(&self) -> &Engine {
        &self.below
    }

    fn over(&self, session: Engine) -> Option<Engine> {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        Some(Arc::new(Self {
            below: session,
            in_session: true,
            ..self.clone()
        }))
    }

    async fn call<T: Send>(&self, _writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        self.outside
            .fetch_add(usize::from(!self.in_session), Ordering::Relaxed);
        call.await
    }
}

#[tokio::test]
async fn a_check_with_its_repairs_is_one_session_its_own_or_its_callers() {
    let watched = Watched {
        below: Versions::of(Cached::in_memory(), true).engine(),
        in_session: false,
        sessions: Arc::default(),
        outside: Arc::default(),
    };
    let engine: Engine = Arc::new(watched.clone());
    shop_on(&engine).await;
    for given in [false, true] {
        change_customer(&engine, 1, doc! { "$inc": { "account.orders.count": 2_i64 } }).await;
        engine
            .insert(PAGES, vec![empty_page(2, "returns", 0)])
            .await
            .unwrap();
        let engine = if given {
            session_of(&engine)
        } else {
            engine.clone()
        };
        watched.sessions.store(0, Ordering::Relaxed);
        watched.outside.store(0, Ordering::Relaxed);
        let report = checked(&engine, true).await;
        assert_eq!(report.findings.len(), 2, "{report:?}");
        assert_eq!(watched.sessions.load(Ordering::Relaxed), usize::from(!given));
        assert_eq!(watched.outside.load(Ordering::Relaxed), 0);
    }
}
