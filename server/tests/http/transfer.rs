//! Moves a town from store to store by the commands, in separate processes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::support::spillway;

/// The program with small heads and pages, on a store.
fn command(store: &str, arguments: &[&str]) -> Command {
    let mut command = spillway();
    command
        .args(arguments)
        .env("SPILLWAY_STORE", store)
        .env("SPILLWAY_THRESHOLD", "20")
        .env("SPILLWAY_PAGE_SIZE", "15");
    command
}

/// Its exit code and its messages.
#[track_caller]
fn run(store: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command(store, arguments).output().unwrap();
    let said = [stdout, stderr].concat();
    (status.code(), String::from_utf8(said).unwrap())
}

#[track_caller]
fn succeeds(store: &str, arguments: &[&str]) {
    let (code, said) = run(store, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {said}");
}

fn embedded(folder: &Path) -> String {
    format!("embedded:{}", folder.display())
}

/// A store with a small town in it, and its export.
fn town(folder: &Path) -> (String, Vec<u8>) {
    let store = embedded(&folder.join("town"));
    let sizes = [
        "--users=12",
        "--posts=20",
        "--viral-likes=400",
        "--celebrity-followers=300",
    ];
    succeeds(&store, &[&["seed"], &sizes[..]].concat());
    let file = folder.join("town.jsonl");
    succeeds(&store, &["export", "--to", &file.to_string_lossy()]);
    let export = fs::read(&file).unwrap();
    (store, export)
}

/// A server whose embedded store drivers can reach, like a MongoDB server.
struct MongoDb {
    child: Child,
    address: String,
}

impl MongoDb {
    fn start(folder: &Path) -> Self {
        let mut child = command(&embedded(folder), &["serve", "--no-demo"])
            .env("SPILLWAY_ADDR", "127.0.0.1:0")
            .env("SPILLWAY_MONGO_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.map(Result::unwrap).find_map(|line| {
            let (_, address) = line.split_once("reach its store at ")?;
            Some(address.to_owned())
        });
        Self {
            child,
            address: address.unwrap(),
        }
    }
}

impl Drop for MongoDb {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).unwrap();
    }
}

#[test]
fn a_town_moves_to_mongodb_and_back_and_its_exports_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (_, export) = town(folder.path());

    let mongodb = MongoDb::start(&folder.path().join("mongodb"));
    succeeds(&mongodb.address, &["import", "--from", &path("town.jsonl")]);
    // Lists that belong together are compared below: the documents are the same, and that check takes a minute.
    succeeds(&mongodb.address, &["check", "--lists-only"]);
    succeeds(&mongodb.address, &["export", "--to", &path("mongodb.jsonl")]);
    assert!(
        fs::read(path("mongodb.jsonl")).unwrap() == export,
        "the exports differ"
    );

    let back = embedded(&folder.path().join("back"));
    succeeds(&back, &["import", "--from", &path("mongodb.jsonl")]);
    succeeds(&back, &["check"]);
    succeeds(&back, &["export", "--to", &path("back.jsonl")]);
    assert!(
        fs::read(path("back.jsonl")).unwrap() == export,
        "the exports differ"
    );
}

#[test]
fn a_pipe_carries_a_town_from_store_to_store() {
    let folder = tempfile::tempdir().unwrap();
    let (store, export) = town(folder.path());
    let other = embedded(&folder.path().join("other"));
    let mut source = command(&store, &["export"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = source.stdout.take().unwrap();
    let imported = command(&other, &["import"]).stdin(pipe).output().unwrap();
    assert!(source.wait().unwrap().success());
    assert!(imported.status.success(), "{imported:?}");
    assert_eq!(imported.stdout, b"", "standard output is for exports");
    let exported = command(&other, &["export", "--to", "-"]).output().unwrap();
    assert!(exported.stdout == export, "the exports differ");
}

#[test]
fn a_file_that_is_not_whole_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_, export) = town(folder.path());
    let file = folder.path().join("half.jsonl");
    let missing = folder.path().join("new");
    let half = export.len() / 2;
    let lines = String::from_utf8(export.clone()).unwrap();
    let wrong = lines.replacen(r#""collection":"meta""#, r#""collection":"metal""#, 1);
    for (content, says) in [
        (&export[..half], "without the line that ends an export"),
        (wrong.as_bytes(), "line 2, field collection"),
        (b"{\"_id\":1}\n", "line 1"),
        (b"", "line 1"),
    ] {
        fs::write(&file, content).unwrap();
        let (code, said) = run(
            &embedded(&missing),
            &["import", "--from", &file.to_string_lossy()],
        );
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(says) && said.contains("cause:") && said.contains("next:"),
            "{says}: {said}"
        );
        assert!(!missing.exists(), "{says}");
    }
    let (code, said) = run(&embedded(&missing), &["import", "--from", "/nowhere/town.jsonl"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("/nowhere/town.jsonl") && said.contains("next:"),
        "{said}"
    );
}

#[test]
fn a_store_that_is_half_imported_is_for_import_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (_, export) = town(folder.path());
    let other = embedded(&folder.path().join("other"));
    for part in [export.len() / 3, export.len() / 2] {
        let mut import = command(&other, &["import"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(&export[..part]).unwrap();
        let import = import.wait_with_output().unwrap();
        assert_eq!(import.status.code(), Some(1));
        let said = String::from_utf8(import.stderr).unwrap();
        assert!(said.contains("without the line that ends an export"), "{said}");
        for refused in [
            &["serve", "--addr=127.0.0.1:0"][..],
            &["seed"],
            &["check", "--repair"],
            &["export"],
            &["stats"],
        ] {
            let (code, said) = run(&other, refused);
            assert_eq!(code, Some(1), "{refused:?}: {said}");
            assert!(
                said.contains("started but not finished") && said.contains("spillway import"),
                "{refused:?}: {said}"
            );
        }
    }
    let file = folder.path().join("town.jsonl").to_string_lossy().into_owned();
    succeeds(&other, &["import", "--from", &file]);
    succeeds(&other, &["check"]);
    succeeds(&other, &["import", "--from", &file]);
}

#[test]
fn a_store_in_use_is_not_imported_into() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = town(folder.path());
    let small = embedded(&folder.path().join("small"));
    succeeds(
        &small,
        &[
            "seed",
            "--users=3",
            "--posts=3",
            "--viral-likes=5",
            "--celebrity-followers=3",
            "--seed=2",
        ],
    );
    let file = folder.path().join("town.jsonl").to_string_lossy().into_owned();
    let (code, said) = run(&small, &["import", "--from", &file]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("line ") && said.contains("next:"), "{said}");
    succeeds(&small, &["check"]);
    succeeds(&store, &["check"]);
}

#[test]
fn an_export_that_cannot_be_written_leaves_the_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let missing = embedded(&folder.path().join("misspelt"));
    let file = folder.path().join("town.jsonl");
    fs::write(&file, "earlier").unwrap();
    let (code, said) = run(&missing, &["export", "--to", &file.to_string_lossy()]);
    assert_eq!(code, Some(1));
    assert!(said.contains("There is no store"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "earlier");

    let (store, _) = town(folder.path());
    let (code, said) = run(&store, &["export", "--to", "/nowhere/town.jsonl"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("/nowhere/town.jsonl") && said.contains("cause:"),
        "{said}"
    );
    for command in ["export", "import"] {
        assert_eq!(run(&store, &[command, "--no-such-option"]).0, Some(2));
    }
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_an_export() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    town(folder.path());
    let mode = fs::metadata(folder.path().join("town.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
