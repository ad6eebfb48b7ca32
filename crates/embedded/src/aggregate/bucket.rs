//! `$bucket` and `$bucketAuto`: groups by ranges of an expression's value.

use std::cmp::Ordering;

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf, rawdoc};

use super::MOST_HELD;
use super::accumulator::Accumulator;
use super::expression::Expression;
use super::group::{Fields, Group, finish, parse_fields};
use super::value::Value;
use crate::compare::{compare, rank};
use crate::filter::whole;
use crate::key;
use document::{Error, Result, shown};

/// Compiles a `$bucket` to a `$group` by the lower boundaries.
pub(super) fn parse(spec: &Bson) -> Result<Group> {
    let Bson::Document(spec) = spec else {
        return Err(Error::refused(
            40201,
            "Argument to $bucket stage must be an object",
        ));
    };
    let known = ["groupBy", "boundaries", "default", "output"];
    if let Some(unknown) = spec.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::refused(
            40197,
            format!("Unrecognized option to $bucket: {unknown}."),
        ));
    }
    let (Some(by), Some(boundaries)) = (spec.get("groupBy"), spec.get("boundaries")) else {
        let message = "$bucket requires 'groupBy' and 'boundaries' to be specified.";
        return Err(Error::refused(40198, message));
    };
    let by = group_by("$bucket", by, 40202)?;
    let boundaries = parse_boundaries(boundaries)?;
    let default = spec
        .get("default")
        .map(|default| constant(default, "'default'", 40195))
        .transpose()?;
    if let (Some(default), [first, .., last]) = (&default, boundaries.as_slice()) {
        let default = default.as_raw_bson_ref();
        let below = compare(default, first.as_raw_bson_ref()) == Ordering::Less;
        if !below && compare(default, last.as_raw_bson_ref()) == Ordering::Less {
            let message = "The $bucket 'default' field must be less than the lowest boundary or greater than or \
                           equal to the highest boundary.";
            return Err(Error::refused(40199, message));
        }
    }
    let by = Expression::Bucket(Box::new(by), boundaries, default);
    Ok(Group::new(by, output("$bucket", spec, 40196)?))
}

fn parse_boundaries(boundaries: &Bson) -> Result<Vec<RawBson>> {
    let Bson::Array(boundaries) = boundaries else {
        return Err(Error::refused(
            40200,
            "The $bucket 'boundaries' field must be an array",
        ));
    };
    if boundaries.len() < 2 {
        let message = format!(
            "The $bucket 'boundaries' field must have at least 2 values, but found {} value(s).",
            boundaries.len()
        );
        return Err(Error::refused(40192, message));
    }
    let boundaries: Vec<RawBson> = boundaries
        .iter()
        .map(|boundary| constant(boundary, "'boundaries'", 40191))
        .collect::<Result<_>>()?;
    for pair in boundaries.windows(2) {
        let (low, high) = (pair[0].as_raw_bson_ref(), pair[1].as_raw_bson_ref());
        if rank(low) != rank(high) {
            let message = "All values in the 'boundaries' option to $bucket must have the same type.";
            return Err(Error::refused(40193, message));
        }
        if compare(low, high) != Ordering::Less {
            let message = "The 'boundaries' option to $bucket must be sorted, but elements are not in ascending \
                           order.";
            return Err(Error::refused(40194, message));
        }
    }
    Ok(boundaries)
}

fn constant(value: &Bson, field: &str, code: i32) -> Result<RawBson> {
    let expression = Expression::parse(value)?;
    let constant = expression.constant().cloned();
    constant.ok_or_else(|| {
        Error::refused(
            code,
            format!(
                "The $bucket {field} field must consist of constant values: {}",
                shown(value)
            ),
        )
    })
}

fn group_by(stage: &str, value: &Bson, code: i32) -> Result<Expression> {
    match value {
        Bson::String(path) if path.starts_with('$') => Expression::parse(value),
        Bson::Document(document) if super::parse::is_operator(document) => Expression::parse(value),
        _ => {
            let message = format!(
                "The {stage} 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {}",
                shown(value)
            );
            Err(Error::refused(code, message))
        }
    }
}

fn output(stage: &str, spec: &Document, code: i32) -> Result<Fields> {
    match spec.get("output") {
        None => Ok(vec![("count".to_owned(), Accumulator::count())]),
        Some(Bson::Document(output)) => parse_fields(output.iter()),
        Some(_) => Err(Error::refused(
            code,
            format!("The {stage} 'output' field must be an object"),
        )),
    }
}

/// The largest boundary that is not above the value; the last boundary belongs to no bucket.
pub(super) fn find<'a>(
    value: &Value<'a>,
    boundaries: &'a [RawBson],
    default: Option<&'a RawBson>,
) -> Result<Value<'a>> {
    let reached = value.with_encoded(|value| {
        let below = |boundary: &RawBson| compare(boundary.as_raw_bson_ref(), value) != Ordering::Greater;
        Ok(boundaries.partition_point(below))
    })?;
    let bucket = reached
        .checked_sub(1)
        .filter(|_| reached < boundaries.len())
        .and_then(|position| boundaries.get(position));
    let bucket = bucket.or(default).ok_or_else(|| {
        let message = "$switch could not find a matching branch for an input, and no default was specified.";
        Error::refused(40066, message)
    })?;
    Ok(Value::Encoded(bucket.as_raw_bson_ref()))
}

/// A compiled `$bucketAuto`.
#[derive(Debug, Clone)]
pub(super) struct Automatic {
    by: Expression,
    buckets: usize,
    fields: Fields,
}

impl Automatic {
    pub(super) fn parse(spec: &Bson) -> Result<Self> {
        let Bson::Document(spec) = spec else {
            return Err(Error::refused(
                40240,
                "The argument to $bucketAuto must be an object",
            ));
        };
        let known = ["groupBy", "buckets", "output"];
        if let Some(unknown) = spec.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Error::refused(
                40245,
                format!("Unrecognized option to $bucketAuto: {unknown}."),
            ));
        }
        let (Some(by), Some(buckets)) = (spec.get("groupBy"), spec.get("buckets")) else {
            let message = "$bucketAuto requires 'groupBy' and 'buckets' to be specified.";
            return Err(Error::refused(40246, message));
        };
        let buckets = match buckets {
            Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => {
                whole(buckets).and_then(|count| usize::try_from(count).ok())
            }
            _ => {
                let message = "The $bucketAuto 'buckets' field must be a numeric value";
                return Err(Error::refused(40241, message));
            }
        };
        let buckets = buckets
            .filter(|count| *count > 0)
            .ok_or_else(|| Error::refused(40243, "The $bucketAuto 'buckets' field must be greater than 0"))?;
        Ok(Self {
            by: group_by("$bucketAuto", by, 40239)?,
            buckets,
            fields: output("$bucketAuto", spec, 40244)?,
        })
    }
}

/// The documents for a `$bucketAuto`, with their places in the order of its expression's value.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    documents: Vec<(Vec<u8>, RawBson, RawDocumentBuf)>,
    bytes: usize,
}

impl Sorted {
    /// Takes a document in. Refuses to hold more than 100 MB.
    pub(super) fn add(&mut self, automatic: &Automatic, document: &RawDocument) -> Result<()> {
        let value = automatic.by.compute(document)?;
        let key = key::of(value.as_raw_bson_ref())?;
        self.bytes += 2 * key.len() + document.as_bytes().len();
        if self.bytes > MOST_HELD {
            let message = "$bucketAuto exceeded the memory limit of 104857600 bytes, but did not opt in to external \
                           sorting.";
            return Err(Error::refused(292, message));
        }
        self.documents.push((key, value, document.to_owned()));
        Ok(())
    }

    /// One document per bucket. Buckets are about equally full; equal values are never divided.
    pub(super) fn finish(mut self, automatic: &Automatic) -> Result<Vec<RawDocumentBuf>> {
        self.documents.sort_by(|a, b| a.0.cmp(&b.0));
        let documents = self.documents.as_slice();
        let share = ((documents.len() + automatic.buckets / 2) / automatic.buckets).max(1);
        let mut answer = Vec::new();
        let mut start = 0;
        while start < documents.len() {
            let last_bucket = answer.len() + 1 == automatic.buckets;
            let mut end = if last_bucket {
                documents.len()
            } else {
                documents.len().min(start + share)
            };
            while end < documents.len() && documents[end].0 == documents[end - 1].0 {
                end += 1;
            }
            let mut states: Vec<_> = automatic.fields.iter().map(|(_, field)| field.start()).collect();
            for (_, _, document) in &documents[start..end] {
                for ((_, field), state) in automatic.fields.iter().zip(&mut states) {
                    field.add(state, document)?;
                }
            }
            let highest = documents.get(end).unwrap_or(&documents[end - 1]);
            let range = rawdoc! { "min": documents[start].1.clone(), "max": highest.1.clone() };
            answer.push(finish(&automatic.fields, &RawBson::Document(range), states)?);
            start = end;
        }
        Ok(answer)
    }
}
