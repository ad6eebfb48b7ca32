//! A command that is to be run, with what follows it: the methods of cursors, and how its answer is shown.

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::sort::order;

/// How the answer of a command is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// The documents of a cursor, some at a time.
    Cursor,
    /// The documents of a cursor as an array.
    Array,
    /// The first document of a cursor, or null.
    One,
    /// Whether a cursor has a document.
    Any,
    /// A field of the answer.
    Field(&'static str),
    /// A field of the first document of a cursor; 0 without one.
    Counted,
    /// The id of an inserted document.
    Inserted(Bson),
    /// The ids of inserted documents, in order.
    AllInserted {
        /// The documents.
        documents: Vec<Document>,
        /// Whether the first error ends it.
        ordered: bool,
    },
    /// How many documents an update matched and changed.
    Updated,
    /// How many documents were deleted.
    Deleted,
    /// The name of the index that was made.
    Indexed(String),
    /// The names of indexes that were made.
    AllIndexed(Vec<String>),
    /// Whether a collection was removed.
    Dropped,
    /// The names of collections, each on its line.
    Names,
    /// The names of collections as an array.
    NameArray,
    /// The databases with their sizes.
    Databases,
    /// All of the answer.
    Answer,
    /// Nothing: the server is not to answer (`{ w: 0 }`), so what it did is not known.
    Unacknowledged(Box<Self>),
}

/// A command, and how its answer is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) command: Document,
    pub(crate) shape: Shape,
}

impl Run {
    pub(crate) fn of(command: Document, shape: Shape) -> Self {
        Self { command, shape }
    }

    fn name(&self) -> &str {
        self.command.keys().next().map_or("", String::as_str)
    }

    /// The command that explains this one.
    pub(crate) fn explained(mut self, verbosity: &str) -> Result<Self> {
        if ![
            "find",
            "aggregate",
            "count",
            "distinct",
            "update",
            "delete",
            "findAndModify",
        ]
        .contains(&self.name())
        {
            return Err(Error::argument(format!("`{}` cannot be explained.", self.name())));
        }
        self.command.remove("singleBatch");
        Ok(Self::of(
            doc! { "explain": self.command, "verbosity": verbosity },
            Shape::Answer,
        ))
    }

    /// The same with a method of cursors behind it.
    pub(crate) fn followed_by(mut self, at: usize, method: &str, arguments: &[Bson]) -> Result<Self> {
        let finds = self.name() == "find";
        let only_of_find = || Error::unknown(at, format!(".{method}() follows find(…) only."));
        if self.shape != Shape::Cursor {
            return Err(Error::unknown(
                at,
                format!("Nothing can follow here, so .{method}() cannot."),
            ));
        }
        match (method, arguments) {
            ("toArray", []) => self.shape = Shape::Array,
            ("pretty", []) => {}
            ("next", []) => self.shape = Shape::One,
            ("hasNext", []) => self.shape = Shape::Any,
            ("limit" | "skip" | "batchSize", [argument]) if !is_number(argument) => {
                return Err(Error::of_driver(format!(
                    "Operation \"{method}\" requires an integer"
                )));
            }
            ("maxTimeMS", [argument]) if !is_number(argument) => {
                return Err(Error::of_driver("Argument for maxTimeMS must be a number"));
            }
            // As drivers send it: one batch, and no cursor.
            ("batchSize", [Bson::Int32(..0)]) if finds => _ = self.command.insert("singleBatch", true),
            ("batchSize", [size]) if finds => _ = self.command.insert("batchSize", size.clone()),
            ("batchSize", [size]) => _ = self.command.insert("cursor", doc! { "batchSize": size.clone() }),
            // As drivers send it: so many documents, and no cursor.
            ("limit", [Bson::Int32(limit @ ..0)]) if finds => {
                self.command.insert("limit", limit.saturating_abs());
                self.command.insert("singleBatch", true);
            }
            ("sort", [sort, direction @ ..]) if finds && direction.len() < 2 => {
                if let Some(order) = order(sort, direction.first())? {
                    self.command.insert("sort", order);
                }
            }
            (
                "sort" | "hint" | "limit" | "skip" | "comment" | "maxTimeMS" | "min" | "max" | "collation",
                [argument],
            ) => {
                if !finds && !["hint", "comment", "maxTimeMS", "collation"].contains(&method) {
                    return Err(only_of_find());
                }
                self.command.insert(method, argument.clone());
            }
            ("projection" | "project", [fields]) if finds => {
                _ = self.command.insert("projection", fields.clone());
            }
            ("count" | "itcount" | "size", []) if finds => {
                let mut count = Document::new();
                for (name, value) in self.command {
                    match name.as_str() {
                        "find" => _ = count.insert("count", value),
                        "filter" => _ = count.insert("query", value),
                        "limit" | "skip" | "hint" | "maxTimeMS" | "comment" | "collation" => {
                            _ = count.insert(name, value);
                        }
                        _ => {}
                    }
                }
                return Ok(Self::of(count, Shape::Field("n")));
            }
            ("sort" | "projection" | "project" | "count" | "itcount" | "size", _) if !finds => {
                return Err(only_of_find());
            }
            (known, _) if crate::CURSOR_METHODS.contains(&known) => {
                return Err(Error::argument(format!(
                    ".{method}() takes {} here.",
                    takes(method)
                )));
            }
            _ => {
                let known = crate::CURSOR_METHODS.join(", ");
                return Err(Error::unknown(
                    at,
                    format!("A cursor has no method `{method}` here. It has {known}."),
                ));
            }
        }
        Ok(self)
    }
}

fn is_number(argument: &Bson) -> bool {
    matches!(argument, Bson::Int32(_) | Bson::Double(_))
}

fn takes(method: &str) -> &'static str {
    match method {
        "toArray" | "pretty" | "count" | "next" | "hasNext" => "no argument",
        "limit" | "skip" | "batchSize" | "maxTimeMS" => "a number",
        _ => "one document",
    }
}
