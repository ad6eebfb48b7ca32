//! The refusals that follow from an operation's nature: it has a body, changes something, or needs a session. Most
//! of them come from the layers before the routes and from the extractors, so they are described here once and not
//! by every handler.

use std::time::Duration;

use model::{Kind, Problem};
use serde_json::{Value, json};
use web::ErrorResponse;

use crate::PREFIX;

/// One of them, in the form of the description.
struct DescribedError {
    status: u16,
    name: &'static str,
    words: &'static str,
    example: ErrorResponse,
}

#[rustfmt::skip]
fn all() -> Vec<DescribedError> {
    let of = |kind, message: &str| ErrorResponse::from(Problem::new(kind, message));
    let rows = [
        (400, "Malformed", "The body is not JSON or is incomplete.", ErrorResponse::malformed("EOF while parsing an object at line 1 column 1.")),
        (401, "NotSignedIn", "Nobody is signed in, or the password is wrong.", of(Kind::NotSignedIn, "Sign in first, then try again.")),
        (403, "Forbidden", "It belongs to somebody else, another site made the browser send it, or it came over plain HTTP from another machine.", of(Kind::Forbidden, "Only the author can delete a post.")),
        (404, "NotFound", "What the path names does not exist or was deleted.", of(Kind::NotFound, "There is no such post. It may have been deleted.")),
        (408, "TooSlow", "The body did not arrive within 20 seconds.", ErrorResponse::too_slow()),
        (413, "TooLarge", "The body has more than 64 KB.", ErrorResponse::too_large()),
        (415, "UnsupportedMediaType", "The body is not declared as `application/json`.", ErrorResponse::unsupported_media_type("application/json")),
        (422, "Invalid", "A field or parameter has to be corrected; `field` names it.", Problem::invalid("text", "A post is empty: write something first.").into()),
        (429, "TooMany", "Too many requests in a short time.", ErrorResponse::too_many(Duration::from_secs(3))),
        (500, "Internal", "An error of the server.", of(Kind::Internal, "Something went wrong on our side.")),
        (503, "Unavailable", "The store does not answer right now. The change may have been made all the same; send it again.", of(Kind::Unavailable, "The store does not answer right now. Try again in a moment.")),
    ];
    rows.into_iter()
        .map(|(status, name, words, example)| DescribedError { status, name, words, example })
        .collect()
}

/// Adds these refusals to the operations that give them and do not describe them themselves.
pub fn add_to(description: &mut Value) {
    for refused in all() {
        let (status, name) = (refused.status.to_string(), refused.name);
        description["components"]["responses"][name] = refused.described();
        for (path, method, operation) in operations(description) {
            if path.starts_with(PREFIX)
                && may_refuse(refused.status, &path, &method, operation)
                && operation["responses"].get(&status).is_none()
            {
                operation["responses"][&status] = json!({ "$ref": format!("#/components/responses/{name}") });
            }
        }
    }
}

fn may_refuse(status: u16, path: &str, method: &str, operation: &Value) -> bool {
    let changes = method != "get";
    let has_body = operation.get("requestBody").is_some();
    let has_query = || {
        let parameters = operation["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|parameter| parameter["in"] == "query"))
    };
    match status {
        400 | 408 => has_body,
        401 => operation.get("security").is_some(),
        404 => path.contains('{'),
        422 => has_body || has_query(),
        429 | 500 | 503 => operation["tags"][0] != "Server",
        _ => changes,
    }
}

impl DescribedError {
    fn described(&self) -> Value {
        let mut response = json!({
            "description": self.words,
            "content": { "application/problem+json": {
                "schema": { "$ref": "#/components/schemas/Problem" },
                "example": self.example.clone().into_body(),
            } }
        });
        if [429, 503].contains(&self.status) {
            response["headers"]["retry-after"] = json!({
                "description": "In how many seconds to try again.",
                "required": true,
                "schema": { "type": "integer", "minimum": 0 },
            });
        }
        response
    }
}

/// Every operation, with its path and method.
pub fn operations(description: &mut Value) -> impl Iterator<Item = (String, String, &mut Value)> {
    let paths = description["paths"].as_object_mut().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let item = item.as_object_mut().into_iter().flatten();
        item.map(move |(method, operation)| (path.clone(), method.clone(), operation))
    })
}
