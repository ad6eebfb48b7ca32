//! A plan in the form of MongoDB's `explain` stages.

use bson::{Bson, Document, doc};

use super::{Access, Plan};
use document::Find;

/// The stages of a query with this plan; the last one is the outermost.
pub(crate) fn stages(plan: &Plan, find: &Find) -> Document {
    let mut stage = read(plan, find);
    if plan.ordered && plan.runs.len() > 1 {
        stage = doc! { "stage": "SORT_MERGE", "sortPattern": find.sort.clone(), "inputStage": stage };
    } else if !plan.ordered && !find.sort.is_empty() {
        stage = doc! { "stage": "SORT", "sortPattern": find.sort.clone(), "inputStage": stage };
    }
    if find.skip > 0 {
        stage = doc! { "stage": "SKIP", "skipAmount": number(find.skip), "inputStage": stage };
    }
    if find.limit > 0 {
        stage = doc! { "stage": "LIMIT", "limitAmount": number(find.limit), "inputStage": stage };
    }
    if !find.projection.is_empty() {
        let name = if plan.cover.is_some() {
            "PROJECTION_COVERED"
        } else {
            "PROJECTION_DEFAULT"
        };
        stage = doc! { "stage": name, "transformBy": find.projection.clone(), "inputStage": stage };
    }
    stage
}

/// Reads the documents, or only the keys of an index that covers the query.
fn read(plan: &Plan, find: &Find) -> Document {
    let direction = if plan.backwards { "backward" } else { "forward" };
    let index = match &plan.access {
        Access::Collection if !plan.narrowed => {
            return filtered(doc! { "stage": "COLLSCAN", "direction": direction }, find);
        }
        Access::Ids if plan.runs.iter().map(|run| run.ranges.len()).sum::<usize>() == 1 => {
            return filtered(doc! { "stage": "IDHACK" }, find);
        }
        Access::Ids | Access::Collection => (doc! { "_id": 1 }, "_id_", [false, true, false]),
        Access::Index(index) => {
            let multikey = index.multikey.contains(&true);
            let properties = [multikey, index.unique, index.partial.is_some()];
            (index.keys.clone(), index.name.as_str(), properties)
        }
    };
    let (keys, name, [multikey, unique, partial]) = index;
    let scan = doc! {
        "stage": "IXSCAN",
        "keyPattern": keys,
        "indexName": name,
        "isMultiKey": multikey,
        "isUnique": unique,
        "isPartial": partial,
        "direction": direction,
    };
    if plan.cover.is_some() {
        return scan;
    }
    let mut fetch = filtered(doc! { "stage": "FETCH" }, find);
    fetch.insert("inputStage", scan);
    fetch
}

fn filtered(mut stage: Document, find: &Find) -> Document {
    if !find.filter.is_empty() {
        stage.insert("filter", find.filter.clone());
    }
    stage
}

/// An int if it fits, as MongoDB writes numbers here, and otherwise a long.
fn number(number: u64) -> Bson {
    match i32::try_from(number) {
        Ok(number) => Bson::Int32(number),
        Err(_) => Bson::Int64(i64::try_from(number).unwrap_or(i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedded;
    use document::catalogue::Catalogue;
    use document::{DocumentEngine, Index};

    #[tokio::test]
    async fn stages_show_what_the_planner_chose() {
        let engine = Embedded::in_memory().unwrap();
        engine
            .create_index("things", Index::on(doc! { "a": 1, "b": -1 }))
            .await
            .unwrap();
        let stages = |find: Find| Catalogue::explain(&engine, "things", &find).unwrap();
        let by_id = doc! { "_id": 1 };
        assert_eq!(
            stages(Find::matching(by_id.clone())),
            doc! { "stage": "IDHACK", "filter": by_id }
        );
        let other = doc! { "c": 1 };
        let sorted = Find::matching(other.clone()).sort(doc! { "c": 1 }).limit(5);
        assert_eq!(
            stages(sorted),
            doc! { "stage": "LIMIT", "limitAmount": 5, "inputStage": {
                "stage": "SORT", "sortPattern": { "c": 1 }, "inputStage": {
                    "stage": "COLLSCAN", "direction": "forward", "filter": other,
                },
            } }
        );
        let scan = |direction: &str| {
            doc! {
                "stage": "IXSCAN",
                "keyPattern": { "a": 1, "b": -1 },
                "indexName": "a_1_b_-1",
                "isMultiKey": false,
                "isUnique": false,
                "isPartial": false,
                "direction": direction,
            }
        };
        let equal = doc! { "a": 1 };
        assert_eq!(
            stages(Find::matching(equal.clone()).sort(doc! { "b": 1 })),
            doc! { "stage": "FETCH", "filter": equal.clone(), "inputStage": scan("backward") }
        );
        let covered = doc! { "_id": 0, "b": 1 };
        assert_eq!(
            stages(Find::matching(equal).project(covered.clone())),
            doc! { "stage": "PROJECTION_COVERED", "transformBy": covered, "inputStage": scan("forward") }
        );
    }
}
