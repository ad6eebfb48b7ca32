//! The maintenance commands, in separate processes.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use bson::{DateTime, doc};
use embedded::Embedded;
use store::{Settings, Store};

use crate::support::spillway;

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command(folder, arguments).output().unwrap();
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

fn command(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = spillway();
    command
        .args(arguments)
        .env("SPILLWAY_STORE", format!("embedded:{}", folder.display()))
        .env("SPILLWAY_THRESHOLD", "20")
        .env("SPILLWAY_PAGE_SIZE", "15");
    command
}

/// A store with one person who has this many followers with plain handles.
fn with_handles(folder: &Path, followers: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let engine = Arc::new(Embedded::open(folder).unwrap());
        let store = Store::open(engine, Settings::default()).await.unwrap();
        let names: Vec<String> = (0..followers).map(|n| format!("fan{n}")).collect();
        let ada =
            doc! { "_id": "ada", "name": "Ada", "at": DateTime::from_millis(1_000), "followers": names };
        store.engine().insert("users", vec![ada]).await.unwrap();
    });
}

#[test]
fn a_migration_that_is_killed_again_and_again_is_ended_by_the_last_run() {
    let folder = tempfile::tempdir().unwrap();
    with_handles(folder.path(), 6_000);
    for pause in [40, 80, 120, 200] {
        let mut migrate = command(folder.path(), &["migrate"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        migrate.kill().unwrap();
        migrate.wait().unwrap();
    }
    let (code, _, stderr) = run(folder.path(), &["migrate"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, stdout, stderr) = run(folder.path(), &["check", "--lists-only", "--json"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let checked: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(checked["items"], 6_000, "{stdout}");
    assert_eq!(checked["pages"], 399, "{stdout}");
}

#[test]
fn from_an_outlier_to_a_correct_store() {
    let folder = tempfile::tempdir().unwrap();
    with_handles(folder.path(), 100);
    let (code, stdout, _) = run(folder.path(), &["detect"]);
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("unbounded array") && stdout.contains("user:ada"),
        "{stdout}"
    );
    let (code, stdout, _) = run(folder.path(), &["migrate", "--dry-run"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("Would migrate 1 list"), "{stdout}");
    assert_eq!(run(folder.path(), &["migrate"]).0, Some(0));
    let (code, stdout, stderr) = run(folder.path(), &["check", "--lists-only"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let (code, stdout, _) = run(folder.path(), &["stats", "--budget", "16KB"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("SPILLWAY_THRESHOLD_FOLLOWERS="), "{stdout}");
}

#[test]
fn violations_exit_with_1_and_what_was_repaired_with_0() {
    let folder = tempfile::tempdir().unwrap();
    with_handles(folder.path(), 100);
    assert_eq!(run(folder.path(), &["migrate"]).0, Some(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let engine = Arc::new(Embedded::open(folder.path()).unwrap());
        let store = Store::open(engine, Settings::default()).await.unwrap();
        let wrong = document::Update::one(doc! {}, doc! { "$set": { "followers.count": 7_i64 } });
        store.engine().update("users", wrong).await.unwrap();
    });
    let (code, stdout, stderr) = run(folder.path(), &["check", "--lists-only"]);
    assert_eq!(code, Some(1));
    assert!(
        stdout.contains("user:ada followers: `count` says 7 items"),
        "{stdout}"
    );
    assert!(
        stderr.contains("next:") && stderr.contains("--repair"),
        "{stderr}"
    );
    let (code, stdout, _) = run(folder.path(), &["check", "--lists-only", "--repair"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("repaired"), "{stdout}");
    assert_eq!(run(folder.path(), &["check", "--lists-only"]).0, Some(0));
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("misspelt");
    for command in ["detect", "migrate", "check", "stats"] {
        let (code, _, stderr) = run(&missing, &[command]);
        assert_eq!(code, Some(1), "{command}");
        assert!(stderr.contains("There is no store"), "{stderr}");
        assert!(!missing.exists());
        assert_eq!(run(&missing, &[command, "--no-such-option"]).0, Some(2));
    }
}
