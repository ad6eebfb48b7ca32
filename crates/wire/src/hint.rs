//! Hints: the index that a command should use. The planner chooses by itself, so a hint changes no answer; a hint for
//! a missing index is refused, because its sender relies on that index.

use bson::{Bson, Document};

use crate::arguments::{Arguments, whole};
use crate::fault::{BAD_VALUE, CommandError, FAILED_TO_PARSE, Outcome};
use crate::server::Server;

/// Takes the hint out of a command on a collection and checks it, if the command is for the database that exists.
pub(crate) async fn check(
    server: &Server,
    holds: bool,
    collection: &str,
    arguments: &mut Arguments,
) -> Outcome<()> {
    let Some(hint) = arguments.take("hint").filter(|_| holds) else {
        return Ok(());
    };
    let names = |index: &Document| match &hint {
        Bson::String(name) => index.get_str("name").is_ok_and(|own| own == name),
        Bson::Document(keys) => index.get_document("key").is_ok_and(|own| same(own, keys)),
        _ => false,
    };
    match &hint {
        Bson::Document(keys) if keys.is_empty() => return Ok(()),
        Bson::Document(keys) if keys.contains_key("$natural") => {
            return match keys.get("$natural").and_then(whole) {
                Some(1) => Ok(()),
                _ => Err(CommandError::new(
                    BAD_VALUE,
                    "the hint '$natural' can only be 1 on this server",
                )),
            };
        }
        Bson::String(_) | Bson::Document(_) => {}
        _ => {
            return Err(CommandError::new(
                FAILED_TO_PARSE,
                "Hint must be a string or an object",
            ));
        }
    }
    let collections = server.catalogue.collections().await?;
    if !collections.iter().any(|name| name == collection)
        || server.catalogue.indexes(collection).await?.iter().any(names)
    {
        return Ok(());
    }
    let message = format!("hint provided does not correspond to an existing index: {hint}");
    Err(CommandError::new(BAD_VALUE, message))
}

/// Whether two documents have the same fields and directions, in numbers of any type.
fn same(own: &Document, asked: &Document) -> bool {
    own.len() == asked.len()
        && own
            .iter()
            .zip(asked)
            .all(|((name, own), (other, asked))| name == other && whole(own) == whole(asked))
}
