//! A limit of what one operation computes, for stores that strangers send commands to.
//!
//! A short pipeline can double an array thirty times, or unwind two arrays against each other. MongoDB stops such a
//! command after `maxTimeMS`; here the work is counted, so that the same command always ends in the same way.

use std::cell::Cell;

use document::{Error, Result};

/// MongoDB's code for a command that takes too long: `MaxTimeMSExpired`.
const TOO_MUCH: i32 = 50;
/// How many bytes are handled in one step.
const BYTES: usize = 64;

thread_local! {
    /// How many steps this thread's operation has left.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Does an operation within this many steps; each is a value that is computed, or 64 bytes that are handled.
pub(crate) fn within<T>(steps: u64, work: impl FnOnce() -> T) -> T {
    let outer = LEFT.replace(steps);
    let done = work();
    LEFT.set(outer);
    done
}

/// Counts one step, and those for handling this many bytes.
pub(crate) fn spend(bytes: usize) -> Result<()> {
    let steps = 1 + (bytes / BYTES) as u64;
    LEFT.with(|left| match left.get().checked_sub(steps) {
        Some(rest) => {
            left.set(rest);
            Ok(())
        }
        None => Err(Error::refused(
            TOO_MUCH,
            "operation exceeded the work that this store does for one command",
        )),
    })
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use crate::{Embedded, Limits};
    use document::{DocumentEngine as _, Error, Update};

    async fn small() -> Embedded {
        let limits = Limits {
            steps: 10_000,
            bytes: 10_000,
        };
        let engine = Embedded::in_memory_within(limits).unwrap();
        let items: Vec<i32> = (0..200).collect();
        engine
            .insert(
                "c",
                vec![doc! { "_id": 1, "a": &items, "b": items, "t": "x".repeat(1_000) }],
            )
            .await
            .unwrap();
        engine
    }

    fn code<T>(outcome: Result<T, Error>) -> i32 {
        match outcome {
            Err(Error::Refused { code, .. }) => code,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was done"),
        }
    }

    #[tokio::test]
    async fn a_pipeline_that_computes_too_much_is_stopped() {
        let engine = small().await;
        let double = doc! { "$set": { "a": { "$concatArrays": ["$a", "$a"] } } };
        let text = doc! { "$set": { "t": { "$concat": vec!["$t"; 500] } } };
        let each = doc! { "$set": { "a": { "$map": { "input": "$a", "in": "$t" } } } };
        let inner =
            doc! { "$size": { "$filter": { "input": "$b", "as": "y", "cond": { "$eq": ["$$x", "$$y"] } } } };
        let pairs = doc! { "$set": { "a": { "$map": { "input": "$a", "as": "x", "in": inner } } } };
        for pipeline in [
            vec![double.clone(); 30],
            vec![doc! { "$unwind": "$a" }, doc! { "$unwind": "$b" }],
            vec![text.clone(); 3],
            vec![each; 2],
            vec![pairs],
        ] {
            assert_eq!(
                code(engine.aggregate("c", pipeline.clone()).await),
                50,
                "{pipeline:?}"
            );
        }
        let update = Update::one(doc! { "_id": 1 }, vec![double; 30]);
        assert_eq!(code(engine.update("c", update).await), 50);
        // Each operation begins with all of its steps.
        for _ in 0..20 {
            let few = vec![doc! { "$project": { "_id": 0, "n": { "$size": "$a" } } }];
            assert_eq!(engine.aggregate("c", few).await.unwrap(), [doc! { "n": 200 }]);
        }
        let stored = engine.count("c", doc! { "a": { "$size": 200 } }).await.unwrap();
        assert_eq!(stored, 1);
    }

    #[tokio::test]
    async fn what_is_nested_too_deep_is_refused_before_anything_goes_through_it() {
        let engine = Embedded::in_memory().unwrap();
        let items: Vec<i32> = (0..10_000).collect();
        engine
            .insert("c", vec![doc! { "_id": 1, "l": items }])
            .await
            .unwrap();
        let wrap = doc! { "a": "$$value" };
        let reduced = doc! { "$reduce": { "input": "$l", "initialValue": {}, "in": wrap } };
        let nested = doc! { "$project": { "d": reduced } };
        let listed = doc! { "$reduce": { "input": "$l", "initialValue": [], "in": ["$$value"] } };
        let lists = doc! { "$project": { "d": listed } };
        let wrapped = vec![doc! { "$project": { "d": { "d": "$d" } } }; 101];
        let grouped = vec![doc! { "$group": { "_id": 1, "d": { "$push": "$d" } } }; 101];
        for pipeline in [vec![nested], vec![lists], wrapped, grouped] {
            let outcome = engine.aggregate("c", pipeline.clone()).await;
            assert_eq!(code(outcome), 15, "{:?}", pipeline[0]);
        }
        let many = vec![doc! { "$match": {} }; 1_001];
        assert_eq!(code(engine.aggregate("c", many).await), 7_749_501);
        let wrapped = vec![doc! { "$project": { "d": { "d": "$d" } } }; 99];
        assert_eq!(engine.aggregate("c", wrapped).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_change_of_many_documents_stops_once_it_wrote_too_much() {
        let engine = small().await;
        for nth in 0..20 {
            let documents = (0..100).map(|one| doc! { "_id": nth * 100 + one });
            engine.insert("many", documents.collect()).await.unwrap();
        }
        let long = Update::one(doc! {}, doc! { "$set": { "t": "x".repeat(100) } });
        let long = Update { many: true, ..long };
        assert_eq!(code(engine.update("many", long).await), 14_031);
        let changed = engine
            .count("many", doc! { "t": { "$exists": true } })
            .await
            .unwrap();
        assert!((1..2_000).contains(&changed), "{changed}");
    }
}
