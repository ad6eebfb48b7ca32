//! Properties of the embedded engine: an index never changes an answer, and a reopened store is the same store.

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Find, Index, Update};
use embedded::Embedded;
use proptest::prelude::*;

const THINGS: &str = "things";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        4 => (0_i32..5).prop_map(Bson::Int32),
        1 => (0_i64..5).prop_map(Bson::Int64),
        1 => (0_i32..9).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
        1 => prop_oneof![Just("a"), Just("b")].prop_map(Bson::from),
        1 => Just(Bson::Null),
        1 => Just(Bson::Double(f64::NAN)),
    ]
}

/// A field of the test documents: `a` may be an array, `list` is one of documents, `n` never holds arrays.
fn document() -> impl Strategy<Value = Document> {
    let element = (proptest::option::of(scalar()), scalar()).prop_map(|(x, y)| {
        let mut element = doc! { "y": y };
        if let Some(x) = x {
            element.insert("x", x);
        }
        Bson::Document(element)
    });
    let a = prop_oneof![3 => scalar(), 1 => proptest::collection::vec(scalar(), 0..3).prop_map(Bson::Array)];
    let list =
        proptest::collection::vec(prop_oneof![5 => element, 1 => scalar()], 0..3).prop_map(Bson::Array);
    let fields = (
        proptest::option::of(a),
        proptest::option::of(scalar()),
        proptest::option::of(list),
    );
    fields.prop_map(|(a, n, list)| {
        let named = [("a", a), ("n", n), ("list", list)];
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    })
}

fn field() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("a"),
        Just("n"),
        Just("list.x"),
        Just("_id"),
        Just("list.0.x")
    ]
}

fn condition() -> impl Strategy<Value = Document> {
    let comparison = prop_oneof![
        Just("$eq"),
        Just("$ne"),
        Just("$gt"),
        Just("$gte"),
        Just("$lt"),
        Just("$lte"),
    ];
    let test = prop_oneof![
        4 => (comparison.clone(), scalar()).prop_map(|(name, value)| doc! { name: value }),
        2 => (scalar(), scalar()).prop_map(|(low, high)| doc! { "$gte": low, "$lt": high }),
        1 => proptest::collection::vec(scalar(), 0..3).prop_map(|values| doc! { "$in": values }),
        1 => proptest::collection::vec(scalar(), 0..3).prop_map(|values| doc! { "$nin": values }),
        1 => any::<bool>().prop_map(|exists| doc! { "$exists": exists }),
        1 => (comparison, scalar()).prop_map(|(name, value)| doc! { "$not": { name: value } }),
        1 => proptest::collection::vec(scalar(), 1..3).prop_map(|values| doc! { "$all": values }),
        1 => (scalar(), scalar()).prop_map(|(low, high)| doc! { "$elemMatch": { "$gte": low, "$lte": high } }),
    ];
    let in_list = (scalar(), scalar())
        .prop_map(|(x, y)| doc! { "list": { "$elemMatch": { "x": x, "y": { "$gte": y } } } });
    prop_oneof![6 => (field(), test).prop_map(|(field, test)| doc! { field: test }), 1 => in_list]
}

fn filter() -> impl Strategy<Value = Document> {
    condition().prop_recursive(2, 8, 3, |inner| {
        let operator = prop_oneof![Just("$and"), Just("$or"), Just("$or"), Just("$nor")];
        (operator, proptest::collection::vec(inner, 1..3))
            .prop_map(|(name, branches)| doc! { name: branches })
    })
}

fn find() -> impl Strategy<Value = Find> {
    let direction = prop_oneof![Just(1), Just(-1)];
    let sort = proptest::option::of((field(), direction.clone(), field(), direction));
    (filter(), sort, 0_u64..3, 0_u64..6).prop_map(|(filter, sort, skip, limit)| match sort {
        // Only an order in which no two documents are equal determines which ones come first.
        Some((first, up, second, down)) => {
            let mut order = doc! { first: up, second: down };
            order.insert("_id", up);
            Find {
                filter,
                sort: order,
                skip,
                limit,
                ..Find::default()
            }
        }
        None => Find {
            filter,
            ..Find::default()
        },
    })
}

fn update() -> impl Strategy<Value = Document> {
    prop_oneof![
        (prop_oneof![Just("a"), Just("n"), Just("list.0.x")], scalar())
            .prop_map(|(field, value)| doc! { "$set": { field: value } }),
        prop_oneof![Just("a"), Just("n"), Just("list")].prop_map(|field| doc! { "$unset": { field: 1 } }),
        scalar().prop_map(|value| doc! { "$push": { "a": value } }),
        scalar().prop_map(|value| doc! { "$pull": { "list": { "x": value } } }),
        (1_i32..3).prop_map(|by| doc! { "$inc": { "n": by } }),
    ]
}

/// A step of a random history. Steps may fail, but must fail everywhere.
#[derive(Debug, Clone)]
enum Step {
    Insert(i32, Document),
    Update(i32, Document),
    DeleteFrom(i32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_i32..30, document()).prop_map(|(id, document)| Step::Insert(id, document)),
        3 => (0_i32..30, update()).prop_map(|(id, update)| Step::Update(id, update)),
        1 => (10_i32..30).prop_map(Step::DeleteFrom),
    ]
}

async fn take(engine: &Embedded, step: Step) -> Result<(), String> {
    let outcome = match step {
        Step::Insert(id, mut document) => {
            document.insert("_id", id);
            engine.insert(THINGS, vec![document]).await
        }
        Step::Update(id, update) => engine
            .update(THINGS, Update::one(doc! { "_id": id }, update))
            .await
            .map(|_| ()),
        Step::DeleteFrom(id) => engine
            .delete(THINGS, doc! { "_id": { "$gte": id } }, true)
            .await
            .map(|_| ()),
    };
    outcome.map_err(|error| error.to_string())
}

async fn index(engine: &Embedded) {
    for keys in [
        doc! { "a": 1 },
        doc! { "n": -1, "a": 1 },
        doc! { "n": 1, "_id": -1 },
        doc! { "list.x": 1, "n": 1 },
        doc! { "a": -1, "n": -1, "_id": -1 },
    ] {
        engine.create_index(THINGS, Index::on(keys)).await.unwrap();
    }
}

fn id(document: &Document) -> i32 {
    document.get_i32("_id").unwrap()
}

async fn everything(engine: &Embedded) -> Vec<Document> {
    let mut all = engine.find(THINGS, Find::default()).await.unwrap();
    all.sort_by_key(id);
    all
}

/// How many cases to try: `PROPTEST_CASES`, or as many as take a few seconds.
fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(few)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn an_index_never_changes_an_answer(
        mut documents in proptest::collection::vec(document(), 0..25),
        changes in proptest::collection::vec((0_i32..25, update()), 0..12),
        finds in proptest::collection::vec(find(), 12),
    ) {
        runtime().block_on(async {
            let (plain, indexed) = (Embedded::in_memory().unwrap(), Embedded::in_memory().unwrap());
            // Some documents are inserted before the indexes are created and some after.
            for (nth, document) in (0_i32..).zip(&mut documents) {
                document.insert("_id", nth);
            }
            let later = documents.split_off(documents.len() / 2);
            plain.insert(THINGS, documents.clone()).await.unwrap();
            plain.insert(THINGS, later.clone()).await.unwrap();
            indexed.insert(THINGS, documents).await.unwrap();
            index(&indexed).await;
            indexed.insert(THINGS, later).await.unwrap();
            for (target, change) in changes {
                let update = Update::one(doc! { "_id": target }, change);
                let outcomes = (plain.update(THINGS, update.clone()).await, indexed.update(THINGS, update).await);
                prop_assert_eq!(format!("{:?}", outcomes.0), format!("{:?}", outcomes.1));
            }
            for find in finds {
                let plan = indexed.explain(THINGS, &find).unwrap();
                let mut expected = plain.find(THINGS, find.clone()).await.unwrap();
                let mut found = indexed.find(THINGS, find.clone()).await.unwrap();
                if find.sort.is_empty() {
                    expected.sort_by_key(id);
                    found.sort_by_key(id);
                }
                // As text, in which NaN equals itself.
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{:?} by {}", find, plan);
                let count = indexed.count(THINGS, find.filter.clone()).await.unwrap();
                prop_assert_eq!(count, plain.count(THINGS, find.filter).await.unwrap());
            }
            Ok(())
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_reopened_store_is_the_same_store(steps in proptest::collection::vec(step(), 1..60)) {
        runtime().block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let memory = Embedded::in_memory().unwrap();
            let mut disk = Embedded::open(dir.path()).unwrap();
            index(&disk).await;
            for (nth, step) in steps.into_iter().enumerate() {
                if nth % 20 == 19 {
                    drop(disk);
                    disk = Embedded::open(dir.path()).unwrap();
                }
                prop_assert_eq!(take(&disk, step.clone()).await, take(&memory, step).await);
            }
            drop(disk);
            let disk = Embedded::open(dir.path()).unwrap();
            prop_assert_eq!(format!("{:?}", everything(&disk).await), format!("{:?}", everything(&memory).await));
            for value in 0..5 {
                let find = Find::matching(doc! { "a": value });
                prop_assert!(disk.explain(THINGS, &find).unwrap().to_string().starts_with("index a_"));
                let mut found = disk.find(THINGS, find.clone()).await.unwrap();
                found.sort_by_key(id);
                let expected = memory.find(THINGS, find).await.unwrap();
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            }
            Ok(())
        })?;
    }
}
