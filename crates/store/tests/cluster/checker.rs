//! The part of `$jsonSchema` that the validators use. It panics at anything else, so that nothing goes unchecked.

use bson::{Bson, Document};

/// The first violation of a schema by a value, and its path.
pub fn mismatch(schema: &Document, value: &Bson, path: &str) -> Option<String> {
    schema
        .iter()
        .find_map(|(keyword, rule)| breach(keyword, rule, value, path))
        .map(|what| {
            if what.starts_with('`') {
                what
            } else {
                format!("`{path}` {what}")
            }
        })
}

fn breach(keyword: &str, rule: &Bson, value: &Bson, path: &str) -> Option<String> {
    match (keyword, value) {
        ("bsonType", _) => {
            let is = kind(value);
            let fits = match rule {
                Bson::String(wanted) => wanted == is,
                Bson::Array(wanted) => wanted.iter().any(|wanted| wanted.as_str() == Some(is)),
                _ => panic!("bsonType: {rule}"),
            };
            (!fits).then(|| format!("is of type {is} instead of {rule}"))
        }
        ("enum", _) => (!rule.as_array().unwrap().contains(value)).then(|| format!("is not in {rule}")),
        ("anyOf", _) => {
            let objections: Option<Vec<String>> = rule
                .as_array()
                .unwrap()
                .iter()
                .map(|schema| mismatch(schema.as_document().unwrap(), value, path))
                .collect();
            objections.map(|objections| format!("fits none: {}", objections.join(", ")))
        }
        ("required", Bson::Document(value)) => rule
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field.as_str().unwrap())
            .find(|field| !value.contains_key(field))
            .map(|field| format!("lacks {field}")),
        ("properties", Bson::Document(value)) => {
            rule.as_document().unwrap().iter().find_map(|(field, schema)| {
                let path = format!("{path}.{field}");
                mismatch(schema.as_document().unwrap(), value.get(field)?, &path)
            })
        }
        ("items", Bson::Array(items)) => items
            .iter()
            .find_map(|item| mismatch(rule.as_document().unwrap(), item, &format!("{path}[]"))),
        ("maxItems", Bson::Array(items)) => {
            let most = usize::try_from(rule.as_i64().unwrap()).unwrap();
            (items.len() > most).then(|| format!("has {} items", items.len()))
        }
        ("minimum", Bson::Int32(_) | Bson::Int64(_)) => {
            let number = value.as_i64().or(value.as_i32().map(i64::from)).unwrap();
            (number < i64::from(rule.as_i32().unwrap())).then(|| format!("is {number}"))
        }
        // These do not restrict values of other types.
        ("required" | "properties" | "items" | "maxItems" | "minimum", _) => None,
        _ => panic!("the checker does not know {keyword}"),
    }
}

fn kind(value: &Bson) -> &'static str {
    match value {
        Bson::Array(_) => "array",
        Bson::Binary(_) => "binData",
        Bson::Boolean(_) => "bool",
        Bson::DateTime(_) => "date",
        Bson::Document(_) => "object",
        Bson::Int32(_) => "int",
        Bson::Int64(_) => "long",
        Bson::Null => "null",
        Bson::String(_) => "string",
        Bson::Double(_) => "double",
        other => panic!("the checker does not know {other}"),
    }
}
