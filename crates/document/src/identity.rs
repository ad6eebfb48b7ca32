//! Where an upsert takes the `_id` of the inserted document from.

use bson::{Bson, Document};

use crate::Change;

/// Whether an upsert says which `_id` a new document gets: by an equality in its filter, or in the update itself.
/// MongoDB would generate one otherwise, and then a retry inserts twice.
pub fn names_id(filter: &Document, change: &Change) -> bool {
    fixes_id(filter)
        || match change {
            Change::Operators(operators) | Change::Elements(operators, _) => ["$set", "$setOnInsert"]
                .iter()
                .filter_map(|operator| operators.get_document(operator).ok())
                .any(|fields| fields.contains_key("_id")),
            Change::Replacement { document, new_id } => new_id.is_some() || document.contains_key("_id"),
            // The `_id` that a pipeline computes is unknown before it runs; it is enough that it computes one.
            Change::Pipeline(stages) => stages.iter().flat_map(Document::values).any(|stage| {
                stage
                    .as_document()
                    .is_some_and(|fields| fields.contains_key("_id"))
            }),
        }
}

fn fixes_id(filter: &Document) -> bool {
    filter.iter().any(|(name, value)| {
        match (name.as_str(), value) {
        ("_id", Bson::Document(test)) => match test.keys().next() {
            Some(first) if first.starts_with('$') => {
                test.contains_key("$eq")
                    || ["$in", "$all"].iter().any(|operator| {
                        matches!(test.get_array(operator).map(Vec::as_slice), Ok([only]) if is_value(only))
                    })
            }
            _ => true,
        },
        ("_id", Bson::RegularExpression(_)) => false,
        ("_id", _) => true,
        ("$and", Bson::Array(all)) => all
            .iter()
            .any(|filter| filter.as_document().is_some_and(fixes_id)),
        ("$or", Bson::Array(branches)) => match branches.as_slice() {
            [Bson::Document(only)] => fixes_id(only),
            _ => false,
        },
        _ => false,
    }
    })
}

/// Whether `$in` and `$all` compare with this element, and do not match a pattern or look into arrays.
fn is_value(element: &Bson) -> bool {
    match element {
        Bson::RegularExpression(_) => false,
        Bson::Document(test) => !test.contains_key("$elemMatch"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn an_upsert_takes_its_id_from_an_equality_or_the_update() {
        let set = Change::from(doc! { "$set": { "a": 1 } });
        for filter in [
            doc! { "_id": 1 },
            doc! { "_id": { "$eq": 1 } },
            doc! { "_id": { "$in": [1] } },
            doc! { "_id": { "$all": [1] } },
            doc! { "_id": { "a": 1 } },
            doc! { "$or": [{ "_id": 1 }] },
            doc! { "a": 1, "$and": [{ "_id": 1 }] },
        ] {
            assert!(names_id(&filter, &set), "{filter}");
        }
        for change in [
            Change::from(doc! { "$setOnInsert": { "_id": 1 } }),
            Change::from(vec![doc! { "$set": { "_id": 1 } }]),
        ] {
            assert!(names_id(&doc! {}, &change), "{change:?}");
        }
        for filter in [
            doc! {},
            doc! { "a": 1 },
            doc! { "_id": { "$gt": 1 } },
            doc! { "_id": { "$in": [1, 2] } },
            doc! { "_id": { "$all": [{ "$elemMatch": { "a": 1 } }] } },
            doc! { "$or": [{ "_id": 1 }, { "_id": 2 }] },
        ] {
            assert!(!names_id(&filter, &set), "{filter}");
        }
    }
}
