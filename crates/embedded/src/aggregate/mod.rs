//! Aggregation: MongoDB's expressions, and pipelines of stages over a collection.
//!
//! ```text
//!   parse, expression       expressions, compiled and computed
//!   functions, arithmetic   their operators: a new one is a line in the table of functions
//!   arrays, objects, text
//!   value                   what expressions compute; stays encoded as long as it can
//!   shape, reshape          stages that make one document of each; updates by pipeline consist of them
//!   group, accumulator      stages that make one document of many
//!   bucket
//!   unwind                  the stage that makes many of one
//!   sample                  the stage that passes on a few at random
//!   pipeline, run           stages compiled, and documents going through them
//!   distinct                the different values of a field
//! ```
//!
//! The leading stages of a pipeline that a query can do are done by a query, so that indexes help.

mod accumulator;
mod arithmetic;
mod arrays;
mod bucket;
mod distinct;
mod expression;
mod functions;
mod group;
mod objects;
mod parse;
mod pipeline;
mod reshape;
mod run;
mod sample;
mod shape;
mod text;
mod unwind;
mod value;

pub(super) use distinct::Distinct;
pub(super) use expression::Expression;
pub(super) use pipeline::Pipeline;
pub(super) use reshape::{Reshape, stage, unrecognized};
pub(super) use run::Run;

/// How many bytes a stage may hold back, as in MongoDB.
const MOST_HELD: usize = 100 * 1024 * 1024;

#[cfg(test)]
mod tests;
