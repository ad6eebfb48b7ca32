//! A method of a collection, as the command that a driver sends for it.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::options::Options;

/// The methods of a collection.
pub const METHODS: [&str; 24] = [
    "find",
    "findOne",
    "countDocuments",
    "estimatedDocumentCount",
    "count",
    "distinct",
    "aggregate",
    "insertOne",
    "insertMany",
    "updateOne",
    "updateMany",
    "replaceOne",
    "deleteOne",
    "deleteMany",
    "findOneAndUpdate",
    "findOneAndReplace",
    "findOneAndDelete",
    "createIndex",
    "createIndexes",
    "getIndexes",
    "stats",
    "validate",
    "drop",
    "explain",
];

/// How the answer of a command is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// The documents of a cursor, some at a time.
    Cursor,
    /// The documents of a cursor as an array.
    Array,
    /// The first document of a cursor, or null.
    One,
    /// A field of the answer.
    Field(&'static str),
    /// A field of the first document of a cursor; 0 without one.
    Counted,
    /// The id of an inserted document.
    Inserted(Bson),
    /// The ids of inserted documents, in order.
    AllInserted(Vec<Bson>),
    /// How many documents an update matched and changed.
    Updated,
    /// How many documents were deleted.
    Deleted,
    /// The names of indexes that were made.
    Indexed(Vec<String>),
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
            ("forEach" | "map", _) => {
                return Err(Error::unknown(
                    at,
                    format!(".{method}() takes a function, and JavaScript is not evaluated here."),
                ));
            }
            ("batchSize", [size]) if finds => _ = self.command.insert("batchSize", size.clone()),
            ("batchSize", [size]) => _ = self.command.insert("cursor", doc! { "batchSize": size.clone() }),
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
                _ = self.command.insert("projection", fields.clone())
            }
            ("count" | "itcount" | "size", []) if finds => {
                let mut count = Document::new();
                for (name, value) in self.command {
                    match name.as_str() {
                        "find" => _ = count.insert("count", value),
                        "filter" => _ = count.insert("query", value),
                        // As in the shell, count() counts all that match.
                        "limit" | "skip" if method == "count" => {}
                        "limit" | "skip" | "hint" | "maxTimeMS" | "comment" | "collation" => {
                            _ = count.insert(name, value)
                        }
                        _ => {}
                    }
                }
                return Ok(Self::of(count, Shape::Field("n")));
            }
            ("projection" | "project" | "count" | "itcount" | "size", _) if !finds => {
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

fn takes(method: &str) -> &'static str {
    match method {
        "toArray" | "pretty" | "count" | "next" => "no argument",
        "limit" | "skip" | "batchSize" | "maxTimeMS" => "a number",
        _ => "one document",
    }
}

/// The command of `db.collection.method(arguments)`.
pub(crate) fn run(at: usize, collection: &str, method: &str, arguments: &[Bson]) -> Result<Run> {
    let call = Call {
        collection,
        method,
        arguments,
    };
    match method {
        "find" => call.find(Shape::Cursor),
        "findOne" => call.find(Shape::One),
        "countDocuments" => call.count_documents(),
        "estimatedDocumentCount" => call.plain("count", &["maxTimeMS", "comment"], Shape::Field("n")),
        "count" => call.count(),
        "distinct" => call.distinct(),
        "aggregate" => call.aggregate(),
        "insertOne" | "insertMany" => call.insert(),
        "updateOne" | "updateMany" | "replaceOne" => call.update(),
        "deleteOne" | "deleteMany" => call.delete(),
        "findOneAndUpdate" | "findOneAndReplace" | "findOneAndDelete" => call.find_and_modify(),
        "createIndex" | "createIndexes" => call.create_indexes(),
        "getIndexes" => call.plain("listIndexes", &[], Shape::Array),
        "stats" => call.plain("collStats", &["scale"], Shape::Answer),
        "validate" => call.plain("validate", &["full"], Shape::Answer),
        "drop" => call.plain("drop", &[], Shape::Dropped),
        _ => Err(unknown(at, collection, method)),
    }
}

fn unknown(at: usize, collection: &str, method: &str) -> Error {
    let instead = match method {
        "insert" => "Use insertOne or insertMany.",
        "update" => "Use updateOne, updateMany or replaceOne.",
        "remove" => "Use deleteOne or deleteMany.",
        "save" => "Use insertOne or replaceOne.",
        "findAndModify" => "Use findOneAndUpdate, findOneAndReplace or findOneAndDelete.",
        "bulkWrite" | "initializeOrderedBulkOp" | "initializeUnorderedBulkOp" => {
            "Run its operations one by one."
        }
        "mapReduce" => "Use aggregate.",
        "watch" => "The console shows one answer to each command.",
        _ => "",
    };
    let message = if instead.is_empty() {
        format!(
            "db.{collection}.{method} is not a function. A collection has {}.",
            METHODS.join(", ")
        )
    } else {
        format!("{method} is not here. {instead}")
    };
    Error::unknown(at, message)
}

/// A call of a method.
struct Call<'a> {
    collection: &'a str,
    method: &'a str,
    arguments: &'a [Bson],
}

impl<'a> Call<'a> {
    /// The argument at a place, if it was given.
    fn argument(&self, place: usize) -> Option<&'a Bson> {
        self.arguments
            .get(place)
            .filter(|argument| !matches!(argument, Bson::Undefined))
    }

    fn wrong(&self, what: &str) -> Error {
        Error::argument(format!("{}() takes {what}.", self.method))
    }

    /// Refuses more arguments than this.
    fn at_most(&self, most: usize) -> Result<()> {
        match self.arguments.len() {
            given if given <= most => Ok(()),
            given => Err(self.wrong(&format!("at most {most} arguments, not {given}"))),
        }
    }

    /// A document at a place; an empty one if nothing was given.
    fn document(&self, place: usize, what: &str) -> Result<Document> {
        match self.argument(place) {
            None | Some(Bson::Null) => Ok(Document::new()),
            Some(Bson::Document(document)) => Ok(document.clone()),
            Some(_) => Err(self.wrong(what)),
        }
    }

    /// A document that has to be given.
    fn required(&self, place: usize, what: &str) -> Result<Document> {
        match self.argument(place) {
            Some(Bson::Document(document)) => Ok(document.clone()),
            _ => Err(self.wrong(what)),
        }
    }

    fn options(&self, place: usize) -> Result<Options<'a>> {
        Options::of(self.method, self.argument(place))
    }

    /// A command that says only the collection and some options.
    fn plain(&self, command: &str, names: &[&str], shape: Shape) -> Result<Run> {
        self.at_most(1)?;
        let (mut command, mut options) = (doc! { command: self.collection }, self.options(0)?);
        options.move_to(&mut command, names);
        options.done()?;
        Ok(Run::of(command, shape))
    }

    fn find(&self, shape: Shape) -> Result<Run> {
        self.at_most(3)?;
        let filter = self.document(0, "a filter, a projection and options, all of them documents")?;
        let projection = self.document(1, "a projection as its second argument, as in { text: 1 }")?;
        let mut command = doc! { "find": self.collection, "filter": filter };
        if !projection.is_empty() {
            command.insert("projection", projection);
        }
        let mut options = self.options(2)?;
        let names = [
            "projection",
            "sort",
            "limit",
            "skip",
            "hint",
            "comment",
            "maxTimeMS",
            "batchSize",
            "collation",
            "let",
            "min",
            "max",
        ];
        options.move_to(&mut command, &names);
        options.done()?;
        if shape == Shape::One {
            command.insert("limit", 1);
            command.insert("singleBatch", true);
        }
        Ok(Run::of(command, shape))
    }

    fn count_documents(&self) -> Result<Run> {
        self.at_most(2)?;
        let mut pipeline = vec![doc! { "$match": self.document(0, "a filter, which is a document")? }];
        let mut options = self.options(1)?;
        for (name, stage) in [("skip", "$skip"), ("limit", "$limit")] {
            pipeline.extend(options.take(name).map(|number| doc! { stage: number }));
        }
        pipeline.push(doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } });
        let mut command = doc! { "aggregate": self.collection, "pipeline": pipeline, "cursor": {} };
        options.move_to(&mut command, &["hint", "comment", "maxTimeMS", "collation"]);
        options.done()?;
        Ok(Run::of(command, Shape::Counted))
    }

    fn count(&self) -> Result<Run> {
        self.at_most(2)?;
        let mut command =
            doc! { "count": self.collection, "query": self.document(0, "a filter, which is a document")? };
        let mut options = self.options(1)?;
        options.move_to(
            &mut command,
            &["limit", "skip", "hint", "comment", "maxTimeMS", "collation"],
        );
        options.done()?;
        Ok(Run::of(command, Shape::Field("n")))
    }

    fn distinct(&self) -> Result<Run> {
        self.at_most(3)?;
        let Some(Bson::String(key)) = self.argument(0) else {
            return Err(self.wrong("the name of a field, as in distinct(\"author\")"));
        };
        let query = self.document(1, "a filter as its second argument, which is a document")?;
        let mut command = doc! { "distinct": self.collection, "key": key, "query": query };
        let mut options = self.options(2)?;
        options.move_to(&mut command, &["hint", "comment", "maxTimeMS", "collation"]);
        options.done()?;
        Ok(Run::of(command, Shape::Field("values")))
    }

    /// The stages as an array, or one after the other.
    fn aggregate(&self) -> Result<Run> {
        let (pipeline, options) = match self.arguments {
            [] => (Vec::new(), None),
            [Bson::Array(pipeline)] => (pipeline.clone(), None),
            [Bson::Array(pipeline), options] => (pipeline.clone(), Some(options)),
            stages => (stages.to_vec(), None),
        };
        if pipeline.iter().any(|stage| stage.as_document().is_none()) {
            return Err(self.wrong("an array of stages, as in aggregate([{ $match: {} }])"));
        }
        let mut command = doc! { "aggregate": self.collection, "pipeline": pipeline, "cursor": {} };
        let mut options = Options::of(self.method, options)?;
        if let Some(size) = options.take("batchSize") {
            command.insert("cursor", doc! { "batchSize": size });
        }
        options.move_to(
            &mut command,
            &["hint", "comment", "maxTimeMS", "collation", "let", "allowDiskUse"],
        );
        options.done()?;
        Ok(Run::of(command, Shape::Cursor))
    }

    fn insert(&self) -> Result<Run> {
        self.at_most(2)?;
        let one = self.method == "insertOne";
        let given = match (self.argument(0), one) {
            (Some(Bson::Document(document)), true) => vec![document.clone()],
            (Some(Bson::Array(documents)), false) if !documents.is_empty() => {
                let documents: Option<Vec<Document>> =
                    documents.iter().map(|one| one.as_document().cloned()).collect();
                documents.ok_or_else(|| self.wrong("an array of documents"))?
            }
            (_, true) => return Err(self.wrong("a document, as in insertOne({ text: \"Hello\" })")),
            (_, false) => return Err(self.wrong("an array of at least one document")),
        };
        let documents: Vec<Document> = given.into_iter().map(with_id).collect();
        let ids: Vec<Bson> = documents
            .iter()
            .filter_map(|document| document.get("_id").cloned())
            .collect();
        let mut options = self.options(1)?;
        let mut command = doc! { "insert": self.collection, "documents": documents };
        if !one {
            command.insert("ordered", options.flag("ordered")?.unwrap_or(true));
        }
        options.move_to(
            &mut command,
            &["comment", "writeConcern", "bypassDocumentValidation"],
        );
        options.done()?;
        let shape = match ids.first() {
            Some(id) if one => Shape::Inserted(id.clone()),
            _ => Shape::AllInserted(ids),
        };
        Ok(Run::of(command, shape))
    }

    /// A change as its second argument: a document, or a pipeline unless it replaces.
    fn change(&self, replaces: bool) -> Result<Bson> {
        let change = match self.argument(1) {
            Some(Bson::Document(change)) => change,
            Some(Bson::Array(pipeline)) if !replaces => return Ok(Bson::Array(pipeline.clone())),
            _ if replaces => return Err(self.wrong("a filter and the new document")),
            _ => return Err(self.wrong("a filter and a change, as in { $set: { text: \"Hello\" } }")),
        };
        let operators = change.keys().filter(|name| name.starts_with('$')).count();
        if replaces && operators > 0 {
            return Err(Error::argument(
                "Replacement document must not contain atomic operators. Use updateOne for `$set` and the like.",
            ));
        }
        if !replaces && operators < change.len().max(1) {
            return Err(Error::argument(
                "Update document requires atomic operators. Write { $set: { … } }, or use replaceOne for a whole document.",
            ));
        }
        Ok(Bson::Document(change.clone()))
    }

    fn update(&self) -> Result<Run> {
        self.at_most(3)?;
        let filter = self.required(0, "a filter, which is a document, as its first argument")?;
        let change = self.change(self.method == "replaceOne")?;
        let mut options = self.options(2)?;
        let mut update = doc! { "q": filter, "u": change, "multi": self.method == "updateMany" };
        if let Some(upsert) = options.flag("upsert")? {
            update.insert("upsert", upsert);
        }
        options.move_to(&mut update, &["arrayFilters", "hint", "collation"]);
        let mut command = doc! { "update": self.collection, "updates": [update] };
        options.move_to(
            &mut command,
            &["let", "comment", "writeConcern", "bypassDocumentValidation"],
        );
        options.done()?;
        Ok(Run::of(command, Shape::Updated))
    }

    fn delete(&self) -> Result<Run> {
        self.at_most(2)?;
        let filter = self.required(0, "a filter, which is a document; {} deletes any")?;
        let mut options = self.options(1)?;
        let limit = i32::from(self.method == "deleteOne");
        let mut delete = doc! { "q": filter, "limit": limit };
        options.move_to(&mut delete, &["hint", "collation"]);
        let mut command = doc! { "delete": self.collection, "deletes": [delete] };
        options.move_to(&mut command, &["let", "comment", "writeConcern"]);
        options.done()?;
        Ok(Run::of(command, Shape::Deleted))
    }

    fn find_and_modify(&self) -> Result<Run> {
        let removes = self.method == "findOneAndDelete";
        self.at_most(if removes { 2 } else { 3 })?;
        let filter = self.required(0, "a filter, which is a document, as its first argument")?;
        let mut command = doc! { "findAndModify": self.collection, "query": filter };
        let mut options = self.options(if removes { 1 } else { 2 })?;
        if removes {
            command.insert("remove", true);
        } else {
            command.insert("update", self.change(self.method == "findOneAndReplace")?);
            let new = match options.take("returnDocument") {
                None => options.flag("returnNewDocument")?.unwrap_or(false),
                Some(Bson::String(which)) if ["before", "after"].contains(&which.as_str()) => {
                    which == "after"
                }
                Some(_) => {
                    return Err(Error::argument(
                        "The option `returnDocument` is \"before\" or \"after\".",
                    ));
                }
            };
            command.insert("new", new);
            command.insert("upsert", options.flag("upsert")?.unwrap_or(false));
        }
        if let Some(fields) = options.take("projection") {
            command.insert("fields", fields);
        }
        options.move_to(
            &mut command,
            &[
                "sort",
                "arrayFilters",
                "hint",
                "collation",
                "let",
                "comment",
                "maxTimeMS",
            ],
        );
        options.done()?;
        Ok(Run::of(command, Shape::Field("value")))
    }

    fn create_indexes(&self) -> Result<Run> {
        self.at_most(2)?;
        let what = "the fields of an index, as in createIndex({ author: 1, at: -1 })";
        let keys = match (self.argument(0), self.method) {
            (Some(Bson::Document(key)), "createIndex") => vec![key.clone()],
            (Some(Bson::Array(keys)), "createIndexes") => {
                let keys: Option<Vec<Document>> = keys.iter().map(|key| key.as_document().cloned()).collect();
                keys.ok_or_else(|| self.wrong("an array of documents, each with the fields of an index"))?
            }
            _ => return Err(self.wrong(what)),
        };
        let options = match self.argument(1) {
            None | Some(Bson::Null) => Document::new(),
            Some(Bson::Document(options)) => options.clone(),
            Some(_) => return Err(self.wrong(what)),
        };
        let indexes: Vec<Document> = keys.into_iter().map(|key| named_index(key, &options)).collect();
        let names = indexes
            .iter()
            .filter_map(|index| index.get_str("name").ok().map(str::to_owned))
            .collect();
        Ok(Run::of(
            doc! { "createIndexes": self.collection, "indexes": indexes },
            Shape::Indexed(names),
        ))
    }
}

/// A document with an `_id`, which comes first.
fn with_id(document: Document) -> Document {
    if document.contains_key("_id") {
        return document;
    }
    let mut with_id = doc! { "_id": ObjectId::new() };
    with_id.extend(document);
    with_id
}

/// An index with the name that drivers give it, unless the options have one.
fn named_index(key: Document, options: &Document) -> Document {
    let parts = key.iter().map(|(field, kind)| match kind {
        Bson::String(kind) => format!("{field}_{kind}"),
        kind => format!("{field}_{kind}"),
    });
    let name = parts.collect::<Vec<_>>().join("_");
    let mut index = doc! { "key": key, "name": name };
    index.extend(options.clone());
    index
}
