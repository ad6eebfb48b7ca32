//! The checks of the fuzz targets. Each function takes any bytes and panics if an invariant does not hold.
//!
//! Bytes become documents in two ways: as BSON, which is how a stored file could be damaged, or word by word from the
//! query language, which gets far beyond the parser.

mod words;

use std::cell::OnceCell;

use bson::{Document, doc};
use document::{Change, DocumentEngine, Error, Find, Index, Result, Update};
use embedded::Embedded;
use model::Cursor;
use tokio::runtime::Runtime;
use uuid::Uuid;

use words::Words;

const PLAIN: &str = "plain";
const INDEXED: &str = "indexed";

/// The largest document, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// What a cursor's text is made of.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct Bench {
    runtime: Runtime,
    engine: Embedded,
}

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

/// Runs a check on an engine with a plain and an indexed collection, both empty.
fn on_engine(check: impl AsyncFnOnce(&Embedded)) {
    BENCH.with(|bench| {
        let Bench { runtime, engine } = bench.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .expect("a runtime");
            let engine = Embedded::in_memory().expect("an engine");
            runtime.block_on(async {
                for keys in [
                    doc! { "a": 1 },
                    doc! { "b": -1, "a": 1 },
                    doc! { "l.x": 1, "b": 1 },
                    doc! { "a.b": 1, "_id": -1 },
                ] {
                    engine
                        .create_index(INDEXED, Index::on(keys))
                        .await
                        .expect("an index");
                }
                let partial = Index::on(doc! { "b": 1 }).only(doc! { "a": { "$gt": 0 } });
                engine
                    .create_index(INDEXED, partial)
                    .await
                    .expect("a partial index");
            });
            Bench { runtime, engine }
        });
        runtime.block_on(async {
            for collection in [PLAIN, INDEXED] {
                engine
                    .delete(collection, doc! {}, true)
                    .await
                    .expect("a clean collection");
            }
            check(engine).await;
        });
    });
}

/// A filter never panics, and finds the same with indexes as without.
pub fn filters(bytes: &[u8]) {
    let mut words = Words::of(bytes);
    let filter = words.filter();
    let sort = if words.flag() {
        doc! { "b": 1, "_id": 1 }
    } else {
        doc! { "_id": 1 }
    };
    let limit = u64::from(words.byte() % 5);
    let documents = words.documents();
    on_engine(async |engine| {
        fill(engine, documents).await;
        let find = Find::matching(filter.clone()).sort(sort).limit(limit);
        let plain = engine.find(PLAIN, find.clone()).await;
        let indexed = engine.find(INDEXED, find).await;
        let counts = (
            engine.count(PLAIN, filter.clone()).await,
            engine.count(INDEXED, filter.clone()).await,
        );
        // An expression fails only on documents that it reads, and with an index it may read fewer.
        let may_fail = filter.to_string().contains("$expr");
        if !(may_fail && (plain.is_err() || indexed.is_err() || counts.0.is_err() || counts.1.is_err())) {
            assert_eq!(said(&plain), said(&indexed), "{filter}");
            assert_eq!(said(&counts.0), said(&counts.1), "{filter}");
        }
        if let (Ok(found), Ok(count), true) = (&plain, &counts.0, limit == 0) {
            assert_eq!(found.len() as u64, *count, "{filter}");
        }
    });
}

/// An update never panics; it leaves a readable document of at most 16 MB with the same `_id`, or nothing changed, and
/// the same with indexes as without.
pub fn updates(bytes: &[u8]) {
    let mut words = Words::of(bytes);
    let update = words.update();
    let mut documents = words.documents();
    documents.truncate(1);
    on_engine(async |engine| {
        fill(engine, documents).await;
        let mut after = Vec::new();
        for collection in [PLAIN, INDEXED] {
            let before = engine
                .find(collection, Find::default())
                .await
                .expect("readable documents");
            let outcome = engine
                .update(collection, Update::one(doc! {}, update.clone()))
                .await;
            assert!(
                !matches!(outcome, Err(Error::Corrupt(_) | Error::Storage(_))),
                "{outcome:?}"
            );
            let found = engine
                .find(collection, Find::default())
                .await
                .expect("readable documents");
            for (before, after) in before.iter().zip(&found) {
                // A pipeline may compute an equal number of another type.
                let same_id = doc! { "_id": { "$eq": before.get("_id") } };
                let held = engine.count(collection, same_id).await.expect("a count");
                assert_eq!(held, 1, "{outcome:?}: {before} became {after}");
                assert!(after.to_vec().expect("BSON").len() <= LARGEST, "{outcome:?}");
            }
            assert_eq!(before.len(), found.len());
            if outcome.is_err() {
                assert_eq!(format!("{before:?}"), format!("{found:?}"), "{outcome:?}");
            }
            after.push((
                said(&outcome.map(|updated| updated.modified)),
                format!("{found:?}"),
            ));
        }
        // A second array is refused where an index has one already.
        if !after.iter().any(|(outcome, _)| outcome.contains("parallel")) {
            assert_eq!(after[0], after[1], "{update:?}");
        }
    });
}

/// Puts the same documents into both collections: those that the indexed one takes. It refuses two arrays in one index.
async fn fill(engine: &Embedded, documents: Vec<Document>) {
    if documents.is_empty() {
        return;
    }
    engine.insert(INDEXED, documents).await.ok();
    let taken = engine
        .find(INDEXED, Find::default())
        .await
        .expect("readable documents");
    engine
        .insert(PLAIN, taken)
        .await
        .expect("without indexes they fit as well");
}

/// A cursor is read back as it was written; any other text, or a cursor with a few letters changed, is refused without
/// a panic.
pub fn cursors(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(cursor) = text.parse::<Cursor>()
    {
        assert_eq!(cursor.to_string(), text, "only one text stands for a cursor");
    }
    let mut words = Words::of(bytes);
    let cursor = Cursor {
        list: words.number(),
        key: i64::from(words.number()) << 32 | i64::from(words.number()),
        id: Uuid::from_u128(u128::from(words.number()) << 64 | u128::from(words.number())),
        page: words.flag().then(|| words.number() >> 1),
    };
    let text = cursor.to_string();
    assert_eq!(text.parse::<Cursor>().expect("its own text"), cursor);
    let place = usize::from(words.byte()) % text.len();
    let (before, after) = text.split_at(place);
    assert!(before.parse::<Cursor>().is_err(), "{text} is cut to {before}");
    let mut changed = text.clone().into_bytes();
    let garbled = usize::from(words.byte() % 5) + 1;
    for letter in changed.iter_mut().skip(place).take(garbled) {
        *letter = LETTERS[usize::from(words.byte() % 64)];
    }
    refused(changed, &text);
    let mut swapped = text.clone().into_bytes();
    if after.len() > 1 {
        swapped.swap(place, place + 1);
    }
    refused(swapped, &text);
}

/// A cursor's text with a few adjacent letters changed is not a cursor.
fn refused(changed: Vec<u8>, text: &str) {
    let changed = String::from_utf8(changed).expect("plain letters");
    assert!(
        changed == text || changed.parse::<Cursor>().is_err(),
        "{changed} was {text}"
    );
}

/// The outcome of an operation as text, with the text of errors; as text, NaN equals itself.
fn said<T: std::fmt::Debug>(outcome: &Result<T>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

/// A change from a document of operators or stages.
fn change(update: Document, pipeline: bool) -> Change {
    if pipeline {
        Change::Pipeline(vec![update])
    } else {
        Change::Operators(update)
    }
}
