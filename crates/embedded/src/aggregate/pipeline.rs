//! Pipelines, compiled from MongoDB's stages.

use bson::{Bson, Document, RawBson};

use super::accumulator::Accumulator;
use super::bucket::{self, Automatic};
use super::expression::Expression;
use super::group::Group;
use super::reshape::{Reshape, document, stage, unrecognized};
use super::sample::Sample;
use super::unwind::Unwind;
use crate::filter::{Filter, no_count, whole};
use crate::query::Query;
use crate::sort::Order;
use document::{Error, Result};

/// A compiled pipeline: what it reads from the collection, and its stages.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// The leading `$match`, `$sort`, `$skip` and `$limit`, which indexes can help with.
    pub(crate) query: Query,
    pub(super) stages: Vec<Stage>,
}

/// A compiled stage.
#[derive(Debug)]
pub(super) enum Stage {
    Match(Filter),
    Reshape(Reshape),
    /// Keeps only the first few, if it is known that no more are needed.
    Sort(Order, Option<usize>),
    Skip(u64),
    Limit(u64),
    Group(Group),
    BucketAuto(Automatic),
    Unwind(Unwind),
    Sample(Sample),
}

/// How many stages a pipeline may have, as in MongoDB.
const MOST_STAGES: usize = 1_000;

impl Pipeline {
    /// Compiles a pipeline; refuses by name what it does not know.
    pub(crate) fn parse(stages: &[Document]) -> Result<Self> {
        Self::compile(stages, lead)
    }

    /// Compiles a pipeline over documents that are in no collection: its stages do all the work.
    pub(crate) fn over_documents(stages: &[Document]) -> Result<Self> {
        Self::compile(stages, |_, _| 0)
    }

    /// `lead` moves stages to the query, and returns how many.
    fn compile(stages: &[Document], lead: fn(&[Stage], &mut Query) -> usize) -> Result<Self> {
        if stages.len() > MOST_STAGES {
            let message = format!("Pipeline length must be no longer than {MOST_STAGES} stages");
            return Err(Error::refused(7_749_501, message));
        }
        let mut compiled = Vec::with_capacity(stages.len());
        for document in stages {
            let (name, spec) = stage(document)?;
            parse_stage(name, spec, &mut compiled)?;
        }
        advance_limits(&mut compiled);
        let mut query = Query::parse(&Document::new(), &Document::new(), 0, 0)?;
        let leading = lead(&compiled, &mut query);
        compiled.drain(..leading);
        bound_sorts(&mut compiled);
        Ok(Self {
            query,
            stages: compiled,
        })
    }
}

fn parse_stage(name: &str, spec: &Bson, stages: &mut Vec<Stage>) -> Result<()> {
    if let Some(reshape) = Reshape::parse(name, spec)? {
        stages.push(Stage::Reshape(reshape));
        return Ok(());
    }
    let stage = match name {
        "$match" => match spec {
            Bson::Document(filter) => Stage::Match(Filter::parse(filter)?),
            _ => {
                return Err(Error::refused(
                    15959,
                    "the match filter must be an expression in an object",
                ));
            }
        },
        "$sort" => match spec {
            Bson::Document(order) if order.is_empty() => {
                return Err(Error::refused(
                    15976,
                    "$sort stage must have at least one sort key",
                ));
            }
            Bson::Document(order) => Stage::Sort(Order::parse(order)?, None),
            _ => {
                return Err(Error::refused(
                    15973,
                    "the $sort key specification must be an object",
                ));
            }
        },
        "$skip" => Stage::Skip(count(name, spec, 5_107_200)?),
        "$limit" => match count(name, spec, 5_107_201)? {
            0 => return Err(Error::refused(15958, "the limit must be positive")),
            limit => Stage::Limit(limit),
        },
        "$group" => Stage::Group(Group::parse(document(name, spec, 15947)?)?),
        "$bucket" => {
            stages.push(Stage::Group(bucket::parse(spec)?));
            Stage::Sort(Order::parse(&bson::doc! { "_id": 1 })?, None)
        }
        "$bucketAuto" => Stage::BucketAuto(Automatic::parse(spec)?),
        "$unwind" => Stage::Unwind(Unwind::parse(spec)?),
        "$sample" => Stage::Sample(Sample::parse(spec)?),
        "$count" => {
            let fields = vec![(count_name(spec)?.to_owned(), Accumulator::count())];
            stages.push(Stage::Group(Group::new(
                Expression::Literal(RawBson::Null),
                fields,
            )));
            let without_id = Reshape::parse("$unset", &"_id".into())?;
            Stage::Reshape(without_id.ok_or_else(|| unrecognized("$unset"))?)
        }
        "$sortByCount" => {
            let operator = spec.as_document().is_some_and(super::parse::is_operator);
            if !operator && !spec.as_str().is_some_and(|path| path.starts_with('$')) {
                let message = "the sortByCount field must be defined as a $-prefixed path or an expression inside an \
                               object";
                return Err(Error::refused(40149, message));
            }
            let fields = vec![("count".to_owned(), Accumulator::count())];
            stages.push(Stage::Group(Group::new(Expression::parse(spec)?, fields)));
            Stage::Sort(Order::parse(&bson::doc! { "count": -1 })?, None)
        }
        _ => return Err(unrecognized(name)),
    };
    stages.push(stage);
    Ok(())
}

fn count(name: &str, spec: &Bson, code: i32) -> Result<u64> {
    let count = whole(spec).and_then(|count| u64::try_from(count).ok());
    count.ok_or_else(|| {
        let why = no_count(name, spec);
        Error::refused(code, format!("invalid argument to {name} stage: {why}"))
    })
}

fn count_name(spec: &Bson) -> Result<&str> {
    let (code, problem) = match spec {
        Bson::String(name) if name.is_empty() => (40157, "must be a non-empty string"),
        Bson::String(name) if name.starts_with('$') => (40158, "cannot be a $-prefixed path"),
        Bson::String(name) if name.contains('\0') => (40159, "cannot contain a null byte"),
        Bson::String(name) if name.contains('.') => (40160, "cannot contain '.'"),
        Bson::String(name) => return Ok(name),
        _ => (40156, "must be a non-empty string"),
    };
    Err(Error::refused(code, format!("the count field {problem}")))
}

/// Moves `$skip` and `$limit` before the stages that make one document from each, so that these make no more than
/// needed.
fn advance_limits(stages: &mut [Stage]) {
    for position in 1..stages.len() {
        let mut at = position;
        while at > 0
            && matches!(stages[at], Stage::Skip(_) | Stage::Limit(_))
            && matches!(stages[at - 1], Stage::Reshape(_))
        {
            stages.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Merges the stages that a query can do into one query. Returns how many there were.
fn lead(stages: &[Stage], query: &mut Query) -> usize {
    let mut filters = Vec::new();
    let mut done = 0;
    for stage in stages {
        match stage {
            Stage::Match(filter) if query.order.is_empty() && query.skip == 0 => filters.push(filter.clone()),
            Stage::Sort(order, _) if query.order.is_empty() && query.skip == 0 => query.order = order.clone(),
            Stage::Skip(skip) if query.skip == 0 => query.skip = *skip,
            Stage::Limit(limit) => {
                query.limit = *limit;
                done += 1;
                break;
            }
            _ => break,
        }
        done += 1;
    }
    query.filter = match filters.len() {
        1 => filters.remove(0),
        _ => Filter::And(filters),
    };
    done
}

/// Tells a sort how many of its documents the stages after it will take.
fn bound_sorts(stages: &mut [Stage]) {
    for position in 0..stages.len() {
        let mut skipped = 0_u64;
        let limit = stages[position + 1..].iter().find_map(|stage| match stage {
            Stage::Skip(skip) => {
                skipped = skipped.saturating_add(*skip);
                None
            }
            Stage::Limit(limit) => Some(Some(limit.saturating_add(skipped))),
            _ => Some(None),
        });
        if let (Stage::Sort(_, keep), Some(Some(limit))) = (&mut stages[position], limit) {
            *keep = usize::try_from(limit).ok();
        }
    }
}
