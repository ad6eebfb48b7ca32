//! `$group`: one document for all documents with the same value of an expression.

use std::borrow::Cow;
use std::collections::HashMap;

use bson::raw::CStr;
use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf};

use super::MOST_HELD;
use super::accumulator::{Accumulator, State};
use super::expression::Expression;
use super::value::{Value, encode};
use crate::key;
use document::{Error, Result};

/// Approximate overhead of a group and of an accumulator in bytes, without their values.
const OVERHEAD: usize = 64;

/// A compiled `$group`.
#[derive(Debug, Clone)]
pub(super) struct Group {
    by: Expression,
    fields: Fields,
}

/// The names of the accumulators, and what they compute.
pub(super) type Fields = Vec<(String, Accumulator)>;

impl Group {
    pub(super) fn new(by: Expression, fields: Fields) -> Self {
        Self { by, fields }
    }

    pub(super) fn parse(spec: &Document) -> Result<Self> {
        let id = spec
            .get("_id")
            .ok_or_else(|| Error::refused(15955, "a group specification must include an _id"))?;
        let accumulators = spec.iter().filter(|(name, _)| *name != "_id");
        Ok(Self::new(Expression::parse(id)?, parse_fields(accumulators)?))
    }
}

/// Compiles the accumulators of a `$group` or of a `$bucket`'s output.
pub(super) fn parse_fields<'d>(fields: impl Iterator<Item = (&'d String, &'d Bson)>) -> Result<Fields> {
    fields
        .map(|(name, value)| {
            let (code, problem) = match name {
                name if name.contains('.') => (40235, "cannot contain '.'"),
                name if name.starts_with('$') => (40236, "cannot be an operator name"),
                name => return Ok((name.clone(), Accumulator::parse(name, value)?)),
            };
            Err(Error::refused(code, format!("The field name '{name}' {problem}")))
        })
        .collect()
}

/// The groups so far, in the order in which their first documents came.
#[derive(Debug, Default)]
pub(super) struct Groups {
    places: HashMap<Vec<u8>, usize>,
    found: Vec<(RawBson, Vec<State>)>,
    bytes: usize,
}

impl Groups {
    /// Adds a document. Refuses to hold more than 100 MB.
    pub(super) fn add(&mut self, group: &Group, document: &RawDocument) -> Result<()> {
        let id = group.by.compute(document)?;
        let key = key::of(id.as_raw_bson_ref())?;
        let next = self.found.len();
        let place = if let Some(place) = self.places.get(&key) {
            *place
        } else {
            self.bytes += 2 * key.len() + OVERHEAD * (1 + group.fields.len());
            self.places.insert(key, next);
            let states = group.fields.iter().map(|(_, accumulator)| accumulator.start());
            self.found.push((id, states.collect()));
            next
        };
        for ((_, accumulator), state) in group.fields.iter().zip(&mut self.found[place].1) {
            self.bytes += accumulator.add(state, document)?;
        }
        if self.bytes > MOST_HELD {
            let message = "Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true \
                           to opt in.";
            return Err(Error::refused(292, message));
        }
        Ok(())
    }

    /// One document per group.
    pub(super) fn finish(self, group: &Group) -> impl Iterator<Item = Result<RawDocumentBuf>> {
        self.found
            .into_iter()
            .map(|(id, states)| finish(&group.fields, &id, states))
    }
}

/// The document of a group.
pub(super) fn finish(fields: &Fields, id: &RawBson, states: Vec<State>) -> Result<RawDocumentBuf> {
    let id = [(Cow::Borrowed("_id"), Value::Encoded(id.as_raw_bson_ref()))];
    let mut document = encode(&id)?;
    for ((name, accumulator), state) in fields.iter().zip(states) {
        let name: &CStr = name.as_str().try_into()?;
        document.append(name, accumulator.finish(state));
    }
    Ok(document)
}
