//! Operations that share a commit: each sees the effects of those before it, and the result is the same as when they
//! run one by one.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Find, FindAndModify, Index, Update};
use embedded::Embedded;
use proptest::collection::vec;
use proptest::prelude::*;
use redb::StorageBackend;
use redb::backends::InMemoryBackend;

use crate::naive::{Naive, sorted_fields};

const THINGS: &str = "things";

/// A storage in memory whose commits can be made to wait.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<(Mutex<Door>, Condvar)>);

#[derive(Debug, Default)]
struct Door {
    closed: bool,
    waiting: bool,
}

impl Gate {
    fn close(&self) {
        *self.0.0.lock().unwrap() = Door {
            closed: true,
            waiting: false,
        };
    }

    fn open(&self) {
        self.0.0.lock().unwrap().closed = false;
        self.0.1.notify_all();
    }

    fn until_a_commit_waits(&self) {
        let door = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(door, |door| !door.waiting).unwrap());
    }

    fn pass(&self) {
        let mut door = self.0.0.lock().unwrap();
        door.waiting = door.closed;
        self.0.1.notify_all();
        drop(self.0.1.wait_while(door, |door| door.closed).unwrap());
    }
}

#[derive(Debug)]
struct Gated(InMemoryBackend, Gate);

impl StorageBackend for Gated {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.1.pass();
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

fn gated() -> (Embedded, Gate) {
    let gate = Gate::default();
    let engine = Embedded::on(Gated(InMemoryBackend::new(), gate.clone())).unwrap();
    (engine, gate)
}

type Answer<'a> = Pin<Box<dyn Future<Output = String> + 'a>>;

/// Has the operations done in this order by one commit: they queue up during another commit, which waits for them.
async fn in_one_commit(engine: &Embedded, gate: &Gate, operations: Vec<Answer<'_>>) -> Vec<String> {
    gate.close();
    let before = engine.counters().commits;
    let count = Update::one(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).or_insert();
    let mut pending: Vec<Answer<'_>> = vec![Box::pin(async {
        format!("{:?}", engine.update("others", count).await.map(drop))
    })];
    pending.extend(operations);
    let mut answers = vec![String::new(); pending.len()];
    poll_fn(|context| {
        let mut waiting = false;
        for (nth, (operation, answer)) in pending.iter_mut().zip(&mut answers).enumerate() {
            if answer.is_empty() {
                match operation.as_mut().poll(context) {
                    Poll::Ready(text) => *answer = text,
                    Poll::Pending => waiting = true,
                }
                if nth == 0 && engine.counters().commits == before {
                    gate.until_a_commit_waits();
                }
            }
        }
        gate.open();
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    assert!(engine.counters().commits - before <= 2);
    answers.split_off(1)
}

#[derive(Debug, Clone)]
enum Step {
    Insert(i32, Document),
    Update(Document, Document),
    FindAndModify(Document, Document),
    Delete(Document),
}

fn value() -> impl Strategy<Value = i32> {
    0_i32..4
}

fn document() -> impl Strategy<Value = Document> {
    (value(), value(), vec(value(), 0..3)).prop_map(|(n, unique, list)| {
        let list: Vec<_> = list.iter().map(|x| doc! { "x": x }).collect();
        doc! { "n": n, "unique": unique, "list": list, "count": 0 }
    })
}

/// Mostly by `_id`, which finds held-back changes; and in every other way, which must see them too.
fn filter() -> impl Strategy<Value = Document> {
    prop_oneof![
        6 => value().prop_map(|id| doc! { "_id": id }),
        2 => (value(), value()).prop_map(|(id, n)| doc! { "_id": id, "n": { "$ne": n } }),
        2 => (value(), value()).prop_map(|(id, x)| doc! { "_id": id, "list.x": { "$ne": x } }),
        1 => vec(value(), 1..2).prop_map(|ids| doc! { "_id": { "$in": ids } }),
        1 => value().prop_map(|unique| doc! { "unique": unique }),
        1 => (value(), value()).prop_map(|(id, n)| doc! { "n": n, "count": { "$gte": 1 }, "_id": { "$lte": id } }),
        1 => value().prop_map(|x| doc! { "list.x": x, "unique": { "$exists": true } }),
    ]
}

fn update() -> impl Strategy<Value = Document> {
    prop_oneof![
        4 => value().prop_map(|x| doc! {
            "$push": { "list": { "$each": [{ "x": x }], "$sort": { "x": -1 } } }, "$inc": { "count": 1 },
        }),
        2 => value().prop_map(|x| doc! { "$pull": { "list": { "x": x } } }),
        2 => value().prop_map(|n| doc! { "$inc": { "n": n } }),
        1 => value().prop_map(|n| doc! { "$set": { "n": f64::from(n) } }),
        1 => vec(value(), 0..3).prop_map(|n| doc! { "$set": { "n": n } }),
        1 => Just(doc! { "$unset": { "n": 1 } }),
        2 => value().prop_map(|unique| doc! { "$set": { "unique": unique } }),
        1 => Just(doc! { "$inc": { "list": 1 } }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (value(), document()).prop_map(|(id, document)| Step::Insert(id, document)),
        6 => (filter(), update()).prop_map(|(filter, update)| Step::Update(filter, update)),
        3 => (filter(), update()).prop_map(|(filter, update)| Step::FindAndModify(filter, update)),
        1 => filter().prop_map(Step::Delete),
    ]
}

fn code(error: &Error) -> i32 {
    match error {
        Error::Refused { code, .. } => *code,
        Error::DuplicateKey { .. } => 11000,
        other => panic!("{other}"),
    }
}

/// A change of the document with the smallest `_id` among those that match.
fn first(filter: Document, update: Document) -> FindAndModify {
    let mut change = FindAndModify::after(filter, update);
    if !change.filter.contains_key("_id") || change.filter.get_i32("_id").is_err() {
        change.sort = doc! { "_id": 1 };
    }
    change
}

fn text(outcome: Result<Option<Document>, i32>) -> String {
    let sorted = |document: Document| sorted_fields(&Bson::Document(document));
    format!("{:?}", outcome.map(|document| document.map(sorted)))
}

fn ask(engine: &Embedded, step: Step) -> Answer<'_> {
    Box::pin(async move {
        let outcome = match step {
            Step::Insert(id, mut document) => {
                document.insert("_id", id);
                engine.insert(THINGS, vec![document]).await.map(|()| None)
            }
            Step::Update(filter, update) if filter.get_i32("_id").is_ok() => {
                let updated = engine.update(THINGS, Update::one(filter, update)).await;
                updated.map(|updated| Some(doc! { "modified": updated.modified.cast_signed() }))
            }
            Step::Update(filter, update) | Step::FindAndModify(filter, update) => {
                engine.find_and_modify(THINGS, first(filter, update)).await
            }
            Step::Delete(mut filter) => {
                filter.entry("_id").or_insert(Bson::Int32(1));
                let gone = engine.delete(THINGS, filter, false).await;
                gone.map(|gone| Some(doc! { "gone": gone.cast_signed() }))
            }
        };
        text(outcome.map_err(|error| code(&error)))
    })
}

fn expect(naive: &mut Naive, step: Step) -> String {
    text(match step {
        Step::Insert(id, mut document) => {
            document.insert("_id", id);
            naive.insert(document).map(|()| None)
        }
        Step::Update(filter, update) if filter.get_i32("_id").is_ok() => {
            let updated = naive.update(&filter, &update, false);
            updated.map(|(_, modified)| Some(doc! { "modified": modified.cast_signed() }))
        }
        Step::Update(filter, update) | Step::FindAndModify(filter, update) => {
            naive.find_and_modify(&first(filter, update.clone()), &update)
        }
        Step::Delete(mut filter) => {
            filter.entry("_id").or_insert(Bson::Int32(1));
            let one = naive.find(&Find::matching(filter).sort(doc! { "_id": 1 }).limit(1));
            let gone = one.first().map_or(0, |one| {
                naive.delete(&doc! { "_id": one.get_i32("_id").unwrap() })
            });
            Ok(Some(doc! { "gone": gone.cast_signed() }))
        }
    })
}

fn cases(few: u32) -> u32 {
    let cases = std::env::var("PROPTEST_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_has_the_same_outcome_as_its_operations_one_by_one(
        indexed in any::<bool>(),
        batches in vec(vec(step(), 1..30), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (engine, gate) = gated();
            let mut indexes = vec![Index::unique_on(doc! { "unique": 1 })];
            if indexed {
                let also = [doc! { "n": 1 }, doc! { "list.x": 1, "unique": 1 }, doc! { "count": -1, "_id": -1 }];
                indexes.extend(also.map(Index::on));
            }
            let mut naive = Naive::with(&indexes);
            for index in indexes {
                engine.create_index(THINGS, index).await.unwrap();
            }
            for batch in batches {
                let asked = batch.iter().map(|step| ask(&engine, step.clone())).collect();
                let answers = in_one_commit(&engine, &gate, asked).await;
                for (step, answer) in batch.into_iter().zip(answers) {
                    prop_assert_eq!(answer, expect(&mut naive, step.clone()), "{:?}", step);
                }
                // By the collection, and by every index.
                for look in [
                    doc! {},
                    doc! { "n": { "$gte": 1 } },
                    doc! { "list.x": 2 },
                    doc! { "count": { "$gte": 1 } },
                    doc! { "unique": { "$lte": 2 } },
                ] {
                    let find = Find::matching(look).sort(doc! { "_id": 1 });
                    let found = engine.find(THINGS, find.clone()).await.unwrap();
                    let sorted = |documents: Vec<Document>| {
                        let sorted = documents.into_iter().map(|one| sorted_fields(&Bson::Document(one)));
                        format!("{:?}", sorted.collect::<Vec<_>>())
                    };
                    prop_assert_eq!(sorted(found), sorted(naive.find(&find)), "{:?}", find);
                    let count = engine.count(THINGS, find.filter.clone()).await.unwrap();
                    prop_assert_eq!(count, naive.count(&find.filter), "{:?}", find);
                }
            }
            Ok(())
        })?;
    }
}

fn outcome_of<'a, T: std::fmt::Debug>(outcome: impl Future<Output = Result<T, Error>> + 'a) -> Answer<'a> {
    Box::pin(async { format!("{:?}", outcome.await.map_err(|error| code(&error))) })
}

#[tokio::test]
async fn a_document_that_many_change_in_a_batch_is_written_once() {
    let (engine, gate) = gated();
    engine
        .create_index(THINGS, Index::on(doc! { "n": 1 }))
        .await
        .unwrap();
    engine
        .insert(THINGS, vec![doc! { "_id": 1, "n": 0 }])
        .await
        .unwrap();
    let before = engine.counters();
    let up = || Update::one(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } });
    let operations = (0..50).map(|_| outcome_of(engine.update(THINGS, up()))).collect();
    in_one_commit(&engine, &gate, operations).await;
    let after = engine.counters();
    // This one, and the one of the commit that they queued behind.
    assert_eq!(after.documents_written - before.documents_written, 2);
    let found = engine
        .find(THINGS, Find::matching(doc! { "n": { "$gt": 0 } }))
        .await
        .unwrap();
    assert_eq!(found, [doc! { "_id": 1, "n": 50 }]);
}

#[tokio::test]
async fn a_refused_change_leaves_the_earlier_changes_of_its_batch() {
    let (engine, gate) = gated();
    engine
        .create_index(THINGS, Index::on(doc! { "a": 1, "b": 1 }))
        .await
        .unwrap();
    engine
        .insert(THINGS, vec![doc! { "_id": 1, "a": 1, "b": 1 }])
        .await
        .unwrap();
    let set = |fields: Document| Update::one(doc! { "_id": 1 }, doc! { "$set": fields });
    let operations = vec![
        outcome_of(engine.update(THINGS, set(doc! { "a": [1, 2] }))),
        outcome_of(engine.update(THINGS, set(doc! { "b": [3] }))),
        outcome_of(engine.update(THINGS, set(doc! { "b": 3 }))),
    ];
    let answers = in_one_commit(&engine, &gate, operations).await;
    assert_eq!(answers[1], "Err(171)");
    let found = engine
        .find(THINGS, Find::matching(doc! { "a": 2, "b": 3 }))
        .await
        .unwrap();
    assert_eq!(found, [doc! { "_id": 1, "a": [1, 2], "b": 3 }]);
}
