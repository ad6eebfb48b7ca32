//! Which documents match a filter.

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::compare::{as_double, compare, rank};

/// A value that a path leads to.
#[derive(Debug, Clone)]
pub struct Reached {
    /// `None` where a document lacks the field.
    pub value: Option<Bson>,
    /// Whether the path ended at a position in an array, where the value does not match by its elements.
    whole: bool,
}

/// The values that a path leads to.
pub fn reach(document: &Document, path: &str) -> Vec<Reached> {
    let parts: Vec<&str> = path.split('.').collect();
    let mut found = Vec::new();
    in_document(document, &parts, &mut found);
    found
}

fn in_document(document: &Document, parts: &[&str], found: &mut Vec<Reached>) {
    match (document.get(parts[0]), &parts[1..]) {
        (Some(value), []) => found.push(Reached {
            value: Some(value.clone()),
            whole: false,
        }),
        (Some(Bson::Document(inner)), rest) => in_document(inner, rest, found),
        (Some(Bson::Array(items)), rest) => in_array(items, rest, found),
        (None | Some(_), _) => found.push(Reached {
            value: None,
            whole: false,
        }),
    }
}

fn in_array(items: &[Bson], parts: &[&str], found: &mut Vec<Reached>) {
    for (position, item) in items.iter().enumerate() {
        if let Bson::Document(inner) = item {
            in_document(inner, parts, found);
        }
        if parts[0] == position.to_string() {
            match (item, &parts[1..]) {
                (item, []) => found.push(Reached {
                    value: Some(item.clone()),
                    whole: true,
                }),
                (Bson::Document(inner), rest) => in_document(inner, rest, found),
                (Bson::Array(inner), rest) => in_array(inner, rest, found),
                _ => {}
            }
        }
    }
}

/// The values as an index or a sort has them: elements instead of arrays, undefined for an empty one, null for nothing.
pub fn elements(values: &[Reached]) -> Vec<Bson> {
    let mut all = Vec::new();
    for reached in values {
        match &reached.value {
            None => all.push(Bson::Null),
            Some(Bson::Array(items)) if items.is_empty() => all.push(Bson::Undefined),
            Some(Bson::Array(items)) => all.extend(items.iter().cloned()),
            Some(value) => all.push(value.clone()),
        }
    }
    if all.is_empty() {
        all.push(Bson::Null);
    }
    all
}

pub fn matches(filter: &Document, document: &Document) -> bool {
    let branches = |value: &Bson| -> Vec<bool> {
        let branches = value.as_array().unwrap().iter();
        branches
            .map(|branch| matches(branch.as_document().unwrap(), document))
            .collect()
    };
    filter.iter().all(|(name, value)| match name.as_str() {
        "$and" => branches(value).iter().all(|branch| *branch),
        "$or" => branches(value).iter().any(|branch| *branch),
        "$nor" => !branches(value).iter().any(|branch| *branch),
        path => holds(&reach(document, path), value),
    })
}

pub fn is_operators(value: &Bson) -> bool {
    matches!(value, Bson::Document(document) if document.keys().next().is_some_and(|name| name.starts_with('$')))
}

/// Whether the values of a path, taken together, meet a condition.
fn holds(values: &[Reached], condition: &Bson) -> bool {
    if !is_operators(condition) {
        return values.iter().any(|value| by_value("$eq", value, condition));
    }
    let operators = condition.as_document().unwrap();
    operators.iter().all(|(name, operand)| match name.as_str() {
        "$ne" => !values.iter().any(|value| by_value("$eq", value, operand)),
        "$nin" => !values.iter().any(|value| by_value("$in", value, operand)),
        "$not" => !holds(values, operand),
        "$exists" => values.iter().any(|value| value.value.is_some()) == (*operand == Bson::Boolean(true)),
        "$all" => {
            let wanted = operand.as_array().unwrap();
            !wanted.is_empty() && wanted.iter().all(|wanted| holds(values, wanted))
        }
        "$size" => values.iter().any(|value| match &value.value {
            Some(Bson::Array(items)) => i32::try_from(items.len()).ok() == operand.as_i32(),
            _ => false,
        }),
        "$elemMatch" => values.iter().any(|value| match &value.value {
            Some(Bson::Array(items)) => items.iter().any(|item| element(item, operand)),
            _ => false,
        }),
        name => values.iter().any(|value| by_value(name, value, operand)),
    })
}

/// Whether a value or, if it is an array, one of its elements passes.
fn by_value(name: &str, reached: &Reached, operand: &Bson) -> bool {
    let value = reached.value.as_ref();
    let whole = passes(name, value, operand);
    let within = match value {
        Some(Bson::Array(items)) if !reached.whole => {
            items.iter().any(|item| passes(name, Some(item), operand))
        }
        _ => false,
    };
    whole || within
}

/// Whether one element of an array passes the operators of a `$pull`, as if it were the value of a field.
pub fn pulled(item: &Bson, operators: &Bson) -> bool {
    let value = Reached {
        value: Some(item.clone()),
        whole: false,
    };
    holds(&[value], operators)
}

/// Whether one element of an array passes `$elemMatch`.
pub fn element(item: &Bson, condition: &Bson) -> bool {
    if is_operators(condition) {
        let operators = condition.as_document().unwrap();
        return operators.iter().all(|(name, operand)| match name.as_str() {
            "$ne" => !passes("$eq", Some(item), operand),
            "$nin" => !passes("$in", Some(item), operand),
            name => passes(name, Some(item), operand),
        });
    }
    match (item, condition) {
        (Bson::Document(item), Bson::Document(condition)) => matches(condition, item),
        (Bson::Array(items), Bson::Document(condition)) => {
            let fields = items.iter().enumerate();
            let item = fields.map(|(position, item)| (position.to_string(), item.clone()));
            matches(condition, &item.collect())
        }
        _ => false,
    }
}

fn passes(name: &str, value: Option<&Bson>, operand: &Bson) -> bool {
    let present = value.unwrap_or(&Bson::Null);
    let order = compare(present, operand);
    let nan = |value: &Bson| as_double(value).is_some_and(f64::is_nan);
    let comparable = rank(present) == rank(operand) && nan(present) == nan(operand);
    match name {
        "$eq" => order == Ordering::Equal,
        "$in" => operand
            .as_array()
            .unwrap()
            .iter()
            .any(|one| compare(present, one) == Ordering::Equal),
        "$gt" => comparable && order == Ordering::Greater,
        "$gte" => comparable && order != Ordering::Less,
        "$lt" => comparable && order == Ordering::Less,
        "$lte" => comparable && order != Ordering::Greater,
        "$type" => value.is_some_and(|value| type_of(value) == operand.as_str().unwrap()),
        other => panic!("the tests do not use {other}"),
    }
}

fn type_of(value: &Bson) -> &'static str {
    match value {
        Bson::Null => "null",
        Bson::Int32(_) => "int",
        Bson::Int64(_) => "long",
        Bson::Double(_) => "double",
        Bson::String(_) => "string",
        Bson::Document(_) => "object",
        Bson::Array(_) => "array",
        Bson::Boolean(_) => "bool",
        Bson::DateTime(_) => "date",
        other => panic!("the tests do not use {other:?}"),
    }
}
