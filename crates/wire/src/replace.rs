//! Replacing a whole document, for which the port has no operation: a pipeline that computes a constant.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use document::Change;
use document::identity::names_id;

use crate::fault::{CommandError, Outcome};

/// A change that removes everything from a document except its `_id`. If an upsert inserts it, it gets an `_id` if the
/// filter and the replacement have none.
pub(crate) fn with(filter: &Document, replacement: Document, upsert: bool) -> Outcome<Change> {
    if let Some(name) = replacement.keys().find(|name| name.starts_with('$')) {
        let message = format!(
            "The dollar ($) prefixed field '{name}' in '{name}' is not allowed in the context of an update's \
             replacement document. Consider using an aggregation pipeline with $replaceWith."
        );
        return Err(CommandError::new(52, message));
    }
    let anonymous =
        upsert && !replacement.contains_key("_id") && !names_id(filter, &Change::Operators(Document::new()));
    let literal = doc! { "$literal": replacement };
    let new: Bson = if anonymous {
        let id = doc! { "_id": { "$ifNull": ["$_id", ObjectId::new()] } };
        doc! { "$mergeObjects": [id, literal] }.into()
    } else {
        literal.into()
    };
    Ok(Change::Pipeline(vec![doc! { "$replaceWith": new }]))
}
