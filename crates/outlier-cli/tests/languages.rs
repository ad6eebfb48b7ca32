//! Rust, Python and Node.js at the same list at the same time.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use outlier::check::{Options, check};
use outlier::describe::Description;
use outlier::{Item, Key, Owner, plain, uuid_bson};
use tokio::process::Command;
use uuid::Uuid;

use crate::support::{Server, run};

/// How many items each of the three appends; a third of them is removed again.
const ITEMS: usize = 90;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs in other languages that this machine can run. `cargo xtask test` provides both.
fn others(arguments: &[&str]) -> Vec<(&'static str, Command)> {
    let mut others = Vec::new();
    match std::env::var_os("OUTLIER_PYTHON") {
        Some(python) => others.push(("python", Command::new(python), "examples/python/overflow_list.py")),
        None => eprintln!("skipped for Python: OUTLIER_PYTHON names no Python with PyMongo"),
    }
    if root().join("node_modules/mongodb").exists() {
        others.push(("node", Command::new("node"), "examples/node/overflow-list.mjs"));
    } else {
        eprintln!("skipped for Node.js: `npm ci` installs its driver");
    }
    let number = ITEMS.to_string();
    let started = |(name, mut command, program): (&'static str, Command, &str)| {
        command
            .arg(root().join(program))
            .args(arguments)
            .args([name, &number]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        (name, command)
    };
    others.into_iter().map(started).collect()
}

async fn rust(server: &Server, description: &Description, owner: &Owner) {
    let address = server.address();
    let engine = std::sync::Arc::new(mongo::Mongo::connect(&address).await.unwrap());
    let collection = description.collection();
    let list = collection.lists()[0].on(engine);
    for nth in 0..ITEMS {
        let id = |nth: usize| Uuid::from_u128(1 << 100 | nth as u128);
        let at = DateTime::from_millis(1_700_000_000_000);
        let item = doc! { "name": format!("rust {nth}"), plain::ID: uuid_bson(id(nth)), plain::AT: at };
        let item = Item::new(item, &description.spec.order).unwrap();
        assert!(list.append(owner, item).await.unwrap().added);
        if nth % 3 == 2 {
            let removed = list.remove(owner, &Key::Id(id(nth - 2))).await.unwrap();
            assert!(removed.item.is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_python_and_node_lose_nothing_in_the_same_list() {
    let server = Server::open(None).await;
    let before: Vec<Document> = (0..50)
        .map(|nth| doc! { "name": format!("before {nth}") })
        .collect();
    server
        .insert("shops", vec![doc! { "_id": 7, "state": { "log": before } }])
        .await;
    let address = server.address();
    let place = [&address, "--collection", "shops", "--path", "state.log"];
    let (code, told, error) = run(
        "adopt",
        &[&place[..], &["--threshold", "8", "--page-size", "6"]].concat(),
    )
    .await;
    assert_eq!(code, 0, "{told}{error}");
    let description = Description::load(&server.engine, "shops", "state.log")
        .await
        .unwrap()
        .unwrap();
    let owner = Owner::from(Bson::Int32(7));

    let mut expected = BTreeMap::from([("before", 50), ("rust", ITEMS - ITEMS / 3)]);
    let mut running = Vec::new();
    for (name, mut command) in others(&[&address, "shops", "state.log", "7"]) {
        expected.insert(name, ITEMS - ITEMS / 3);
        running.push((name, command.spawn().unwrap()));
    }
    rust(&server, &description, &owner).await;
    for (name, child) in running {
        let ended = child.wait_with_output().await.unwrap();
        let (out, error) = (
            String::from_utf8_lossy(&ended.stdout),
            String::from_utf8_lossy(&ended.stderr),
        );
        assert!(ended.status.success(), "{name}: {error}");
        assert_eq!(out.lines().count(), 20, "{name} reads the newest: {out}{error}");
    }

    let collection = description.collection();
    let mut walk = collection.lists()[0].on(server.engine.clone()).walk(&owner);
    let (mut found, mut ids) = (BTreeMap::new(), std::collections::HashSet::new());
    while let Some(stretch) = walk.next().await.unwrap() {
        for item in stretch.items {
            let name = item.document().get_str("name").unwrap().to_owned();
            assert!(ids.insert(item.order().1), "{name} is there twice");
            *found
                .entry(name.split(' ').next().unwrap().to_owned())
                .or_insert(0) += 1;
        }
    }
    let found: BTreeMap<&str, usize> = found
        .iter()
        .map(|(name, items)| (name.as_str(), *items))
        .collect();
    assert_eq!(found, expected);
    let how = Options {
        repair: false,
        pause: Duration::ZERO,
    };
    let checked = check(&server.engine, &[collection], how, &|_| {}).await.unwrap();
    let worse = |finding: &&outlier::check::Finding| finding.severity > outlier::check::Severity::Notice;
    let worse: Vec<_> = checked.findings.iter().filter(worse).collect();
    assert!(worse.is_empty(), "{worse:?}");
}
