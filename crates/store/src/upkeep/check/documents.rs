//! What an owner document has besides its lists.

use bson::{Bson, Document};
use model::{DisplayName, Handle, PostText};

use super::bytes_of;
use crate::people;
use crate::upkeep::check::audit::MOST_BYTES;
use crate::upkeep::finding::Violation;

/// What is wrong with an owner document apart from its lists.
pub(super) fn faults(collection: &str, owner: &Document) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut need = |field: &str, fits: bool| {
        if !fits {
            let what = format!("`{field}` is missing or not what it should be");
            found.push(Violation::Malformed { what });
        }
    };
    let text = |field: &str| owner.get_str(field).unwrap_or_default();
    need("at", matches!(owner.get("at"), Some(Bson::DateTime(_))));
    if collection == people::COLLECTION {
        need("name", text("name").parse::<DisplayName>().is_ok());
    } else {
        need("author", text("author").parse::<Handle>().is_ok());
        need("text", text("text").parse::<PostText>().is_ok());
    }
    if let Some(bytes) = bytes_of(owner) {
        let percent = bytes * 100 / MOST_BYTES;
        if percent >= 80 {
            let what = "the owner document".to_owned();
            found.push(Violation::NearLimit { what, bytes, percent });
        }
    }
    found
}
