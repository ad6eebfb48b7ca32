//! What an append costs through the driver, counted and not timed: `crates/outlier/examples/cost.rs` measures times.

use std::sync::Arc;

use bson::{Bson, DateTime, doc};
use document::Engine;
use embedded::{Counters, Embedded};
use mongo::Mongo;
use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, lay_out, uuid_bson};
use uuid::Uuid;

use crate::proxy::{Proxy, Then, name};
use crate::support::Server;

const LIMITS: Limits = Limits {
    threshold: 80,
    page_size: 60,
};

fn lists() -> Lists {
    Lists::new(ListSpec {
        owners: "posts".into(),
        path: "likes".into(),
        pages: "pages".into(),
        key: Some("by".into()),
        order: Order::default(),
        limits: LIMITS,
        head_bytes: None,
        largest_item: 500,
        read: Ok,
    })
}

fn like(nth: u32) -> Item {
    let id = uuid_bson(Uuid::from_u128(u128::from(nth)));
    let at = DateTime::from_millis(1_700_000_000_000 + i64::from(nth));
    Item::new(
        doc! { "id": id, "by": format!("person {nth:09}"), "at": at },
        &Order::default(),
    )
    .unwrap()
}

/// Stores a list of some length, and returns its owner.
async fn load(engine: &Engine, lists: &Lists, items: u32) -> Owner {
    let (owner, born) = (Owner::from(Bson::from(items)), Uuid::from_u128(items.into()));
    let stored = lay_out(lists.spec(), &owner, born, (0..items).map(like).collect());
    let document = doc! { "_id": owner.id(), "born": uuid_bson(born), "likes": stored.list };
    engine.insert("posts", vec![document]).await.unwrap();
    for pages in stored.pages.chunks(500) {
        engine.insert("pages", pages.to_vec()).await.unwrap();
    }
    owner
}

/// What the appends from one spill to the next cost: commands, bytes on the wire, and the engine's work.
async fn cycle(items: u32) -> (Vec<String>, u64, Counters) {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let server = Server::of(Arc::clone(&embedded), None).await;
    let proxy = Proxy::before(&server.address(), |_| Then::Pass).await;
    let (lists, driver) = (lists(), Mongo::connect(&proxy.address).await.unwrap());
    let driver: Engine = Arc::new(driver);
    lists.prepare(&driver).await.unwrap();
    let owner = load(&server.engine, &lists, items).await;
    let (sent, bytes, before) = (proxy.commands().len(), proxy.bytes(), embedded.counters());
    for nth in 0..u32::try_from(LIMITS.page_size).unwrap() {
        let appended = lists
            .on(driver.clone())
            .append(&owner, like(900_000_000 + nth))
            .await
            .unwrap();
        assert!(appended.added);
    }
    assert_eq!(lists.work().spills, 1);
    let after = embedded.counters();
    let sent = proxy.commands().split_off(sent);
    // The driver asks by itself how the server is.
    let sent = sent
        .iter()
        .map(name)
        .filter(|name| !name.eq_ignore_ascii_case("hello"));
    let work = Counters {
        documents_read: after.documents_read - before.documents_read,
        bytes_read: after.bytes_read - before.bytes_read,
        entries_read: after.entries_read - before.entries_read,
        documents_written: after.documents_written - before.documents_written,
        bytes_written: after.bytes_written - before.bytes_written,
        ..Counters::default()
    };
    (sent.map(str::to_owned).collect(), proxy.bytes() - bytes, work)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_through_the_driver_does_as_much_for_a_long_list_as_for_a_short_one() {
    // Both heads have 40 items.
    let (short, short_bytes, short_work) = cycle(100).await;
    let (long, long_bytes, long_work) = cycle(100_000).await;
    assert_eq!(long, short);
    for (what, long, short) in [
        ("bytes on the wire", long_bytes, short_bytes),
        (
            "documents read",
            long_work.documents_read,
            short_work.documents_read,
        ),
        ("bytes read", long_work.bytes_read, short_work.bytes_read),
        (
            "index entries read",
            long_work.entries_read,
            short_work.entries_read,
        ),
        (
            "documents written",
            long_work.documents_written,
            short_work.documents_written,
        ),
        ("bytes written", long_work.bytes_written, short_work.bytes_written),
    ] {
        assert!(
            50 * long <= 51 * short,
            "{what}: {long}, and {short} for the short list"
        );
    }
}
