//! The benchmark runs, on small lists.

use std::fs;
use std::process::Command;

#[test]
fn a_quick_run_writes_its_tables_its_charts_and_all_numbers() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["--quick", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let page = fs::read_to_string(out.path().join("README.md")).unwrap();
    for chart in [
        "flat-cost.svg",
        "bytes-per-append.svg",
        "scroll.svg",
        "edges-time.svg",
        "edges-commands.svg",
    ] {
        assert!(page.contains(chart));
        let svg = fs::read_to_string(out.path().join(chart)).unwrap();
        assert!(svg.contains("<title") && svg.ends_with("</svg>\n"), "{chart}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{chart}");
    }
    let numbers = fs::read_to_string(out.path().join("lists.json")).unwrap();
    let numbers: serde_json::Value = serde_json::from_str(&numbers).unwrap();
    for experiment in ["flat", "race", "likers", "scroll", "home"] {
        assert!(numbers[experiment].is_object(), "{experiment}");
    }
}
