//! Random histories: the embedded engine, with any indexes, returns the same answers as the naive store.

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Find, FindAndModify, Return, Update};
use embedded::Embedded;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::commands::{document, filter, find, indexes, order, projection, scalar, update};
use crate::naive::{Naive, sorted_fields};

const THINGS: &str = "things";

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
