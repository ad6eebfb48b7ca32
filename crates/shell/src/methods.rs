//! A method of a collection, as the command that a driver sends for it.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};

use crate::call::Call;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::refusals;
use crate::run::{Run, Shape};

/// The methods of a collection.
pub const METHODS: [&str; 28] = [
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
    "findAndModify",
    "createIndex",
    "createIndexes",
    "getIndexes",
    "stats",
    "dataSize",
    "storageSize",
    "totalIndexSize",
    "validate",
    "drop",
    "explain",
];

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
        "findAndModify" => call.command(),
        "createIndex" | "createIndexes" => call.create_indexes(),
        "getIndexes" => call.plain("listIndexes", &[], Shape::Array),
        "stats" => call.plain("collStats", &["scale"], Shape::Answer),
        "validate" => call.plain("validate", &["full"], Shape::Answer),
        "drop" => call.plain("drop", &[], Shape::Dropped),
        "dataSize" => call.plain("collStats", &[], Shape::Field("size")),
        "storageSize" => call.plain("collStats", &[], Shape::Field("storageSize")),
        "totalIndexSize" => call.plain("collStats", &[], Shape::Field("totalIndexSize")),
        _ => Err(refusals::method(at, collection, method)),
    }
}

impl Call<'_> {
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
        let filter = match self.argument(0) {
            Some(Bson::ObjectId(id)) => doc! { "_id": id },
            None | Some(Bson::Null | Bson::Document(_)) => self.document(0, "a filter")?,
            Some(_) => {
                return Err(Error::of_driver(
                    "Query filter must be a plain object or ObjectId",
                ));
            }
        };
        let projection = self.document(1, "a projection as its second argument, as in { text: 1 }")?;
        let mut command = doc! { "find": self.collection, "filter": filter };
        if !projection.is_empty() {
            command.insert("projection", projection);
        }
        let mut options = self.options(2)?;
        options.move_order_to(&mut command)?;
        let names = [
            "projection",
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
            return Err(self.wrong_at(0, "the name of a field, as in distinct(\"author\")"));
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
            (Some(Bson::Array(_)), false) => {
                return Err(Error::of_driver("Invalid BulkOperation, Batch cannot be empty"));
            }
            (_, true) => return Err(self.wrong_at(0, "a document, as in insertOne({ text: \"Hello\" })")),
            (_, false) => return Err(self.wrong_at(0, "an array of at least one document")),
        };
        let documents: Vec<Document> = given.into_iter().map(with_id).collect();
        let mut options = self.options(1)?;
        let mut command = doc! { "insert": self.collection, "documents": &documents };
        let ordered = if one {
            true
        } else {
            let ordered = options.flag("ordered")?.unwrap_or(true);
            command.insert("ordered", ordered);
            ordered
        };
        options.move_to(
            &mut command,
            &["comment", "writeConcern", "bypassDocumentValidation"],
        );
        options.done()?;
        let shape = match documents.first().and_then(|document| document.get("_id")) {
            Some(id) if one => Shape::Inserted(id.clone()),
            _ => Shape::AllInserted { documents, ordered },
        };
        Ok(written(command, shape))
    }

    /// A change as its second argument: a document, or a pipeline unless it replaces.
    fn change(&self, replaces: bool) -> Result<Bson> {
        let no_operators = || {
            Error::of_driver(
                "Update document requires atomic operators. Write { $set: { … } }, or use replaceOne for a whole document.",
            )
        };
        let change = match self.argument(1) {
            Some(Bson::Document(change)) => change,
            Some(Bson::Array(pipeline)) if !replaces && pipeline.is_empty() => return Err(no_operators()),
            Some(Bson::Array(pipeline)) if !replaces => return Ok(Bson::Array(pipeline.clone())),
            _ if replaces => return Err(self.wrong_at(1, "a filter and the new document")),
            _ => return Err(self.wrong_at(1, "a filter and a change, as in { $set: { text: \"Hello\" } }")),
        };
        if replaces && change.keys().next().is_some_and(|name| name.starts_with('$')) {
            return Err(Error::of_driver(
                "Replacement document must not contain atomic operators. Use updateOne for `$set` and the like.",
            ));
        }
        // As the driver, which looks at the first name only. The server refuses the rest.
        if !replaces && !change.keys().next().is_some_and(|name| name.starts_with('$')) {
            return Err(no_operators());
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
        Ok(written(command, Shape::Updated))
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
        Ok(written(command, Shape::Deleted))
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
        options.move_order_to(&mut command)?;
        options.move_to(
            &mut command,
            &["arrayFilters", "hint", "collation", "let", "comment", "maxTimeMS"],
        );
        options.done()?;
        Ok(Run::of(command, Shape::Field("value")))
    }

    /// `findAndModify({ query, update, … })`: the argument has the fields of the command.
    fn command(&self) -> Result<Run> {
        self.at_most(1)?;
        let mut command = doc! { self.method: self.collection };
        command.extend(self.required(0, "a document with `query`, and with `update` or `remove`")?);
        if !command.contains_key("query") {
            return Err(Error::argument(
                "[COMMON-10001] Missing required property: \"query\"",
            ));
        }
        if !command.contains_key("update") && !command.contains_key("remove") {
            return Err(Error::argument(
                "[COMMON-10001] Must specify options.update or options.remove",
            ));
        }
        Ok(Run::of(command, Shape::Field("value")))
    }
}

/// A write. With `{ w: 0 }` the shell does not wait for its answer.
fn written(command: Document, shape: Shape) -> Run {
    let concern = command.get_document("writeConcern").ok();
    let waits_for = concern.and_then(|concern| concern.get("w"));
    let is_acknowledged = !matches!(waits_for, Some(Bson::Int32(0) | Bson::Int64(0)));
    let shape = if is_acknowledged {
        shape
    } else {
        Shape::Unacknowledged(Box::new(shape))
    };
    Run::of(command, shape)
}

/// A document with an `_id`, which comes first. Drivers make one for null, too.
fn with_id(mut document: Document) -> Document {
    match document.get("_id") {
        Some(Bson::Null) => _ = document.remove("_id"),
        Some(_) => return document,
        None => {}
    }
    let mut with_id = doc! { "_id": ObjectId::new() };
    with_id.extend(document);
    with_id
}
