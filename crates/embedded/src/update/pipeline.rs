//! Updates by an aggregation pipeline: the new document is computed from the old one.

use bson::raw::CStr;
use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::Changes;
use super::upsert::equalities;
use crate::aggregate::{Reshape, stage, unrecognized};
use crate::compare::{check, equal};
use crate::filter::Filter;
use document::{Change, Error, Result};

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
        }
    }

    /// The document as the update leaves it. Fails before anything changes; refuses to change `_id`.
    pub(crate) fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match self {
            Self::Operators(changes) => changes.apply(document),
            Self::Pipeline(stages) => {
                let changed = with_id(run(stages, document)?, document.get("_id")?)?;
                check(RawBsonRef::Document(&changed))?;
                Ok(changed)
            }
        }
    }

    /// The document that an upsert inserts: a pipeline computes it from the filter's equalities.
    pub(crate) fn insert(&self, filter: &Filter) -> Result<RawDocumentBuf> {
        match self {
            Self::Operators(changes) => changes.insert(filter),
            Self::Pipeline(stages) => {
                let asked = equalities(filter)?;
                let made = with_id(run(stages, &asked)?, asked.get("_id")?)?;
                check(RawBsonRef::Document(&made))?;
                Ok(made)
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

fn run(stages: &[Reshape], document: &RawDocument) -> Result<RawDocumentBuf> {
    let Some((first, rest)) = stages.split_first() else {
        return Ok(document.to_owned());
    };
    rest.iter()
        .try_fold(first.apply(document)?, |document, stage| stage.apply(&document))
}

/// The computed document with its `_id` first: if the pipeline drops it, the old one is kept.
fn with_id(computed: RawDocumentBuf, asked: Option<RawBsonRef<'_>>) -> Result<RawDocumentBuf> {
    let id = match (computed.get("_id")?, asked) {
        (Some(id), Some(asked)) if !equal(id, asked) => {
            let message =
                "After applying the update, the (immutable) field '_id' was found to have been altered";
            return Err(Error::refused(66, message));
        }
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => {
            let message =
                "an upsert needs an _id, given by an equality in the filter or computed by the pipeline";
            return Err(Error::refused(2, message));
        }
    };
    let name: &CStr = "_id".try_into()?;
    if let Some(Ok(first)) = computed.iter_elements().next()
        && first.key() == name
    {
        return Ok(computed);
    }
    let mut reordered = RawDocumentBuf::new();
    reordered.append(name, id);
    for element in computed.iter_elements() {
        let element = element?;
        if element.key() != name {
            reordered.append(element.key(), element.value()?);
        }
    }
    Ok(reordered)
}
