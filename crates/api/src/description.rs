//! The description of the API in OpenAPI 3.1, gathered from the handlers and the types that they take and answer.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::Version;

use crate::{Api, PREFIX, refusals};

/// An example of everything that is sent and answered: one evening by the river.
const EXAMPLES: &str = include_str!("examples.json");

/// The description as it is served, printed and shown.
pub struct Description {
    /// As JSON, formatted for reading.
    pub text: String,
    /// The same as a value, for lookups.
    pub value: Value,
    version: Version,
}

impl Description {
    /// Describes these routes below `/api/v1` and the server's others, with more examples for their schemas, as JSON.
    pub fn of(routes: OpenApiRouter<Api>, others: utoipa::openapi::OpenApi, more_examples: &str) -> Self {
        let value = described(routes, others, more_examples);
        let text = format!("{value:#}\n");
        Self {
            version: Version::of(&text),
            text,
            value,
        }
    }
}

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(show))
}

/// This description
///
/// It may be kept for five minutes, and asked for again with `If-None-Match`.
#[utoipa::path(get, path = "/openapi.json", tag = "Server", operation_id = "getDescription",
    responses(
        (status = 200, description = "OpenAPI 3.1.", body = Object, headers(
            ("etag" = String, description = "Changes with the description.")
        )),
        (status = 304, description = "It has not changed since the `ETag` in the request.")
    )
)]
async fn show(State(description): State<&'static Description>, headers: HeaderMap) -> Response {
    let Description { text, version, .. } = description;
    version.answer(&headers, "application/json", text.as_str())
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Spillway", description = include_str!("description.md"), license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    servers((url = "/", description = "The server that answers this.")),
    tags(
        (name = "Accounts", description = "Signing up, in and out, and changing the settings."),
        (name = "Posts", description = "Writing, reading and deleting posts, and the lists of posts."),
        (name = "Comments", description = "Comments on posts."),
        (name = "Reactions", description = "Likes and shares of posts."),
        (name = "Bookmarks", description = "Posts that a person keeps for themselves."),
        (name = "Notifications", description = "What a person is notified of."),
        (name = "People", description = "Profiles, follows and activities."),
        (name = "Mutes and blocks", description = "People whose posts a person does not see, posts that they hide, and what they report."),
        (name = "Search", description = "Finding posts and people by words."),
        (name = "Storage", description = "How lists are divided into a head and pages."),
        (name = "Workshop", description = "The measurements of the workshop’s stations, on their own lists."),
        (name = "Live", description = "Live updates."),
        (name = "Server", description = "About the server itself.")
    )
)]
struct Head;

fn described(routes: OpenApiRouter<Api>, others: utoipa::openapi::OpenApi, more_examples: &str) -> Value {
    let routes = OpenApiRouter::default().nest(PREFIX, routes).into_openapi();
    let openapi = Head::openapi().merge_from(routes).merge_from(others);
    let mut value = serde_json::to_value(openapi).unwrap_or_default();
    name_items(&mut value);
    name_both_cookies(&mut value);
    refusals::add_to(&mut value);
    add_examples(&mut value, EXAMPLES);
    add_examples(&mut value, more_examples);
    drop_unused_groups(&mut value);
    value
}

/// Gives schemas their examples, by their names. A text in place of an example points to a part of another one.
fn add_examples(description: &mut Value, examples: &str) {
    let examples: Value = serde_json::from_str(examples).unwrap_or_default();
    for (name, example) in examples.as_object().into_iter().flatten() {
        let part = example.as_str().and_then(|place| examples.pointer(place));
        description["components"]["schemas"][name]["examples"] = json!([part.unwrap_or(example)]);
    }
}

/// Leaves out the groups without operations: that of the workshop, where the server has none.
fn drop_unused_groups(description: &mut Value) {
    let used: Vec<Value> = refusals::operations(description)
        .map(|(_, _, operation)| operation["tags"][0].clone())
        .collect();
    if let Some(groups) = description["tags"].as_array_mut() {
        groups.retain(|group| used.contains(&group["name"]));
    }
}

/// utoipa spells out what a listing holds; our name is shorter, and shows that it is the same shape everywhere.
fn name_items(description: &mut Value) {
    let schemas = description["components"]["schemas"]
        .as_object_mut()
        .into_iter()
        .flatten();
    for (name, schema) in schemas {
        if let Some(item) = name.strip_prefix("Listing_") {
            schema["properties"]["items"]["items"] =
                json!({ "$ref": format!("#/components/schemas/{item}") });
        }
    }
}

/// The session's cookie has one of two names, depending on how browsers reach the server. Where an operation needs
/// a session, its handler says `session`.
fn name_both_cookies(description: &mut Value) {
    description["components"]["securitySchemes"] = json!({
        "session": {
            "type": "apiKey", "in": "cookie", "name": "spillway",
            "description": "The session cookie over plain HTTP."
        },
        "sessionOverHttps": {
            "type": "apiKey", "in": "cookie", "name": "__Host-spillway",
            "description": "The session cookie over https."
        }
    });
    for (_, _, operation) in refusals::operations(description) {
        if let Some(alternatives) = operation.get_mut("security").and_then(Value::as_array_mut) {
            alternatives.push(json!({ "sessionOverHttps": [] }));
        }
    }
}
