//! The form of the feed's documents, for servers that can enforce it for every writer (`$jsonSchema`).
//!
//! The protocol's own guards keep lists within the [`Settings`] of the server that writes. A validator also covers
//! shells, old code and servers with other settings, so it enforces what *no* setting may exceed: [`Settings::MOST`]
//! items. With that, an owner stays below MongoDB's 16 MB for every writer; servers whose limits differ, as during a
//! rolling update, do not refuse each other's lists; and a list that was made under larger limits can be moved in as
//! it is.

use bson::{Bson, Document, doc};
use model::{Owners, Relation};

use crate::{Settings, overflow, people, posts, reactions};

/// The collections that are validated, each with its validator.
pub fn validators() -> Vec<(&'static str, Document)> {
    [
        (people::COLLECTION, owner("string", person(), Owners::People)),
        (posts::COLLECTION, owner("binData", post(), Owners::Posts)),
        (overflow::PAGES, page()),
    ]
    .into_iter()
    .map(|(collection, schema)| (collection, doc! { "$jsonSchema": schema }))
    .collect()
}

/// The fields without which the feed cannot show a person.
fn person() -> Document {
    doc! { "name": { "bsonType": "string" }, "at": { "bsonType": "date" } }
}

/// Actions that a person has begun and not finished.
fn intents() -> Document {
    let intent = doc! {
        "bsonType": "object",
        "required": ["id", "at", "kind"],
        "properties": {
            "id": { "bsonType": "binData" },
            "at": { "bsonType": "date" },
            "kind": { "bsonType": "string" },
        },
    };
    doc! { "bsonType": "array", "items": intent }
}

/// The fields without which the feed cannot show a post.
fn post() -> Document {
    doc! {
        "author": { "bsonType": "string" },
        "text": { "bsonType": "string" },
        "at": { "bsonType": "date" },
    }
}

fn owner(id: &str, fields: Document, owners: Owners) -> Document {
    let required: Vec<String> = std::iter::once("_id".to_owned())
        .chain(fields.keys().cloned())
        .collect();
    let mut properties = doc! { "_id": { "bsonType": id }, "born": { "bsonType": "binData" } };
    properties.extend(fields);
    if owners == Owners::People {
        properties.insert(reactions::FIELD, intents());
    }
    for relation in Relation::ALL {
        if relation.owners() == owners {
            properties.insert(relation.as_str(), list());
        }
    }
    doc! { "bsonType": "object", "required": required, "properties": properties }
}

/// A list: head and pages, or still a single unbounded array, which `migrate` converts.
fn list() -> Document {
    let bounded = doc! { "properties": { "head": { "maxItems": most() } } };
    let adopting = doc! { "required": ["adopting"] };
    doc! { "anyOf": [
        { "bsonType": "array" },
        {
            "bsonType": "object",
            "required": ["count", "pages", "head"],
            "properties": {
                "count": number(),
                "pages": number(),
                "spilled": number(),
                "rev": number(),
                "hasOverflow": { "bsonType": "bool" },
                "floor": { "bsonType": "date" },
                "pending": { "bsonType": "array" },
                "head": { "bsonType": "array", "items": item() },
            },
            // While an array is being divided, all of it is the head.
            "anyOf": [bounded, adopting],
        },
    ] }
}

fn page() -> Document {
    doc! {
        "bsonType": "object",
        "required": ["_id", "owner", "relation", "page", "rev", "count", "items"],
        "properties": {
            "_id": { "bsonType": "string" },
            "owner": { "bsonType": ["string", "binData"] },
            "relation": { "enum": Relation::ALL.map(|relation| Bson::from(relation.as_str())).to_vec() },
            "born": { "bsonType": ["binData", "null"] },
            "page": number(),
            "rev": number(),
            "count": number(),
            "first": { "bsonType": "date" },
            "last": { "bsonType": "date" },
            "createdAt": { "bsonType": "date" },
            "items": { "bsonType": "array", "maxItems": most(), "items": item() },
        },
    }
}

fn item() -> Document {
    doc! {
        "bsonType": "object",
        "required": ["id", "at"],
        "properties": {
            "id": { "bsonType": "binData" },
            "by": { "bsonType": "string" },
            "at": { "bsonType": "date" },
        },
    }
}

/// A count, a page's number or a revision. Shells and drivers write small numbers as ints.
fn number() -> Document {
    doc! { "bsonType": ["int", "long"], "minimum": 0_i32 }
}

fn most() -> i64 {
    i64::try_from(Settings::MOST).unwrap_or(i64::MAX)
}
