//! The order of values.

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::filter::{elements, reach};

/// The rank of a type among the types that the tests use.
pub fn rank(value: &Bson) -> u8 {
    match value {
        Bson::Undefined => 0,
        Bson::Null => 1,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => 2,
        Bson::String(_) => 3,
        Bson::Document(_) => 4,
        Bson::Array(_) => 5,
        Bson::Boolean(_) => 6,
        Bson::DateTime(_) => 7,
        other => panic!("the tests do not use {other:?}"),
    }
}

pub fn compare(a: &Bson, b: &Bson) -> Ordering {
    match (a, b) {
        (Bson::String(a), Bson::String(b)) => a.cmp(b),
        (Bson::Boolean(a), Bson::Boolean(b)) => a.cmp(b),
        (Bson::DateTime(a), Bson::DateTime(b)) => a.cmp(b),
        (Bson::Array(a), Bson::Array(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| compare(a, b))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Bson::Document(a), Bson::Document(b)) => a
            .iter()
            .zip(b)
            .map(|((a_name, a), (b_name, b))| {
                rank(a)
                    .cmp(&rank(b))
                    .then_with(|| a_name.cmp(b_name))
                    .then_with(|| compare(a, b))
            })
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        _ => rank(a)
            .cmp(&rank(b))
            .then_with(|| match (as_double(a), as_double(b)) {
                (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan())),
                _ => Ordering::Equal,
            }),
    }
}

/// The tests' numbers are small, so that a double holds every one.
pub fn as_double(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(integer) => Some(f64::from(*integer)),
        Bson::Int64(integer) => Some(f64::from(i32::try_from(*integer).unwrap())),
        Bson::Double(double) => Some(*double),
        _ => None,
    }
}

/// The sort key of a document: the smallest value at a path, or the largest in descending order.
pub fn sort_value(document: &Document, path: &str, down: bool) -> Bson {
    let values = elements(&reach(document, path)).into_iter();
    let chosen = if down {
        values.max_by(compare)
    } else {
        values.min_by(compare)
    };
    chosen.unwrap()
}

/// A value with the fields of all its documents in one order, because an update may add fields in any.
pub fn sorted_fields(value: &Bson) -> Bson {
    match value {
        Bson::Array(items) => Bson::Array(items.iter().map(sorted_fields).collect()),
        Bson::Document(document) => {
            let mut fields: Vec<_> = document
                .iter()
                .map(|(name, value)| (name.clone(), sorted_fields(value)))
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Bson::Document(fields.into_iter().collect())
        }
        other => other.clone(),
    }
}
