//! An answer of the server as the shell shows it.

use bson::{Bson, Document, doc};

use crate::printed::printed;
use crate::run::Shape;

/// What the shell shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A value.
    Value(Bson),
    /// Documents of a cursor.
    Documents {
        /// The documents.
        documents: Vec<Document>,
        /// Whether the cursor has more.
        more: bool,
    },
    /// Lines of text.
    Lines(Vec<String>),
    /// An error that the server answered with.
    Failed {
        /// The name of the driver's error, `MongoServerError` or that of a bulk write, and in brackets the server's, if
        /// it has one.
        kind: String,
        /// What is wrong.
        message: String,
    },
}

/// How an answer is shown.
pub fn show(answer: &Document, shape: &Shape) -> Shown {
    if let Shape::Unacknowledged(shape) = shape {
        return unacknowledged(shape);
    }
    if let Some(mut failed) = failed(answer, shape) {
        if let (Shown::Failed { kind, message }, Shape::AllInserted { documents, ordered }) =
            (&mut failed, shape)
        {
            "MongoBulkWriteError".clone_into(kind);
            message.push_str(&bulk_result(answer, documents, *ordered));
        }
        return failed;
    }
    let first = || batch(answer).and_then(|documents| documents.into_iter().next());
    match shape {
        Shape::Cursor => Shown::Documents {
            documents: batch(answer).unwrap_or_default(),
            more: answer
                .get_document("cursor")
                .is_ok_and(|cursor| cursor.get_i64("id").is_ok_and(|id| id != 0)),
        },
        Shape::Array => Shown::Value(Bson::Array(
            batch(answer)
                .unwrap_or_default()
                .into_iter()
                .map(Bson::Document)
                .collect(),
        )),
        Shape::One => Shown::Value(first().map_or(Bson::Null, Bson::Document)),
        Shape::Any => Shown::Value(first().is_some().into()),
        Shape::Field(name) => Shown::Value(answer.get(name).cloned().unwrap_or(Bson::Null)),
        Shape::Counted => Shown::Value(
            first()
                .and_then(|group| group.get("n").cloned())
                .unwrap_or(Bson::Int32(0)),
        ),
        Shape::Inserted(id) => value(doc! { "acknowledged": true, "insertedId": id }),
        Shape::AllInserted { documents, .. } => {
            value(doc! { "acknowledged": true, "insertedIds": ids(documents.iter().enumerate()) })
        }
        Shape::Updated => updated(answer),
        Shape::Deleted => value(doc! { "acknowledged": true, "deletedCount": number(answer, "n") }),
        Shape::Indexed(name) => Shown::Value(name.as_str().into()),
        Shape::AllIndexed(names) => Shown::Value(names.clone().into()),
        Shape::Dropped => Shown::Value(Bson::Boolean(true)),
        Shape::Names => Shown::Lines(names(answer)),
        Shape::NameArray => Shown::Value(names(answer).into()),
        Shape::Databases => Shown::Lines(databases(answer)),
        Shape::Answer | Shape::Unacknowledged(_) => Shown::Value(Bson::Document(answer.clone())),
    }
}

/// What a driver knows of a write that a server is not to answer.
fn unacknowledged(shape: &Shape) -> Shown {
    let mut known = match show(&doc! { "ok": 1.0 }, shape) {
        Shown::Value(Bson::Document(known)) => known,
        other => return other,
    };
    known.insert("acknowledged", false);
    Shown::Value(Bson::Document(known))
}

/// The ids of documents, by their places.
fn ids<'a>(documents: impl Iterator<Item = (usize, &'a Document)>) -> Document {
    let id = |document: &Document| document.get("_id").cloned().unwrap_or(Bson::Null);
    documents
        .map(|(place, document)| (place.to_string(), id(document)))
        .collect()
}

/// What follows the message of an insert of several documents, of which some were refused.
fn bulk_result(answer: &Document, documents: &[Document], ordered: bool) -> String {
    let errors = answer.get_array("writeErrors").into_iter().flatten();
    let errors: Vec<(usize, &Document)> = errors
        .filter_map(|error| {
            let error = error.as_document()?;
            Some((usize::try_from(error.get_i32("index").ok()?).ok()?, error))
        })
        .collect();
    let is_refused = |place: usize| {
        let mut refused = errors.iter().map(|(refused, _)| *refused);
        refused.any(|refused| refused == place || (ordered && refused < place))
    };
    let inserted = documents
        .iter()
        .enumerate()
        .filter(|(place, _)| !is_refused(*place));
    let result = doc! {
        "insertedCount": number(answer, "n"), "matchedCount": 0, "modifiedCount": 0, "deletedCount": 0,
        "upsertedCount": 0, "upsertedIds": {}, "insertedIds": ids(inserted),
    };
    let errors = errors.iter().map(|(place, error)| {
        Bson::Document(doc! { "err": {
            "index": number(error, "index"), "code": number(error, "code"), "errmsg": number(error, "errmsg"),
            "errInfo": Bson::Undefined, "op": documents.get(*place).cloned(),
        } })
    });
    // Both are objects of the driver's classes, which are printed with their names.
    format!(
        "\nResult: BulkWriteResult {}\nWrite Errors: {}",
        printed(&Bson::Document(result)),
        printed(&Bson::Array(errors.collect())).replace("\n  {\n", "\n  WriteError {\n")
    )
}

fn value(document: Document) -> Shown {
    Shown::Value(Bson::Document(document))
}

/// The error in an answer. A whole answer is shown with the errors of its writes in it.
fn failed(answer: &Document, shape: &Shape) -> Option<Shown> {
    let writes = answer.get_array("writeErrors").ok();
    let write = writes
        .filter(|_| *shape != Shape::Answer)
        .and_then(|errors| errors.first()?.as_document());
    let is_ok = answer
        .get("ok")
        .is_some_and(|ok| matches!(ok, Bson::Double(1.0) | Bson::Int32(1)));
    let error = match write {
        Some(error) => error,
        None if is_ok => return None,
        None => answer,
    };
    Some(Shown::Failed {
        kind: match error.get_str("codeName") {
            Ok(name) => format!("MongoServerError[{name}]"),
            Err(_) => "MongoServerError".to_owned(),
        },
        message: error.get_str("errmsg").unwrap_or("the command failed").to_owned(),
    })
}

fn batch(answer: &Document) -> Option<Vec<Document>> {
    let cursor = answer.get_document("cursor").ok()?;
    let batch = cursor
        .get_array("firstBatch")
        .or_else(|_| cursor.get_array("nextBatch"))
        .ok()?;
    Some(
        batch
            .iter()
            .filter_map(|document| document.as_document().cloned())
            .collect(),
    )
}

fn number(answer: &Document, name: &str) -> Bson {
    answer.get(name).cloned().unwrap_or(Bson::Int32(0))
}

fn updated(answer: &Document) -> Shown {
    let upserted = answer
        .get_array("upserted")
        .ok()
        .and_then(|upserted| upserted.first()?.as_document());
    let id = upserted.and_then(|upserted| upserted.get("_id").cloned());
    let inserted = i32::from(id.is_some());
    let matched = match answer.get("n") {
        Some(Bson::Int32(matched)) => Bson::Int32(matched - inserted),
        other => other.cloned().unwrap_or(Bson::Int32(0)),
    };
    value(doc! {
        "acknowledged": true, "insertedId": id.unwrap_or(Bson::Null), "matchedCount": matched,
        "modifiedCount": number(answer, "nModified"), "upsertedCount": inserted,
    })
}

fn names(answer: &Document) -> Vec<String> {
    let collections = batch(answer).unwrap_or_default().into_iter();
    let mut names: Vec<String> = collections
        .filter_map(|collection| collection.get_str("name").ok().map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// Names to the left and sizes to the right.
fn databases(answer: &Document) -> Vec<String> {
    let databases = answer.get_array("databases").into_iter().flatten();
    let databases: Vec<(&str, String)> = databases
        .filter_map(|database| {
            let database = database.as_document()?;
            Some((
                database.get_str("name").ok()?,
                size(database.get_i64("sizeOnDisk").ok()?),
            ))
        })
        .collect();
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let name = longest(&mut databases.iter().map(|(name, _)| name.chars().count()));
    let size = longest(&mut databases.iter().map(|(_, size)| size.len()));
    databases
        .iter()
        .map(|(database, bytes)| format!("{database:name$}  {bytes:>size$}"))
        .collect()
}

/// A number of bytes as the shell shows it.
fn size(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits after the point are shown")]
    let bytes = bytes as f64;
    for (unit, in_bytes) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        let size = bytes / f64::from(in_bytes);
        if size >= 1.0 {
            return format!("{size:.2} {unit}");
        }
    }
    format!("{bytes} B")
}
