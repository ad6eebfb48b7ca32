//! Updates by an aggregation pipeline, which computes the new document from the old one, and by a new document.

use std::borrow::Cow;

use bson::raw::cstr;
use bson::{Bson, Document, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::Changes;
use super::upsert::{demanded_id, equalities};
use crate::aggregate::{Reshape, stage, unrecognized};
use crate::compare::{check, equal};
use crate::filter::Filter;
use crate::operation::with_id_first;
use document::{Change, Error, Result, shown};

/// MongoDB's name for a stage that is not allowed in an update.
const NOT_IN_UPDATES: &[&str] = &[
    "$match",
    "$sort",
    "$limit",
    "$skip",
    "$group",
    "$bucket",
    "$bucketAuto",
    "$unwind",
    "$count",
    "$sortByCount",
];

/// A compiled update of either kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edit {
    /// Update operators.
    Operators(Changes),
    /// Stages, one after the other.
    Pipeline(Vec<Reshape>),
    /// A new document, and the `_id` that an upsert gives it if nothing else does.
    Replacement(RawDocumentBuf, Option<RawBson>),
}

impl Edit {
    /// Compiles an update; refuses by name what it does not know.
    pub(crate) fn parse(change: &Change) -> Result<Self> {
        match change {
            Change::Operators(operators) => Ok(Self::Operators(Changes::parse(operators, &[])?)),
            Change::Elements(operators, filters) => Ok(Self::Operators(Changes::parse(operators, filters)?)),
            Change::Pipeline(stages) => {
                let stages = stages.iter().map(parse_stage);
                Ok(Self::Pipeline(stages.collect::<Result<_>>()?))
            }
            Change::Replacement { document, new_id } => {
                let document = RawDocumentBuf::try_from(document)?;
                let id = new_id.clone().map(RawBson::try_from).transpose()?;
                Ok(Self::Replacement(document, id))
            }
        }
    }

    /// The document as the update leaves it. Fails before anything changes; refuses to change `_id`.
    pub(crate) fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match self {
            Self::Operators(changes) => changes.apply(document),
            Self::Pipeline(stages) => compute(stages, document),
            Self::Replacement(new, _) => checked(new.clone(), document.get("_id")?),
        }
    }

    /// The document that an upsert inserts: a pipeline computes it from the filter's equalities.
    pub(crate) fn insert(&self, filter: &Filter) -> Result<RawDocumentBuf> {
        match self {
            Self::Operators(changes) => changes.insert(filter),
            Self::Pipeline(stages) => compute(stages, &equalities(filter)?),
            Self::Replacement(new, id) => {
                let demanded = demanded_id(filter)?;
                let id = id
                    .as_ref()
                    .filter(|_| new.get("_id").is_ok_and(|id| id.is_none()));
                let asked = demanded.get("_id")?.or(id.map(RawBson::as_raw_bson_ref));
                checked(new.clone(), asked)
            }
        }
    }
}

fn parse_stage(document: &Document) -> Result<Reshape> {
    let (name, spec) = stage(document)?;
    Reshape::parse(name, spec)?.ok_or_else(|| {
        if NOT_IN_UPDATES.contains(&name) {
            Error::refused(72, format!("{name} is not allowed to be used within an update"))
        } else {
            unrecognized(name)
        }
    })
}

/// The document that the stages compute, checked.
fn compute(stages: &[Reshape], document: &RawDocument) -> Result<RawDocumentBuf> {
    let mut computed = Cow::Borrowed(document);
    for stage in stages {
        computed = Cow::Owned(stage.apply(&computed)?);
    }
    checked(computed.into_owned(), document.get("_id")?)
}

/// The new document with its `_id`, if it is one that can be stored.
fn checked(new: RawDocumentBuf, id: Option<RawBsonRef<'_>>) -> Result<RawDocumentBuf> {
    let new = with_id(new, id)?;
    check(RawBsonRef::Document(&new))?;
    Ok(new)
}

/// The computed document with its `_id` first: if the pipeline drops it, the old one is kept.
fn with_id(computed: RawDocumentBuf, asked: Option<RawBsonRef<'_>>) -> Result<RawDocumentBuf> {
    let id = match (computed.get("_id")?, asked) {
        (Some(id), Some(asked)) if !equal(id, asked) => {
            let id = shown(&Bson::try_from(id)?);
            let message = format!(
                "After applying the update, the (immutable) field '_id' was found to have been altered to _id: {id}"
            );
            return Err(Error::refused(66, message));
        }
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => {
            let message =
                "an upsert needs an _id, given by an equality in the filter or computed by the pipeline";
            return Err(Error::refused(2, message));
        }
    };
    match computed.iter_elements().next() {
        Some(Ok(first)) if first.key() == cstr!("_id") => Ok(computed),
        _ => with_id_first(&computed, id),
    }
}
