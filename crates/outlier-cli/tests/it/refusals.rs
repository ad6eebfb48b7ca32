//! What `outlier adopt` and its tools refuse, and what they say.

use bson::oid::ObjectId;
use bson::{Document, doc};
use document::Index;

use crate::proxy::{Proxy, Then, name};
use crate::support::{Server, run};

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_adopted_is_refused_with_the_way_round_and_stays() {
    let server = Server::open(None).await;
    let nested = doc! { "_id": 1, "list": [{ "in": [1] }], "n": 1, "born": 1 };
    server.insert("odd", vec![nested]).await;
    server
        .insert(
            "mixed",
            vec![doc! { "_id": 1, "a": [1] }, doc! { "_id": "1", "a": [1] }],
        )
        .await;
    let keyed = |key: i32| doc! { "k": key, "t": "noon" };
    server
        .insert(
            "keyed",
            vec![doc! { "_id": ObjectId::from_bytes([1; 12]), "a": [keyed(1), keyed(1)], "b": [1] }],
        )
        .await;
    server
        .engine
        .create_index("keyed", Index::unique_on(doc! { "b": 1 }))
        .await
        .unwrap();
    let address = server.address();
    for (arguments, why) in [
        (["odd", "n", ""], "none of 1 documents has an array there"),
        (["odd", "list.in", ""], "leads into another array"),
        (["odd", "list[].in", ""], "inside of another array"),
        (["odd", "list.0.in", ""], "element of an array"),
        (["odd", "list", ""], "a field `born`"),
        (["mixed", "a", ""], "different types (number, string)"),
        (["nosuch", "a", ""], "no collection nosuch"),
        (["keyed", "a", "--key=k"], "another element has the same `k`"),
        (["keyed", "a", "--key=x"], "an item of `a` has no `x`"),
        (["keyed", "a", "--order-by=t"], "`t` is not a date"),
        (["keyed", "b", ""], "unique index"),
    ] {
        let [collection, path, option] = arguments;
        let mut arguments = vec![address.as_str(), "--collection", collection, "--path", path];
        arguments.extend(Some(option).filter(|option| !option.is_empty()));
        let (code, out, error) = run("adopt", &arguments).await;
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {error}");
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
    let mut there = server.engine.collections().await.unwrap();
    there.sort();
    assert_eq!(there, ["keyed", "mixed", "odd"]);
}

#[tokio::test]
async fn a_wrong_address_or_option_says_what_to_do() {
    let place = |uri| [uri, "--collection", "c", "--path", "p"];
    for command in ["adopt", "check", "stats", "tune"] {
        let (code, _, error) = run(
            command,
            &place("mongodb://127.0.0.1:9/shop?serverSelectionTimeoutMS=200"),
        )
        .await;
        assert!(code == 1 && error.contains("Is it running"), "{command}: {error}");
        let (code, _, error) = run(command, &["mongodb://127.0.0.1/shop"]).await;
        assert!(code == 2 && error.contains("--collection"), "{command}: {error}");
    }
    let server = Server::open(None).await;
    let without = format!("mongodb://{}/", server.listener.address());
    let (code, _, error) = run("adopt", &place(&without)).await;
    assert!(code == 1 && error.contains("names no database"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_rights_is_told_which_and_a_later_run_finishes() {
    let server = Server::open(None).await;
    let orders: Vec<i32> = (0..50).collect();
    server
        .insert("customers", vec![doc! { "_id": 1, "orders": orders.clone() }])
        .await;
    let denied = |command: &Document| {
        let message = format!("not authorized to execute {command}");
        Then::Answer(doc! { "ok": 0, "code": 13, "codeName": "Unauthorized", "errmsg": message })
    };
    let place = [
        "--collection",
        "customers",
        "--path",
        "orders",
        "--threshold",
        "8",
        "--page-size",
        "6",
    ];
    // May read nothing; may read; may write, but make no index.
    for refused in [
        &["find"][..],
        &["update", "insert", "findAndModify", "createIndexes"],
        &["createIndexes"],
    ] {
        let decide = move |command: &Document| {
            if refused.contains(&name(command)) {
                denied(command)
            } else {
                Then::Pass
            }
        };
        let proxy = Proxy::before(&server.address(), decide).await;
        let (code, out, error) = run("adopt", &[&[proxy.address.as_str()], &place[..]].concat()).await;
        assert_eq!(code, 1, "{refused:?}: {out}{error}");
        assert!(
            error.contains("Grant the role `readWrite` on the database spillway"),
            "{refused:?}: {error}"
        );
        assert!(!error.contains("not authorized"), "{error}");
        let stored = server
            .engine
            .find("customers", document::Find::matching(doc! {}))
            .await
            .unwrap();
        assert_eq!(
            stored,
            [doc! { "_id": 1, "orders": orders.clone() }],
            "{refused:?}"
        );
    }
    let (code, told, error) = run("adopt", &[&[server.address().as_str()], &place[..]].concat()).await;
    assert_eq!(code, 0, "{told}{error}");
    assert!(told.contains("Adopted 1 arrays"), "{told}");
}
