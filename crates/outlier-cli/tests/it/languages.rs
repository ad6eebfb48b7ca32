//! Rust, Python and Node.js at the same list at the same time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use outlier::check::{Defect, Options, check};
use outlier::describe::Description;
use outlier::{Item, Key, OrderBy, Owner, plain, uuid_bson};
use tokio::process::Command;
use uuid::Uuid;

use crate::proxy::{Proxy, Then, name};
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
        let at = match description.spec.order.by {
            OrderBy::Date => DateTime::from_millis(1_700_000_000_000).into(),
            OrderBy::Number => Bson::Int64(i64::try_from(nth).unwrap()),
        };
        let order = &description.spec.order;
        let item = doc! { "name": format!("rust {nth}"), plain::ID: uuid_bson(id(nth)), &*order.at: at };
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
    // Most heads are full by bytes before they have eight items.
    lose_nothing(&["--head-bytes", "400"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_python_and_node_lose_nothing_in_the_same_list_ordered_by_a_number() {
    lose_nothing(&["--order-by", "n"]).await;
}

async fn lose_nothing(options: &[&str]) {
    let server = Server::open(None).await;
    let before: Vec<Document> = (0..50)
        .map(|nth| doc! { "name": format!("before {nth}"), "n": nth - 50 })
        .collect();
    server
        .insert("shops", vec![doc! { "_id": 7, "state": { "log": before } }])
        .await;
    let address = server.address();
    let place = [&address, "--collection", "shops", "--path", "state.log"];
    let (code, told, error) = run(
        "adopt",
        &[&place[..], &["--threshold", "8", "--page-size", "6"], options].concat(),
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
    let worse = |finding: &&outlier::check::Finding| {
        let over = matches!(
            finding.defect,
            Defect::HeadOverBytes { .. } | Defect::HeadOverThreshold { .. }
        );
        over || finding.severity > outlier::check::Severity::Notice
    };
    let worse: Vec<_> = checked.findings.iter().filter(worse).collect();
    assert!(worse.is_empty(), "{worse:?}");
}

/// The commands on lists that a program sends to a server that says it is of a replica set.
async fn sent_to_a_replica_set(mut program: Command, proxy: &Proxy) -> Vec<Document> {
    let ended = program.spawn().unwrap().wait_with_output().await.unwrap();
    let error = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{error}");
    let mut commands = proxy.commands();
    commands.retain(|command| {
        let collection = command.get_str(name(command)).unwrap_or_default();
        collection.starts_with("shops")
    });
    commands
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_replica_set_operations_are_in_sessions_with_majority_concerns_and_confirm_what_changes_nothing()
{
    let server = Server::open(None).await;
    server
        .insert("shops", vec![doc! { "_id": 7, "state": { "log": [1, 2, 3] } }])
        .await;
    let address = server.address();
    let place = [&address, "--collection", "shops", "--path", "state.log"];
    let small = ["--threshold", "8", "--page-size", "6"];
    let (code, told, error) = run("adopt", &[&place[..], &small].concat()).await;
    assert_eq!(code, 0, "{told}{error}");
    let member = |command: &Document| match name(command) {
        "hello" | "isMaster" | "ismaster" => Then::Answer(doc! {
            "ok": 1, "isWritablePrimary": true, "ismaster": true, "setName": "set", "setVersion": 1, "minWireVersion": 0,
            "maxWireVersion": 21, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000,
            "logicalSessionTimeoutMinutes": 30, "localTime": DateTime::from_millis(0), "secondary": false, "hosts": [],
        }),
        _ => Then::Pass,
    };
    for (language, command) in others(&[]) {
        let proxy = Proxy::before(&address, member).await;
        let member = format!("{}?directConnection=true&retryWrites=false", proxy.address);
        let mut program = Command::new(command.as_std().get_program());
        let script = command.as_std().get_args().next().unwrap().to_owned();
        program
            .arg(script)
            .args([&member, "shops", "state.log", "7", language, "12"]);
        program
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let commands = sent_to_a_replica_set(program, &proxy).await;
        for command in &commands {
            assert!(command.contains_key("lsid"), "{language}: {command}");
            let (concern, field) = match name(command) {
                "find" => ("readConcern", "level"),
                _ => ("writeConcern", "w"),
            };
            let concern = command.get_document(concern).unwrap().get_str(field);
            assert_eq!(concern.unwrap(), "majority", "{language}: {command}");
        }
        // Twelve appends, each repeated in vain, four removals, each repeated in vain, and each answer that changes nothing has
        // a write that raises `rev` alone.
        let raises = |command: &&Document| {
            let updates = command
                .get_array("updates")
                .map(Vec::as_slice)
                .unwrap_or_default();
            updates.iter().any(|one| {
                one.as_document().unwrap().get_document("u").ok()
                    == Some(&doc! { "$inc": { "state.log.rev": 1 } })
            })
        };
        assert_eq!(commands.iter().filter(raises).count(), 16, "{language}");
    }
}
