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
            (_, true) => return Err(self.wrong_at(0, "a document, as in insertOne({ text: \"Hello\" })")),
            (_, false) => return Err(self.wrong_at(0, "an array of at least one document")),
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
        let operators = change.keys().filter(|name| name.starts_with('$')).count();
        if replaces && operators > 0 {
            return Err(Error::of_driver(
                "Replacement document must not contain atomic operators. Use updateOne for `$set` and the like.",
            ));
        }
        if !replaces && operators < change.len().max(1) {
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

    /// `findAndModify({ query, update, … })`: the argument has the fields of the command.
    fn command(&self) -> Result<Run> {
        self.at_most(1)?;
        let mut command = doc! { self.method: self.collection };
        command.extend(self.required(0, "a document with `query`, and with `update` or `remove`")?);
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
            .filter_map(|index| index.get_str("name").ok().map(str::to_owned));
        let shape = match self.method {
            "createIndex" => Shape::Indexed(names.collect()),
            _ => Shape::AllIndexed(names.collect()),
        };
        Ok(Run::of(
            doc! { "createIndexes": self.collection, "indexes": indexes },
            shape,
        ))
    }
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
