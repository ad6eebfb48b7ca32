//! Indexes: their definitions, and the keys that a document has in them.

use std::collections::BTreeSet;

use bson::{Bson, Document, RawDocument};

use super::filter::whole_number;
use super::key::{self, FieldKeys};
use super::path::Path;
use super::sort::OrderField;
use crate::error::{Error, Result};
use crate::port::Index;

/// The most fields that an index may have, as in MongoDB.
const MOST_FIELDS: usize = 32;

/// A compiled index definition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    /// MongoDB's default name of it.
    pub(super) name: String,
    /// The key pattern as it was asked for.
    pub(super) keys: Document,
    /// Refuses a second document with the same key.
    pub(super) unique: bool,
    /// The fields in order.
    pub(super) fields: Vec<OrderField>,
    /// For each field, whether any document ever had an array there.
    pub(super) multikey: Vec<bool>,
}

/// The keys that one document has in one index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// Without the document's own key, which follows in the table.
    pub(super) keys: BTreeSet<Vec<u8>>,
    /// The field that is an array in this document.
    pub(super) multikey: Option<usize>,
}

impl Definition {
    /// Checks and compiles an index.
    pub(super) fn new(index: &Index) -> Result<Self> {
        let refuse = |message: String| Err(Error::refused(67, message));
        if index.keys.is_empty() || index.keys.len() > MOST_FIELDS {
            return refuse(format!("an index has between 1 and {MOST_FIELDS} fields"));
        }
        let mut fields: Vec<OrderField> = Vec::with_capacity(index.keys.len());
        for (name, direction) in &index.keys {
            let descending = match direction {
                Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => {
                    whole_number(bson::RawBson::try_from(direction.clone())?.as_raw_bson_ref())
                        .filter(|direction| *direction != 0)
                        .map(|direction| direction < 0)
                }
                _ => None,
            };
            let Some(descending) = descending else {
                return refuse(format!(
                    "the direction {direction} of the index field '{name}' is not supported"
                ));
            };
            let path = Path::new(name);
            let usable = |name: &str| !name.is_empty() && !name.starts_with('$');
            if !path
                .parts()
                .iter()
                .all(|part| usable(&part.name) && part.position.is_none())
            {
                return refuse(format!("the index field '{name}' is not supported"));
            }
            fields.push(OrderField { path, descending });
        }
        let multikey = vec![false; fields.len()];
        Ok(Self {
            name: index.name(),
            keys: index.keys.clone(),
            unique: index.unique,
            fields,
            multikey,
        })
    }

    /// Whether it is the index on `_id`, which every collection has.
    pub(super) fn is_primary(&self) -> bool {
        matches!(self.fields.as_slice(), [field] if field.path.text() == "_id" && !field.descending)
    }

    /// The keys of a document.
    pub(super) fn entries(&self, document: &RawDocument) -> Result<Entries> {
        let parts = self.parts(document)?;
        let Some(many) = parts.iter().position(|part| part.multikey) else {
            let key = parts.iter().flat_map(|part| &part.keys[0].0).copied().collect();
            return Ok(Entries {
                keys: BTreeSet::from([key]),
                multikey: None,
            });
        };
        let keys = (0..parts[many].keys.len())
            .map(|nth| join(&parts, many, nth))
            .collect();
        Ok(Entries {
            keys,
            multikey: Some(many),
        })
    }

    /// Whether two versions of a document surely have the same keys, because none of the top-level fields that this
    /// index reads has changed.
    pub(super) fn is_untouched(&self, before: &RawDocument, after: &RawDocument) -> Result<bool> {
        for field in &self.fields {
            if before.get(field.path.root())? != after.get(field.path.root())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values behind one of a document's keys, for a message.
    pub(super) fn describe(&self, document: &RawDocument, key: &[u8]) -> Result<String> {
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
        Ok(described.to_string())
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

fn join(parts: &[FieldKeys<'_>], many: usize, nth: usize) -> Vec<u8> {
    let mut key = Vec::with_capacity(32 * parts.len());
    for (position, part) in parts.iter().enumerate() {
        key.extend_from_slice(&part.keys[if position == many { nth } else { 0 }].0);
    }
    key
}
