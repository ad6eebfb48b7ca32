//! Documents chosen at random.

use std::collections::BTreeSet;

use bson::doc;

use super::aggregation::{posts, refused, run};
use crate::Engine;

/// `$sample`: some of the documents, each at most once, and all of them if there are no more.
pub async fn a_sample_has_documents_of_the_collection(engine: &Engine) {
    posts(engine).await;
    let some = doc! { "$sample": { "size": 4 } };
    let mut seen = BTreeSet::new();
    for _ in 0..100 {
        let sampled = run(engine, vec![some.clone(), doc! { "$project": { "_id": 1 } }]).await;
        let ids: BTreeSet<i32> = sampled.iter().map(|post| post.get_i32("_id").unwrap()).collect();
        assert_eq!(ids.len(), 4, "{sampled:?}");
        seen.extend(ids);
    }
    assert_eq!(seen.len(), 10, "each has its chance");
    let all = doc! { "$sample": { "size": 100 } };
    let sorted = run(engine, vec![all, doc! { "$sort": { "_id": 1 } }]).await;
    assert_eq!(sorted, run(engine, vec![doc! { "$sort": { "_id": 1 } }]).await);
    let one_of = vec![
        doc! { "$match": { "_id": 3 } },
        doc! { "$sample": { "size": 2.0 } },
        doc! { "$count": "posts" },
    ];
    assert_eq!(run(engine, one_of).await, [doc! { "posts": 1 }]);
}

/// With MongoDB's codes.
pub async fn invalid_samples_are_refused(engine: &Engine) {
    posts(engine).await;
    for (stage, expected) in [
        (doc! { "$sample": 3 }, 28745),
        (doc! { "$sample": { "size": "3" } }, 28746),
        (doc! { "$sample": { "size": -1 } }, 28747),
        (doc! { "$sample": { "size": 3, "seed": 1 } }, 28748),
        (doc! { "$sample": {} }, 28749),
    ] {
        assert_eq!(refused(engine, vec![stage.clone()]).await, expected, "{stage}");
    }
}
