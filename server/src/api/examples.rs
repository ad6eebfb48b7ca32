//! An example of everything that the workshop answers.

use serde_json::{Value, json};

const POST: &str = "0198c0de-7000-8000-a1b2-c3d4e5f60718";

/// The examples by the names of their schemas.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("NewLayoutRace", json!({ "largest": 10_000, "itemBytes": 62 })),
        ("LayoutRace", layout_race()),
        ("RacedLayout", layout_race()["layouts"][0].clone()),
        ("LayoutLap", layout_race()["layouts"][0]["laps"][0].clone()),
        (
            "LayoutCost",
            layout_race()["layouts"][0]["laps"][0]["append"].clone(),
        ),
        ("Wall", layout_race()["layouts"][0]["laps"][0]["wall"].clone()),
        ("LastStorm", storm()),
        ("Migration", migration()),
        ("MeasuredList", migration()["found"][0].clone()),
        ("MigrationSample", migration()["looks"][0].clone()),
        ("MigrationVerdict", migration()["verdict"].clone()),
        ("LastTunedList", json!({ "list": tuned_list() })),
        ("TunedList", tuned_list()),
        ("TunedCost", tuned_list()["cost"].clone()),
    ]
}

fn layout_race() -> Value {
    let cost = |times: u64, us: u64, read: u64, written: u64| {
        json!({
            "times": times, "medianUs": us, "p95Us": 2 * us, "documentsRead": 1, "bytesRead": read, "bytesWritten": written
        })
    };
    json!({
        "progress": "finished", "by": "ada", "largest": 100_000, "itemBytes": 200, "done": 9_412, "total": 9_412,
        "layouts": [{
            "name": "unbounded",
            "laps": [{
                "items": 80_901, "append": cost(12, 61_000, 16_774_400, 16_774_607), "firstPage": cost(13, 9_800, 16_774_400, 0),
                "largestDocument": 16_777_091,
                "wall": {
                    "items": 80_913, "code": 17_419,
                    "message": "Resulting document after update is larger than 16777216"
                }
            }]
        }]
    })
}

fn storm() -> Value {
    json!({ "storm": {
                "choice": {
                    "target": "brink", "actors": 10_000, "rate": 200, "atOnce": 16, "seconds": 1, "takeBack": 0
                },
                "by": "ada", "at": "2026-03-01T18:30:00.000Z", "phase": "over", "stopped": false,
                "laidOut": 995, "threshold": 1000, "due": 200, "answered": 200, "failed": 0, "elapsed": 1002,
                "reached": 199, "p50": 4120, "p99": 11_873,
                "seconds": [{
                    "second": 1, "answered": 200, "p50": 4120, "p99": 11_873, "head": 695, "pages": 1,
                    "ownerBytes": 53_610, "bytesPerLike": 51_200
                }],
                "verdict": {
                    "acknowledged": 1195, "counted": 1195, "distinct": 1195, "lost": 0, "strangers": 0,
                    "unknown": 0, "violations": 0, "holds": true
                }
            } })
}

fn migration() -> Value {
    let owner = format!("post:{POST}");
    json!({
        "progress": "finished", "by": "ada", "items": 10_000,
        "found": [{
            "owner": owner, "form": "unbounded", "items": 10_000, "pages": 0, "ownerBytes": 689_213, "pageBytes": 0
        }],
        "looks": [{
            "at": 1_252, "acknowledged": 168, "form": "overflowed", "count": 10_168, "head": 668, "pages": 19,
            "ownerBytes": 46_377
        }],
        "acknowledged": 496, "pushed": 168,
        "left": [{
            "owner": owner, "form": "overflowed", "items": 10_496, "pages": 19, "ownerBytes": 68_993, "pageBytes": 658_103
        }],
        "verdict": {
            "before": 10_000, "acknowledged": 496, "counted": 10_496, "found": 10_496, "distinct": 10_496,
            "violations": 0, "refused": 0, "holds": true
        }
    })
}

fn tuned_list() -> Value {
    json!({
        "progress": "finished", "by": "ada", "relation": "likes", "budget": 4_096, "threshold": 58, "pageSize": 39,
        "itemBytes": 62, "items": 1_033, "appended": 39,
        "cost": {
            "ownerBytes": 4_284, "listBytes": 3_944, "pageBytes": 2_834, "written": 3_146.5, "firstPageDocuments": 3,
            "firstPageBytes": 6_386, "seams": 25, "asPredicted": true
        }
    })
}
