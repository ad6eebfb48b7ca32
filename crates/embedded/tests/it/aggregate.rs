//! Properties of aggregation: a pipeline gives the same result as a plain evaluation over all documents, with and
//! without indexes.

use std::collections::BTreeMap;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Index};
use embedded::Embedded;
use proptest::prelude::*;

const THINGS: &str = "things";

/// A stage, and its meaning in plain terms.
#[derive(Debug, Clone)]
enum Stage {
    /// `n` is at least this.
    Match(i32),
    /// By `n`, and then by `_id` and position.
    Sort {
        descending: bool,
    },
    Skip(u8),
    Limit(u8),
    /// The elements of `l`, with their positions.
    Unwind {
        preserve: bool,
    },
    /// `twice` becomes the double of `n`.
    Double,
}

impl Stage {
    fn to_document(&self) -> Document {
        match self {
            Self::Match(least) => doc! { "$match": { "n": { "$gte": least } } },
            Self::Sort { descending } => {
                let direction = if *descending { -1 } else { 1 };
                doc! { "$sort": { "n": direction, "_id": 1, "at": 1 } }
            }
            Self::Skip(count) => doc! { "$skip": i32::from(*count) },
            Self::Limit(count) => doc! { "$limit": i32::from(*count) },
            Self::Unwind { preserve } => doc! {
                "$unwind": { "path": "$l", "includeArrayIndex": "at", "preserveNullAndEmptyArrays": *preserve }
            },
            Self::Double => doc! { "$set": { "twice": { "$multiply": ["$n", 2] } } },
        }
    }

    fn apply(&self, things: &mut Vec<Thing>) {
        match self {
            Self::Match(least) => things.retain(|thing| thing.n >= *least),
            Self::Sort { descending } => things.sort_by_key(|thing| {
                let n = if *descending { -thing.n } else { thing.n };
                (n, thing.id, thing.at)
            }),
            Self::Skip(count) => drop(things.drain(..usize::from(*count).min(things.len()))),
            Self::Limit(count) => things.truncate(usize::from(*count)),
            Self::Unwind { preserve } => {
                *things = things.iter().flat_map(|thing| thing.unwound(*preserve)).collect();
            }
            Self::Double => things
                .iter_mut()
                .for_each(|thing| thing.twice = Some(2 * thing.n)),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Thing {
    id: i32,
    n: i32,
    l: List,
    at: Option<Position>,
    twice: Option<i32>,
}

#[derive(Debug, Clone, PartialEq)]
enum List {
    Missing,
    Whole(Vec<i32>),
    Single(i32),
}

/// `None` is null.
type Position = Option<i64>;

impl Thing {
    fn unwound(&self, preserve: bool) -> Vec<Self> {
        let with = |l: List, at: Position| Self {
            l,
            at: Some(at),
            ..self.clone()
        };
        match &self.l {
            List::Whole(items) if !items.is_empty() => (0..)
                .zip(items)
                .map(|(at, item)| with(List::Single(*item), Some(at)))
                .collect(),
            List::Single(item) => vec![with(List::Single(*item), None)],
            List::Whole(_) | List::Missing if preserve => vec![with(List::Missing, None)],
            List::Whole(_) | List::Missing => vec![],
        }
    }

    fn to_document(&self) -> Document {
        let mut document = doc! { "_id": self.id, "n": self.n };
        match &self.l {
            List::Missing => {}
            List::Whole(items) => drop(document.insert("l", items.clone())),
            List::Single(item) => drop(document.insert("l", *item)),
        }
        if let Some(at) = self.at {
            document.insert("at", at);
        }
        if let Some(twice) = self.twice {
            document.insert("twice", twice);
        }
        document
    }
}

/// A group by `n`: the results of `$sum`, `$min`, `$max`, `$push` and `$count` over the `_id`s.
fn grouped(things: &[Thing]) -> Vec<Document> {
    let mut groups: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for thing in things {
        groups.entry(thing.n).or_default().push(thing.id);
    }
    let group = |(n, ids): (i32, Vec<i32>)| {
        doc! {
            "_id": n,
            "sum": ids.iter().sum::<i32>(),
            "min": ids.iter().min().copied(),
            "max": ids.iter().max().copied(),
            "first": ids[0],
            "last": ids[ids.len() - 1],
            "count": i32::try_from(ids.len()).unwrap(),
            "ids": ids,
        }
    };
    groups.into_iter().map(group).collect()
}

fn group_stages() -> [Document; 2] {
    let group = doc! { "$group": {
        "_id": "$n",
        "sum": { "$sum": "$_id" },
        "min": { "$min": "$_id" },
        "max": { "$max": "$_id" },
        "first": { "$first": "$_id" },
        "last": { "$last": "$_id" },
        "count": { "$count": {} },
        "ids": { "$push": "$_id" },
    } };
    [group, doc! { "$sort": { "_id": 1 } }]
}

fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        2 => (0_i32..6).prop_map(Stage::Match),
        2 => any::<bool>().prop_map(|descending| Stage::Sort { descending }),
        1 => (0_u8..8).prop_map(Stage::Skip),
        1 => (1_u8..20).prop_map(Stage::Limit),
        2 => any::<bool>().prop_map(|preserve| Stage::Unwind { preserve }),
        1 => Just(Stage::Double),
    ]
}

fn thing() -> impl Strategy<Value = Thing> {
    let list = prop_oneof![
        1 => Just(List::Missing),
        1 => (0_i32..5).prop_map(List::Single),
        3 => proptest::collection::vec(0_i32..5, 0..4).prop_map(List::Whole),
    ];
    (0_i32..6, list).prop_map(|(n, l)| Thing {
        id: 0,
        n,
        l,
        at: None,
        twice: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_pipeline_gives_the_same_result_as_a_plain_evaluation(
        mut things in proptest::collection::vec(thing(), 0..30),
        pipelines in proptest::collection::vec((proptest::collection::vec(stage(), 0..6), any::<bool>()), 10),
    ) {
        for (id, thing) in (0..).zip(&mut things) {
            thing.id = id;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (plain, indexed) = (Embedded::in_memory().unwrap(), Embedded::in_memory().unwrap());
            for keys in [doc! { "n": 1, "_id": 1 }, doc! { "n": -1 }] {
                indexed.create_index(THINGS, Index::on(keys)).await.unwrap();
            }
            for engine in [&plain, &indexed] {
                engine.insert(THINGS, things.iter().map(Thing::to_document).collect()).await.unwrap();
            }
            for (mut stages, group) in pipelines {
                // Without an order at the start the engine may choose which documents come first.
                stages.insert(stages.len().min(1), Stage::Sort { descending: false });
                if !matches!(stages[0], Stage::Match(_) | Stage::Sort { .. }) {
                    stages.swap(0, 1);
                }
                let mut evaluated = things.clone();
                for stage in &stages {
                    stage.apply(&mut evaluated);
                }
                let mut pipeline: Vec<Document> = stages.iter().map(Stage::to_document).collect();
                let expected = if group {
                    pipeline.extend(group_stages());
                    grouped(&evaluated)
                } else {
                    evaluated.iter().map(Thing::to_document).collect()
                };
                for engine in [&plain, &indexed] {
                    let found = engine.aggregate(THINGS, pipeline.clone()).await.unwrap();
                    prop_assert_eq!(by_name(&found), by_name(&expected), "{:?}", pipeline);
                }
            }
            Ok(())
        })?;
    }
}

/// The documents with their fields in alphabetical order.
fn by_name(documents: &[Document]) -> Vec<BTreeMap<String, Bson>> {
    documents
        .iter()
        .map(|document| document.clone().into_iter().collect())
        .collect()
}

#[tokio::test]
async fn a_group_may_hold_100_megabytes_and_no_more() {
    let engine = Embedded::in_memory().unwrap();
    let large = "x".repeat(8 * 1024 * 1024);
    for id in 0..14 {
        engine
            .insert(THINGS, vec![doc! { "_id": id, "text": &large }])
            .await
            .unwrap();
    }
    let code = |outcome: Result<Vec<Document>, Error>| match outcome.unwrap_err() {
        Error::Refused { code, .. } => code,
        other => panic!("{other}"),
    };
    let push = doc! { "$group": { "_id": null, "all": { "$push": "$text" } } };
    assert_eq!(code(engine.aggregate(THINGS, vec![push]).await), 292);
    let sort = vec![doc! { "$set": { "n": 1 } }, doc! { "$sort": { "n": 1 } }];
    assert_eq!(code(engine.aggregate(THINGS, sort.clone()).await), 292);
    let limited = [sort, vec![doc! { "$limit": 1 }, doc! { "$project": { "n": 1 } }]].concat();
    assert_eq!(engine.aggregate(THINGS, limited).await.unwrap().len(), 1);
}

#[tokio::test]
async fn leading_stages_read_no_more_than_the_same_query() {
    let engine = Embedded::in_memory().unwrap();
    let things = (0..100).map(|n| doc! { "_id": n, "n": n % 10 });
    engine.insert(THINGS, things.collect()).await.unwrap();
    engine
        .create_index(THINGS, Index::on(doc! { "n": 1, "_id": 1 }))
        .await
        .unwrap();
    let read = async |pipeline: Vec<Document>| {
        let before = engine.counters().documents_read;
        engine.aggregate(THINGS, pipeline).await.unwrap();
        engine.counters().documents_read - before
    };
    let matching = doc! { "$match": { "n": 3 } };
    let sort = doc! { "$sort": { "_id": -1 } };
    let project = doc! { "$project": { "n": 1 } };
    assert_eq!(read(vec![matching.clone(), doc! { "$count": "n" }]).await, 10);
    assert_eq!(
        read(vec![
            matching,
            sort,
            project,
            doc! { "$skip": 1 },
            doc! { "$limit": 2 }
        ])
        .await,
        3
    );
}
