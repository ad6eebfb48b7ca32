//! Many tasks at once: every change is atomic for its document.

use bson::doc;

use super::{THINGS, code, insert, one};
use crate::{Engine, FindAndModify, Update};

const TASKS: i32 = 64;

/// Runs a task for each number at the same time and collects what they return.
async fn together<T, F>(engine: &Engine, task: impl Fn(Engine, i32) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| tokio::spawn(task(Engine::clone(engine), number)))
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

/// No increment is lost.
pub async fn increments_by_many_tasks_all_count(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "n": 0 }]).await;
    let mut seen = together(engine, |engine, _| async move {
        let change = FindAndModify::after(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } });
        let after = engine.find_and_modify(THINGS, change).await.unwrap().unwrap();
        after.get_i32("n").unwrap()
    })
    .await;
    seen.sort_unstable();
    assert!(
        seen.into_iter().eq(1..=TASKS),
        "each task saw a number of its own"
    );
}

/// A push that is guarded on the element's absence happens once per actor, and one guarded on the length stops at it.
pub async fn a_guarded_push_lets_one_of_many_tasks_through(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "likes": [], "count": 0 }]).await;
    let modified = together(engine, |engine, number| async move {
        let actor = number % 16;
        let guard = doc! { "_id": 1, "likes.by": { "$ne": actor }, "likes.9": { "$exists": false } };
        let push = doc! { "$push": { "likes": { "by": actor } }, "$inc": { "count": 1 } };
        engine
            .update(THINGS, Update::one(guard, push))
            .await
            .unwrap()
            .modified
    })
    .await;
    assert_eq!(modified.iter().sum::<u64>(), 10);
    let post = one(engine, 1).await;
    let mut actors: Vec<i32> = post
        .get_array("likes")
        .unwrap()
        .iter()
        .map(|like| like.as_document().unwrap().get_i32("by").unwrap())
        .collect();
    actors.sort_unstable();
    actors.dedup();
    assert_eq!((actors.len(), post.get_i32("count").unwrap()), (10, 10));
}

/// When many tasks upsert one identity, one inserts; the others update, or get a duplicate key error.
pub async fn upserts_by_many_tasks_insert_once(engine: &Engine) {
    let outcomes = together(engine, |engine, _| async move {
        let update = Update::one(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).or_insert();
        engine.update(THINGS, update).await
    })
    .await;
    let mut inserted = 0;
    let mut raced = 0;
    for outcome in &outcomes {
        match outcome {
            Ok(updated) => inserted += i32::from(updated.upserted.is_some()),
            Err(error) if code(error) == 11000 => raced += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(inserted, 1);
    assert_eq!(one(engine, 1).await.get_i32("n").unwrap(), TASKS - raced);
}
