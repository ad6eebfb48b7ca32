//! Indexes: their definitions, and the keys that a document has in them.

use std::collections::BTreeSet;

use bson::{Bson, Document, RawBson, RawDocument, doc};

use super::compare::type_name;
use super::covered::Recipe;
use super::filter::{Filter, Test, whole};
use super::key::{self, FieldKeys};
use super::path::Path;
use super::raw::Differing;
use super::sort::OrderField;
use document::{Error, Index, Result, dup_key};

/// The most fields that an index may have, as in MongoDB.
const MOST_FIELDS: usize = 32;

/// The kinds of indexes that only MongoDB has.
const OF_MONGODB: [&str; 4] = ["text", "2d", "2dsphere", "hashed"];

/// A compiled index definition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    /// Its default name in MongoDB.
    pub(super) name: String,
    /// The key pattern as it was requested.
    pub(super) keys: Document,
    /// Refuses a second document with the same key.
    pub(super) unique: bool,
    /// The fields in order.
    pub(super) fields: Vec<OrderField>,
    /// For each field, whether any document ever had an array there.
    pub(super) multikey: Vec<bool>,
    /// Only documents that match are in it.
    pub(super) partial: Option<Partial>,
    /// How many seconds after the date in its only field a document expires.
    pub(super) expire_after: Option<u32>,
}

/// The filter of a partial index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Partial {
    /// As it was requested.
    pub(super) expression: Document,
    /// Compiled.
    pub(super) filter: Filter,
}

/// The keys that one document has in one index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// Without the document's own key, which follows in the table.
    pub(super) keys: BTreeSet<Vec<u8>>,
    /// The field that is an array in this document.
    pub(super) multikey: Option<usize>,
    /// How the values are read back from the key.
    pub(super) recipe: Recipe,
}

impl Definition {
    /// Checks and compiles an index.
    pub(super) fn new(index: &Index) -> Result<Self> {
        let refuse = |why: String| {
            let keys = dup_key(&index.keys);
            Err(Error::refused(
                67,
                format!("Error in specification {keys} :: caused by :: {why}"),
            ))
        };
        if index.keys.is_empty() {
            return refuse("Index keys cannot be empty.".to_owned());
        }
        if index.keys.len() > MOST_FIELDS {
            return refuse(format!("an index has at most {MOST_FIELDS} fields here"));
        }
        let mut fields: Vec<OrderField> = Vec::with_capacity(index.keys.len());
        for (name, direction) in &index.keys {
            let Some(sign @ (..=-1 | 1..)) = whole(direction) else {
                return refuse(no_direction(direction)?);
            };
            let path = Path::new(name);
            if path.parts().iter().any(|part| part.name.is_empty()) {
                return refuse("Index keys cannot contain an empty field.".to_owned());
            }
            if path.parts().iter().any(|part| part.name == "$**") {
                return refuse("the embedded engine does not support wildcard indexes".to_owned());
            }
            if path.parts().iter().any(|part| part.name.starts_with('$')) {
                let why = "Index key contains an illegal field name: field name starts with '$'.";
                return refuse(why.to_owned());
            }
            if path.parts().iter().any(|part| part.position.is_some()) {
                return refuse(format!(
                    "the embedded engine does not support an index of '{name}', a position"
                ));
            }
            let descending = sign < 0;
            fields.push(OrderField { path, descending });
        }
        check_expiry(index)?;
        let multikey = vec![false; fields.len()];
        Ok(Self {
            name: index.name(),
            keys: index.keys.clone(),
            unique: index.unique,
            fields,
            multikey,
            partial: Partial::parse(&index.partial)?,
            expire_after: index.expire_after,
        })
    }

    /// Whether an index of the same name is the same in everything that distinguishes indexes, as in MongoDB:
    /// everything except the time to live.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        let expression = |index: &Self| index.partial.as_ref().map(|partial| partial.expression.clone());
        self.fields == other.fields && self.unique == other.unique && expression(self) == expression(other)
    }

    /// The index as MongoDB's messages show it.
    pub(super) fn specification(&self) -> Document {
        let mut specification = doc! { "v": 2 };
        if self.unique {
            specification.insert("unique", true);
        }
        specification.insert("key", self.keys.clone());
        specification.insert("name", self.name.as_str());
        if let Some(partial) = &self.partial {
            specification.insert("partialFilterExpression", partial.expression.clone());
        }
        if let Some(seconds) = self.expire_after {
            let seconds = i32::try_from(seconds).map_or_else(|_| i64::from(seconds).into(), Bson::Int32);
            specification.insert("expireAfterSeconds", seconds);
        }
        specification
    }

    /// The index as MongoDB lists it.
    pub(super) fn listed(&self) -> Document {
        let mut specification = self.specification();
        if let Some(unique) = specification.remove("unique") {
            specification.insert("unique", unique);
        }
        specification
    }

    /// Whether it contains every document that matches `filter`.
    pub(super) fn serves(&self, filter: &Filter) -> bool {
        self.partial
            .as_ref()
            .is_none_or(|partial| filter.implies(&partial.filter))
    }

    /// Whether it is the index on `_id`, which every collection has.
    pub(super) fn is_primary(&self) -> bool {
        matches!(self.fields.as_slice(), [field] if field.path.text() == "_id" && !field.descending)
    }

    /// The keys of a document.
    pub(super) fn entries(&self, document: &RawDocument) -> Result<Entries> {
        if let Some(partial) = &self.partial
            && !partial.filter.matches(document)?
        {
            return Ok(Entries::default());
        }
        let parts = self.parts(document)?;
        let Some(many) = parts.iter().position(|part| part.multikey) else {
            let key = parts.iter().flat_map(|part| &part.keys[0].0).copied().collect();
            return Ok(Entries {
                keys: BTreeSet::from([key]),
                multikey: None,
                recipe: Recipe::of(document, &parts)?,
            });
        };
        let keys = (0..parts[many].keys.len())
            .map(|nth| join(&parts, many, nth))
            .collect();
        Ok(Entries {
            keys,
            multikey: Some(many),
            recipe: Recipe::default(),
        })
    }

    /// Whether two versions of a document certainly have the same keys, because none of the top-level fields that this
    /// index reads has changed.
    pub(super) fn is_untouched(&self, differing: &Differing<'_>) -> bool {
        let mut untouched = self
            .fields
            .iter()
            .all(|field| differing.leaves(field.path.root()));
        if let Some(partial) = &self.partial {
            let filter = &partial.filter;
            filter.each_path(&mut |path| untouched = untouched && differing.leaves(path.root()));
        }
        untouched
    }

    /// The values behind one of a document's keys, for a message.
    pub(super) fn describe(&self, document: &RawDocument, key: &[u8]) -> Result<Document> {
        let parts = self.parts(document)?;
        let many = parts.iter().position(|part| part.multikey).unwrap_or_default();
        let nth = (0..parts[many].keys.len())
            .find(|nth| join(&parts, many, *nth) == key)
            .unwrap_or_default();
        let mut described = Document::new();
        for (position, (field, part)) in self.fields.iter().zip(&parts).enumerate() {
            let nth = if position == many { nth } else { 0 };
            described.insert(field.path.text(), Bson::try_from(part.keys[nth].1)?);
        }
        Ok(described)
    }

    fn parts<'a>(&self, document: &'a RawDocument) -> Result<Vec<FieldKeys<'a>>> {
        let mut parts = Vec::with_capacity(self.fields.len());
        let mut array: Option<&Path> = None;
        for field in &self.fields {
            let part = key::of_field(document, &field.path, field.descending)?;
            if part.multikey {
                if let Some(other) = array {
                    let message = format!(
                        "cannot index parallel arrays [{}] [{}]",
                        field.path.text(),
                        other.text()
                    );
                    return Err(Error::refused(171, message));
                }
                array = Some(&field.path);
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

/// Why a value is no direction of an index field.
fn no_direction(value: &Bson) -> Result<String> {
    Ok(match value {
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) if whole(value) == Some(0) => {
            "Values in the index key pattern cannot be 0.".to_owned()
        }
        Bson::Double(double) => format!("the embedded engine does not support the direction {double}"),
        Bson::String(kind) if OF_MONGODB.contains(&kind.as_str()) => {
            format!("the embedded engine does not support '{kind}' indexes")
        }
        Bson::String(kind) => format!("Unknown index plugin '{kind}'"),
        _ => {
            let found = RawBson::try_from(value.clone())?;
            format!(
                "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and strings are \
                 allowed.",
                type_name(found.as_raw_bson_ref())
            )
        }
    })
}

impl Partial {
    fn parse(expression: &Document) -> Result<Option<Self>> {
        if expression.is_empty() {
            return Ok(None);
        }
        let filter = Filter::parse(expression)?;
        if !can_be_partial(&filter) {
            let message = format!(
                "Expression not supported in partial index: {}",
                dup_key(expression)
            );
            return Err(Error::refused(67, message));
        }
        Ok(Some(Self {
            expression: expression.clone(),
            filter,
        }))
    }
}

/// MongoDB takes equality, `$exists: true`, `$gt`, `$gte`, `$lt`, `$lte`, `$type`, `$in`, `$and` and `$or`.
fn can_be_partial(filter: &Filter) -> bool {
    match filter {
        Filter::And(filters) | Filter::Or(filters) => filters.iter().all(can_be_partial),
        Filter::Nor(_) | Filter::Computed(_) => false,
        Filter::Field(_, test) => matches!(
            test,
            Test::Equal(_) | Test::Compare(..) | Test::OneOf(_) | Test::Exists | Test::Type(_)
        ),
    }
}

fn check_expiry(index: &Index) -> Result<()> {
    let Some(seconds) = index.expire_after else {
        return Ok(());
    };
    if index.keys.len() > 1 {
        let message = format!(
            "TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: {}",
            dup_key(&index.keys)
        );
        return Err(Error::refused(67, message));
    }
    if index.keys.contains_key("_id") {
        let message = "The field 'expireAfterSeconds' is not valid for an _id index specification.";
        return Err(Error::refused(197, message));
    }
    if i32::try_from(seconds).is_err() {
        let message = format!(
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number than {seconds}"
        );
        return Err(Error::refused(67, message));
    }
    Ok(())
}

fn join(parts: &[FieldKeys<'_>], many: usize, nth: usize) -> Vec<u8> {
    let mut key = Vec::with_capacity(32 * parts.len());
    for (position, part) in parts.iter().enumerate() {
        key.extend_from_slice(&part.keys[if position == many { nth } else { 0 }].0);
    }
    key
}
