//! One aggregation that finds and measures every array of a collection. Only paths, lengths, sizes and times leave the
//! server.
//!
//! Each document becomes rows: one for itself, one for each array or object in it that is still to be looked into.
//! Each level looks into the values of the level before. An item of an array is looked into only if it contains an
//! array or an object itself, so an array of flat documents is one row, however long it is.

use bson::{Bson, DateTime, Document, bson, doc};
use outlier::verdict::BUDGET;

use crate::histogram::bucket_on_server;

/// How many levels of arrays and objects to look into: more only if there are more, since each level costs time.
pub const LEVELS: [usize; 3] = [0, 4, 12];

/// The type, name and ends around an array in `{a: […]}`, in bytes.
pub const WRAPPING: i32 = 4 + 1 + 2 + 1;
/// The milliseconds that an array of a single moment lasts at least.
const MOMENT: i64 = 1;

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How many levels of arrays and objects to look into.
    pub levels: usize,
    /// The most items that are not beyond the threshold.
    pub threshold: u64,
    /// The present, from which documents have an age.
    pub now: Option<DateTime>,
    /// A random sample of this many documents.
    pub sample: Option<u32>,
    /// One row for each array instead of one for each bucket of them, so that the reader sets the pace.
    pub single: bool,
}

/// The pipeline. Its rows are read by [`Row`](crate::tally::Row).
pub fn pipeline(plan: Plan) -> Vec<Document> {
    let mut stages: Vec<Document> = Vec::new();
    stages.extend(
        plan.sample
            .map(|size| doc! { "$sample": { "size": i64::from(size) } }),
    );
    let size = doc! { "$bsonSize": "$$ROOT" };
    stages.push(doc! { "$project": {
        "_id": 0, "z": size, "g": age(plan.now),
        "r": { "$concatArrays": [[{ "k": "d", "o": null }], inside(&"$$ROOT".into(), None, &false.into())] },
    } });
    stages.push(doc! { "$unwind": "$r" });
    for _ in 0..plan.levels {
        stages.push(doc! { "$project": { "z": 1, "g": 1, "r": level() } });
        stages.push(doc! { "$unwind": "$r" });
    }
    stages.push(doc! { "$match": { "$or": [{ "r.k": { "$in": ["a", "d"] } }, { "$expr": container(&"$r.o".into()) }] } });
    stages.push(numbers(plan.threshold));
    stages.push(if plan.single { singly() } else { grouped() });
    stages
}

/// Milliseconds since the document's `_id` was made.
fn age(now: Option<DateTime>) -> Bson {
    match now {
        Some(now) => bson!({ "$cond": [
            { "$eq": [{ "$type": "$_id" }, "objectId"] }, { "$subtract": [now, { "$toDate": "$_id" }] }, null,
        ] }),
        None => Bson::from(doc! { "$literal": null }),
    }
}

fn container(value: &Bson) -> Bson {
    bson!({ "$in": [{ "$type": value }, ["array", "object"]] })
}

/// The arrays and objects among the fields of an object, as nodes.
fn inside(object: &Bson, path: Option<&str>, nested: &Bson) -> Bson {
    let fields = bson!({ "$filter": {
        "input": { "$objectToArray": object }, "as": "f", "cond": (container(&"$$f.v".into())),
    } });
    let name = bson!({ "$cond": [
        { "$or": [
            { "$gte": [{ "$indexOfCP": ["$$f.k", "."] }, 0] },
            { "$eq": [{ "$substrCP": ["$$f.k", 0, 1] }, { "$literal": "$" }] },
        ] },
        { "$concat": ["[\"", "$$f.k", "\"]"] },
        "$$f.k",
    ] });
    let path = match path {
        Some(path) => bson!({ "$concat": [path, ".", name] }),
        None => name,
    };
    bson!({ "$map": { "input": fields, "as": "f", "in": (node(&"$$f.v".into(), &path, nested)) } })
}

/// A value that is an array or an object, with what is measured of it (`l`, `b`, `s`), and what is to be looked into
/// (`o`).
fn node(value: &Bson, path: &Bson, nested: &Bson) -> Bson {
    let is_array = bson!({ "$isArray": [value] });
    let inner = |object: &Bson| {
        bson!({ "$anyElementTrue": [{ "$map": {
        "input": { "$objectToArray": object }, "as": "x", "in": (container(&"$$x.v".into())),
    } }] })
    };
    let with_containers = bson!({ "$filter": { "input": value, "as": "e", "cond": { "$switch": {
        "branches": [
            { "case": { "$isArray": ["$$e"] }, "then": true },
            { "case": { "$eq": [{ "$type": "$$e" }, "object"] }, "then": (inner(&"$$e".into())) },
        ],
        "default": false,
    } } } });
    let of_array = |measured: Bson| bson!({ "$cond": [is_array.clone(), measured, null] });
    bson!({
        "k": { "$cond": [is_array.clone(), "a", "o"] },
        "p": path,
        "n": nested,
        "l": (of_array(bson!({ "$size": value }))),
        "b": (of_array(bson!({ "$subtract": [{ "$bsonSize": { "a": value } }, WRAPPING] }))),
        "s": (of_array(bson!({ "$abs": { "$subtract": [date_at(value, -1), date_at(value, 0)] } }))),
        "c": (of_array(bson!({ "$cond": [
            { "$eq": [{ "$type": { "$arrayElemAt": [value, 0] } }, "object"] }, 1, 0,
        ] }))),
        "o": { "$cond": [is_array, with_containers, { "$cond": [inner(value), value, null] }] },
    })
}

/// The first date among the fields of an item, or the item if it is a date; null without one.
fn date_at(array: &Bson, index: i32) -> Bson {
    bson!({ "$let": {
        "vars": { "i": { "$ifNull": [{ "$arrayElemAt": [array, index] }, null] } },
        "in": { "$switch": {
            "branches": [
                { "case": { "$eq": [{ "$type": "$$i" }, "date"] }, "then": "$$i" },
                { "case": { "$eq": [{ "$type": "$$i" }, "object"] }, "then": { "$let": {
                    "vars": { "d": { "$arrayElemAt": [{ "$filter": {
                        "input": { "$objectToArray": "$$i" }, "as": "x",
                        "cond": { "$eq": [{ "$type": "$$x.v" }, "date"] },
                    } }, 0] } },
                    "in": { "$ifNull": ["$$d.v", null] },
                } } },
            ],
            "default": null,
        } },
    } })
}

/// A row and, if it is to be looked into, what is inside.
fn level() -> Bson {
    let open = Bson::from("$r.o");
    let itself = bson!({ "$cond": [
        { "$eq": ["$r.k", "a"] },
        [{ "k": "a", "p": "$r.p", "n": "$r.n", "l": "$r.l", "b": "$r.b", "s": "$r.s", "c": "$r.c", "o": null }],
        [],
    ] });
    let path = bson!({ "$concat": ["$r.p", "[]"] });
    let items = bson!({ "$map": {
        "input": open.clone(), "as": "i", "in": (node(&"$$i".into(), &path, &true.into())),
    } });
    let children = bson!({ "$cond": [
        { "$isArray": [open.clone()] }, items, (inside(&open, Some("$r.p"), &"$r.n".into())),
    ] });
    bson!({ "$cond": [
        (container(&open)), { "$concatArrays": [itself, children] }, ["$r"],
    ] })
}

/// The numbers of a row.
fn numbers(threshold: u64) -> Document {
    let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let beyond = bson!({ "$or": [{ "$gt": ["$r.l", long(threshold)] }, { "$gt": ["$r.b", long(BUDGET)] }] });
    let is_array = bson!({ "$eq": ["$r.k", "a"] });
    // What is left to be looked into; an array without further containers has none of its items left.
    let open = bson!({ "$and": [container(&"$r.o".into()), { "$ne": ["$r.o", []] }] });
    let flag = |condition: Bson| bson!({ "$cond": [{ "$and": [is_array.clone(), condition] }, 1, 0] });
    let bytes = bson!({ "$cond": [{ "$eq": ["$r.k", "d"] }, "$z", { "$ifNull": ["$r.b", 0] }] });
    let length = bson!({ "$ifNull": ["$r.l", 0] });
    let with = |number: &str, value: Bson| bson!({ "$cond": [{ "$gte": [number, MOMENT] }, value, 0] });
    doc! { "$project": {
        "k": "$r.k",
        "d": { "$cond": [open, 1, 0] },
        "p": { "$ifNull": ["$r.p", ""] },
        "n": { "$ifNull": ["$r.n", false] },
        "lb": bucket_on_server(&length),
        "bb": bucket_on_server(&bytes),
        "l": &length,
        "b": &bytes,
        "i": { "$cond": [{ "$gt": [&length, 0] }, { "$divide": [&bytes, &length] }, 0] },
        "z": 1,
        "y": flag(beyond),
        "c": { "$cond": [{ "$eq": ["$r.c", 1] }, &length, 0] },
        "sl": with("$r.s", length.clone()),
        "s": with("$r.s", "$r.s".into()),
        "gl": with("$g", length.clone()),
        "g": with("$g", "$g".into()),
    } }
}

/// The names of the numbers in the answer: name, function of the group, field of the row.
const ANSWER: [(&str, &str, &str); 15] = [
    ("deeper", "$sum", "$d"),
    ("items", "$sum", "$l"),
    ("bytes", "$sum", "$b"),
    ("fewest", "$min", "$l"),
    ("most", "$max", "$l"),
    ("least", "$min", "$b"),
    ("largest", "$max", "$b"),
    ("item", "$max", "$i"),
    ("document", "$max", "$z"),
    ("beyond", "$sum", "$y"),
    ("documents", "$sum", "$c"),
    ("dated", "$sum", "$sl"),
    ("span", "$sum", "$s"),
    ("aged", "$sum", "$gl"),
    ("age", "$sum", "$g"),
];

fn key() -> Bson {
    bson!({ "k": "$k", "p": "$p", "n": "$n", "l": "$lb", "b": "$bb" })
}

fn grouped() -> Document {
    let mut group = doc! { "_id": key(), "n": { "$sum": 1 } };
    for (name, function, field) in ANSWER {
        group.insert(name, doc! { function: field });
    }
    doc! { "$group": group }
}

fn singly() -> Document {
    let mut row = doc! { "_id": key(), "n": { "$literal": 1 } };
    for (name, _, field) in ANSWER {
        row.insert(name, field);
    }
    doc! { "$project": row }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            levels: LEVELS[1],
            threshold: 1_000,
            now: None,
            sample: None,
            single: false,
        }
    }

    fn names(pipeline: &[Document]) -> Vec<&str> {
        pipeline
            .iter()
            .filter_map(|stage| stage.keys().next().map(String::as_str))
            .collect()
    }

    #[test]
    fn no_stage_writes() {
        let stages = pipeline(plan());
        for stage in names(&stages) {
            assert!(
                ["$project", "$unwind", "$match", "$group"].contains(&stage),
                "{stage}"
            );
        }
    }

    #[test]
    fn a_sample_comes_first_and_a_pace_groups_nothing() {
        let sampled = pipeline(Plan {
            sample: Some(100),
            ..plan()
        });
        assert_eq!(names(&sampled)[0], "$sample");
        let single = pipeline(Plan {
            single: true,
            ..plan()
        });
        assert!(!names(&single).contains(&"$group"));
    }

    #[test]
    fn no_value_of_a_document_is_in_the_answer() {
        let stages = pipeline(plan());
        let group = stages.last().unwrap().get_document("$group").unwrap();
        for (_, accumulator) in group.iter().skip(1) {
            let text = accumulator.to_string();
            assert!(!text.contains("$r") && !text.contains("ROOT"), "{text}");
        }
    }
}
