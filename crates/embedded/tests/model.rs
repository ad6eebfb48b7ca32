//! Random histories: the embedded engine, with any indexes, returns the same answers as the naive store.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/naive/mod.rs"]
mod naive;

use bson::{Bson, DateTime, Document, doc};
use document::{DocumentEngine, Error, Find, FindAndModify, Index, Return, Update};
use embedded::Embedded;
use naive::{Naive, sorted_fields};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const THINGS: &str = "things";

/// The fields of the test documents: `a` may be an array, `list` is one of documents, `n` and `m` never hold arrays.
const SCALARS: [&str; 2] = ["n", "m"];

fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        6 => (0_i32..4).prop_map(Bson::Int32),
        2 => (0_i64..4).prop_map(Bson::Int64),
        1 => (0_i32..8).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
        1 => select(vec!["", "a", "b\0", "b"]).prop_map(Bson::from),
        1 => (0_i64..3).prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        1 => any::<bool>().prop_map(Bson::Boolean),
        1 => select(vec![Bson::Null, Bson::Double(f64::NAN), Bson::Double(-0.0)]),
    ]
}

fn element() -> impl Strategy<Value = Bson> {
    let document = (option::of(scalar()), scalar()).prop_map(|(x, y)| {
        let mut element = doc! { "y": y };
        if let Some(x) = x {
            element.insert("x", x);
        }
        Bson::Document(element)
    });
    prop_oneof![5 => document, 1 => scalar()]
}

fn document() -> impl Strategy<Value = Document> {
    let nested = prop_oneof![9 => scalar(), 1 => vec(scalar(), 0..3).prop_map(Bson::Array)];
    let a = prop_oneof![1 => scalar(), 1 => vec(nested, 0..4).prop_map(Bson::Array)];
    let fields = (
        option::of(a),
        option::of(scalar()),
        option::weighted(0.9, scalar()),
        option::of(vec(element(), 0..3).prop_map(Bson::Array)),
    );
    fields.prop_map(|(a, n, m, list)| {
        let named = [("a", a), ("n", n), ("m", m), ("list", list)];
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    })
}

fn field() -> impl Strategy<Value = &'static str> {
    select(vec![
        "a", "a", "a.0", "n", "n", "m", "m", "list.x", "list.y", "list.0.x", "_id", "missing",
    ])
}

fn comparison() -> impl Strategy<Value = &'static str> {
    select(vec!["$eq", "$gt", "$gte", "$lt", "$lte"])
}

/// A condition on the values of a field.
fn test() -> impl Strategy<Value = Bson> {
    let types = vec![
        "int", "long", "double", "string", "object", "array", "bool", "date", "null",
    ];
    prop_oneof![
        4 => scalar().prop_filter("a plain value", |value| !matches!(value, Bson::Document(_))),
        4 => (comparison(), scalar()).prop_map(|(name, value)| Bson::Document(doc! { name: value })),
        2 => (scalar(), scalar()).prop_map(|(low, high)| Bson::Document(doc! { "$gte": low, "$lt": high })),
        2 => vec(scalar(), 0..4).prop_map(|values| Bson::Document(doc! { "$in": values })),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "$ne": value })),
        1 => vec(scalar(), 0..3).prop_map(|values| Bson::Document(doc! { "$nin": values })),
        1 => any::<bool>().prop_map(|exists| Bson::Document(doc! { "$exists": exists })),
        1 => (comparison(), scalar()).prop_map(|(name, value)| Bson::Document(doc! { "$not": { name: value } })),
        1 => vec(scalar(), 0..3).prop_map(|values| Bson::Document(doc! { "$all": values })),
        1 => (0_i32..3).prop_map(|size| Bson::Document(doc! { "$size": size })),
        1 => select(types).prop_map(|name| Bson::Document(doc! { "$type": name })),
        1 => (scalar(), scalar())
            .prop_map(|(low, high)| Bson::Document(doc! { "$elemMatch": { "$gte": low, "$lte": high } })),
        1 => vec(scalar(), 1..3).prop_map(Bson::Array),
    ]
}

fn condition() -> impl Strategy<Value = Document> {
    let in_list = (scalar(), scalar())
        .prop_map(|(x, y)| doc! { "list": { "$elemMatch": { "x": x, "y": { "$gte": y } } } });
    // The query for a page of a list that starts after a cursor.
    let after = (select(SCALARS.to_vec()), scalar(), 0_i32..20, any::<bool>()).prop_map(
        |(field, value, id, down)| {
            let side = if down { "$lt" } else { "$gt" };
            doc! { "$or": [{ field: { side: &value } }, { field: &value, "_id": { side: id } }] }
        },
    );
    // Values near the edges of the partial indexes.
    let near = (comparison(), 0_i32..3, comparison(), 1_i32..4)
        .prop_map(|(of_m, m, of_n, n)| doc! { "m": { of_m: m }, "n": { of_n: n } });
    let range = (select(vec!["a", "list.x", "n", "m"]), comparison(), 0_i32..3)
        .prop_map(|(field, side, value)| doc! { field: { side: value } });
    prop_oneof![
        6 => (field(), test()).prop_map(|(field, test)| doc! { field: test }),
        3 => range,
        1 => in_list,
        2 => after,
        2 => near,
    ]
}

fn filter() -> impl Strategy<Value = Document> {
    let nested = condition().prop_recursive(2, 8, 3, |inner| {
        let operator = select(vec!["$and", "$and", "$or", "$or", "$nor"]);
        (operator, vec(inner, 1..4)).prop_map(|(name, branches)| doc! { name: branches })
    });
    prop_oneof![9 => nested, 1 => Just(Document::new())]
}

/// An order in which no two documents are equal.
fn order() -> impl Strategy<Value = Document> {
    let direction = || select(vec![1, -1]);
    let fields = vec((field(), direction()), 0..3);
    (fields, direction()).prop_map(|(fields, last)| {
        let mut order: Document = fields
            .into_iter()
            .filter(|(field, _)| *field != "_id")
            .map(|(field, direction)| (field.to_owned(), Bson::Int32(direction)))
            .collect();
        order.insert("_id", last);
        order
    })
}

fn projection() -> impl Strategy<Value = Document> {
    let slice = prop_oneof![
        (-2_i32..3).prop_map(Bson::Int32),
        (-3_i32..3, 1_i32..3).prop_map(|(skip, take)| Bson::Array(vec![skip.into(), take.into()])),
    ];
    prop_oneof![
        2 => Just(Document::new()),
        3 => (subsequence(vec!["a", "n", "m"], 1..=3), any::<bool>()).prop_map(|(fields, id)| {
            let mut projection: Document = fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(1))).collect();
            if !id {
                projection.insert("_id", 0);
            }
            projection
        }),
        1 => Just(doc! { "_id": 1 }),
        1 => subsequence(vec!["list.x", "list.y", "n"], 1..=3)
            .prop_map(|fields| fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(1))).collect()),
        1 => subsequence(vec!["a", "list.x", "n"], 1..=3)
            .prop_map(|fields| fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(0))).collect()),
        1 => slice.clone().prop_map(|slice| doc! { "list": { "$slice": slice } }),
        1 => slice.prop_map(|slice| doc! { "list": { "$slice": slice }, "n": 1 }),
        1 => scalar().prop_map(|x| doc! { "list": { "$elemMatch": { "x": x } } }),
        1 => scalar().prop_map(|low| doc! { "a": { "$elemMatch": { "$gte": low } }, "n": 1 }),
    ]
}

fn find() -> impl Strategy<Value = Find> {
    let sorted = (filter(), order(), projection(), 0_u64..3, 0_u64..6).prop_map(
        |(filter, sort, projection, skip, limit)| Find {
            filter,
            projection,
            sort,
            skip,
            limit,
        },
    );
    let unsorted = (filter(), projection()).prop_map(|(filter, projection)| {
        let mut find = Find::matching(filter).project(projection);
        // Results without an order are sorted by their `_id`.
        find.projection.remove("_id");
        find
    });
    // The newest of several, after a cursor or not: these runs are merged.
    let several = (
        any::<bool>(),
        vec(0_i32..4, 1..4),
        option::of(condition()),
        any::<bool>(),
        1_u64..6,
    );
    let merged = several.prop_map(|(swapped, values, also, down, limit)| {
        let (several, by) = if swapped { ("m", "n") } else { ("n", "m") };
        let also: Vec<Document> = also
            .into_iter()
            .chain([doc! { several: { "$in": values } }])
            .collect();
        let direction = if down { -1 } else { 1 };
        Find::matching(doc! { "$and": also })
            .sort(doc! { by: direction, "_id": direction })
            .limit(limit)
    });
    prop_oneof![3 => sorted, 1 => unsorted, 2 => merged]
}

fn update() -> impl Strategy<Value = Document> {
    let anywhere = || select(vec!["a", "n", "m", "list.0.x", "list.1", "n.x"]);
    let in_arrays = || select(vec!["a", "list"]);
    let number = prop_oneof![
        (1_i32..3).prop_map(Bson::Int32),
        (1_i64..3).prop_map(Bson::Int64),
        Just(Bson::Double(0.5))
    ];
    let push = (
        vec(element(), 0..3),
        option::of(-2_i32..3),
        option::of(-3_i32..4),
        option::of(select(vec![
            Bson::from(1),
            Bson::from(-1),
            Bson::from(doc! { "y": 1 }),
            Bson::from(doc! { "y": -1 }),
        ])),
    );
    let push = push.prop_map(|(each, position, slice, sort)| {
        let mut modifiers = doc! { "$each": each };
        if let Some(position) = position {
            modifiers.insert("$position", position);
        }
        if let Some(slice) = slice {
            modifiers.insert("$slice", slice);
        }
        if let Some(sort) = sort {
            modifiers.insert("$sort", sort);
        }
        modifiers
    });
    prop_oneof![
        4 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$set": { field: value } }),
        2 => (scalar(), scalar()).prop_map(|(n, m)| doc! { "$set": { "n": n }, "$setOnInsert": { "m": m } }),
        2 => anywhere().prop_map(|field| doc! { "$unset": { field: 1 } }),
        2 => (anywhere(), number).prop_map(|(field, by)| doc! { "$inc": { field: by } }),
        1 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$min": { field: value } }),
        1 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$max": { field: value } }),
        1 => scalar().prop_map(|value| doc! { "$push": { "a": value } }),
        2 => push.prop_map(|modifiers| doc! { "$push": { "list": modifiers } }),
        1 => scalar().prop_map(|value| doc! { "$addToSet": { "a": value } }),
        1 => vec(scalar(), 0..3).prop_map(|each| doc! { "$addToSet": { "a": { "$each": each } } }),
        1 => scalar().prop_map(|value| doc! { "$pull": { "a": value } }),
        1 => scalar().prop_map(|low| doc! { "$pull": { "a": { "$gte": low } } }),
        1 => (scalar(), scalar()).prop_map(|(x, y)| doc! { "$pull": { "list": { "x": x, "y": { "$ne": y } } } }),
        1 => vec(scalar(), 0..3).prop_map(|values| doc! { "$pullAll": { "a": values } }),
        1 => (in_arrays(), select(vec![1, -1])).prop_map(|(field, end)| doc! { "$pop": { field: end } }),
    ]
}

fn indexes() -> impl Strategy<Value = Vec<Index>> {
    let pool = vec![
        Index::on(doc! { "a": 1 }),
        Index::on(doc! { "n": 1 }),
        Index::on(doc! { "n": -1, "a": 1 }),
        Index::on(doc! { "n": 1, "_id": -1 }),
        Index::on(doc! { "list.x": 1, "n": 1 }),
        Index::on(doc! { "a": -1, "n": -1, "_id": -1 }),
        Index::on(doc! { "n": 1, "m": -1, "_id": -1 }),
        Index::on(doc! { "m": 1, "n": 1 }),
        Index::on(doc! { "m": -1, "_id": 1 }).only(doc! { "n": { "$gte": 1 } }),
        Index::on(doc! { "n": -1, "m": 1 }).only(doc! { "a": { "$exists": true } }),
        Index::on(doc! { "m": -1 }).only(doc! { "m": { "$gt": 0 }, "n": { "$lt": 3 } }),
        Index::unique_on(doc! { "n": 1, "m": 1, "a": 1 }),
        Index::unique_on(doc! { "m": 1, "list.y": 1 }).only(doc! { "n": { "$in": [1, 2] } }),
    ];
    subsequence(pool, 0..9)
}

#[derive(Debug, Clone)]
enum Step {
    Insert(i32, Document),
    /// Of one document, if it also matches.
    Update(i32, Document, Document),
    UpdateMany(Document, Document),
    Upsert(i32, Option<Bson>, Document),
    FindAndModify(Box<FindAndModify>, Document),
    Delete(i32, Document),
    DeleteMany(Document),
    Find(Find),
    Count(Document),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0_i32..20;
    let change = (filter(), update(), order(), projection(), any::<bool>());
    let change = change.prop_map(|(filter, update, sort, projection, after)| {
        let mut change = FindAndModify::after(filter, update.clone()).project(projection);
        change.sort = sort;
        if !after {
            change.returning = Return::Before;
        }
        Step::FindAndModify(Box::new(change), update)
    });
    prop_oneof![
        10 => (id(), document()).prop_map(|(id, document)| Step::Insert(id, document)),
        4 => (id(), filter(), update()).prop_map(|(id, filter, update)| Step::Update(id, filter, update)),
        3 => (filter(), update()).prop_map(|(filter, update)| Step::UpdateMany(filter, update)),
        1 => (id(), option::of(scalar()), update()).prop_map(|(id, n, update)| Step::Upsert(id, n, update)),
        3 => change,
        1 => (id(), filter()).prop_map(|(id, filter)| Step::Delete(id, filter)),
        1 => (filter(), 0_i32..20).prop_map(|(filter, id)| {
            Step::DeleteMany(doc! { "$and": [filter, { "_id": { "$gte": id } }] })
        }),
        20 => find().prop_map(Step::Find),
        3 => filter().prop_map(Step::Count),
    ]
}

fn code(error: &Error) -> i32 {
    match error {
        Error::Refused { code, .. } | Error::TooLarge { code, .. } => *code,
        Error::DuplicateKey { .. } => 11000,
        other => panic!("{other}"),
    }
}

/// Documents as text, in which NaN equals itself and types differ, whatever the order of their fields.
fn text(documents: impl IntoIterator<Item = Document>) -> Vec<String> {
    let texts = documents.into_iter();
    texts
        .map(|document| format!("{:?}", sorted_fields(&Bson::Document(document))))
        .collect()
}

fn among(id: i32, filter: Document) -> Document {
    doc! { "_id": id, "$and": [filter] }
}

/// Takes a step in both stores and returns both answers.
async fn take(engine: &Embedded, naive: &mut Naive, step: Step) -> [String; 2] {
    let both = |engine: Result<Vec<String>, Error>, naive: Result<Vec<String>, i32>| {
        [
            format!("{:?}", engine.map_err(|error| code(&error))),
            format!("{naive:?}"),
        ]
    };
    let numbers = |matched: u64, modified: u64| vec![format!("{matched} {modified}")];
    match step {
        Step::Insert(id, mut document) => {
            document.insert("_id", id);
            let outcome = engine.insert(THINGS, vec![document.clone()]).await;
            both(
                outcome.map(|()| Vec::new()),
                naive.insert(document).map(|()| Vec::new()),
            )
        }
        Step::Update(id, filter, update) => {
            let filter = among(id, filter);
            let outcome = engine
                .update(THINGS, Update::one(filter.clone(), update.clone()))
                .await;
            let expected = naive.update(&filter, &update, false);
            both(
                outcome.map(|updated| numbers(updated.matched, updated.modified)),
                expected.map(|(matched, modified)| numbers(matched, modified)),
            )
        }
        Step::UpdateMany(filter, update) => {
            // If one document is refused, the order decides which others change, and there is none.
            let Ok((matched, modified)) = naive.update(&filter, &update, false) else {
                return Default::default();
            };
            let mut change = Update::one(filter, update);
            change.many = true;
            let outcome = engine.update(THINGS, change).await;
            both(
                outcome.map(|updated| numbers(updated.matched, updated.modified)),
                Ok(numbers(matched, modified)),
            )
        }
        Step::Upsert(id, n, update) => {
            let mut filter = doc! { "_id": id };
            if let Some(n) = n {
                filter.insert("n", n);
            }
            let change = Update::one(filter.clone(), update.clone()).or_insert();
            let outcome = engine.update(THINGS, change).await;
            let expected = naive.update(&filter, &update, true);
            both(
                outcome.map(|updated| numbers(updated.matched, updated.modified)),
                expected.map(|(matched, modified)| numbers(matched, modified)),
            )
        }
        Step::FindAndModify(change, update) => {
            let outcome = engine.find_and_modify(THINGS, (*change).clone()).await;
            both(
                outcome.map(text),
                naive.find_and_modify(&change, &update).map(text),
            )
        }
        Step::Delete(id, filter) => {
            let filter = among(id, filter);
            let outcome = engine.delete(THINGS, filter.clone(), false).await;
            both(
                outcome.map(|gone| numbers(gone, 0)),
                Ok(numbers(naive.delete(&filter), 0)),
            )
        }
        Step::DeleteMany(filter) => {
            let outcome = engine.delete(THINGS, filter.clone(), true).await;
            both(
                outcome.map(|gone| numbers(gone, 0)),
                Ok(numbers(naive.delete(&filter), 0)),
            )
        }
        Step::Find(find) => {
            let mut found = engine.find(THINGS, find.clone()).await;
            if let (true, Ok(found)) = (find.sort.is_empty(), &mut found) {
                found.sort_by_key(|document| document.get_i32("_id").unwrap());
            }
            both(found.map(text), Ok(text(naive.find(&find))))
        }
        Step::Count(filter) => {
            let outcome = engine.count(THINGS, filter.clone()).await;
            both(
                outcome.map(|count| numbers(count, 0)),
                Ok(numbers(naive.count(&filter), 0)),
            )
        }
    }
}

/// How many cases to try: `PROPTEST_CASES`, or as many as take a few seconds.
fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(few)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn every_history_matches_the_naive_store(
        early in indexes(),
        start in vec((0_i32..20, document()), 0..30),
        late in indexes(),
        steps in vec(step(), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let engine = Embedded::in_memory().unwrap();
            // Some documents are inserted before some of the indexes are created; unique indexes exist from the start.
            let late: Vec<_> = late
                .into_iter()
                .filter(|index| !index.unique && early.iter().all(|other| other.name() != index.name()))
                .collect();
            let mut names = std::collections::HashSet::new();
            let early: Vec<_> = early.into_iter().filter(|index| names.insert(index.name())).collect();
            let late: Vec<_> = late.into_iter().filter(|index| names.insert(index.name())).collect();
            let mut naive = Naive::with(&early);
            for index in early {
                engine.create_index(THINGS, index).await.unwrap();
            }
            let start = start.into_iter().map(|(id, document)| Step::Insert(id, document));
            for step in start {
                let [found, expected] = take(&engine, &mut naive, step.clone()).await;
                prop_assert_eq!(found, expected, "{:?}", step);
            }
            for index in late {
                engine.create_index(THINGS, index).await.unwrap();
            }
            for step in steps {
                let plan = match &step {
                    Step::Find(find) => engine.explain(THINGS, find).unwrap().to_string(),
                    _ => String::new(),
                };
                let [found, expected] = take(&engine, &mut naive, step.clone()).await;
                prop_assert_eq!(found, expected, "{:?} {}", step, plan);
            }
            Ok(())
        })?;
    }
}
