//! The JSON API under `/api/v1`. Each module is one resource; all of them only translate between HTTP and
//! [`Feed`](feed::Feed), which the pages call too.

mod accounts;
mod comments;
mod description;
mod events;
mod examples;
mod export;
mod extract;
#[cfg(feature = "workshop")]
mod lab;
#[cfg(feature = "workshop")]
mod layouts;
mod overflow;
mod parameters;
mod people;
mod posts;
mod reactions;
mod refusals;

use axum::extract::FromRef;
use axum::http::header::{CACHE_CONTROL, LINK, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use feed::Feed;
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;

pub use self::description::DESCRIPTION;
use crate::http::Refusal;
use crate::shutdown::Phases;
use crate::wing;

/// The path of the API.
const PREFIX: &str = "/api/v1";

/// The result of a handler.
type Answer<T> = Result<T, Refusal>;

/// The state of the handlers.
#[derive(Clone)]
pub struct Api {
    feed: Feed,
    phases: Phases,
}

impl FromRef<Api> for Feed {
    fn from_ref(api: &Api) -> Self {
        api.feed.clone()
    }
}

impl FromRef<Api> for Phases {
    fn from_ref(api: &Api) -> Self {
        api.phases.clone()
    }
}

/// The routes below `/api/v1`. The path and method of each come from its description, so that no route lacks one.
fn v1() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .merge(accounts::routes())
        .merge(posts::routes())
        .merge(comments::routes())
        .merge(reactions::routes())
        .merge(people::routes())
        .merge(overflow::routes())
        .merge(events::routes())
        .merge(wing::api())
        .merge(description::routes())
}

/// The API of the workshop.
#[cfg(feature = "workshop")]
pub fn stations() -> OpenApiRouter<Api> {
    layouts::routes().merge(lab::routes())
}

/// All routes below `/api/v1`, and problem+json for everything else below `/api` that is neither a server function nor
/// the page about all this.
pub fn router(feed: Feed, phases: Phases) -> Router {
    let v1 = Router::from(v1())
        .fallback(unknown_route)
        .method_not_allowed_fallback(async || Refusal::method_not_allowed());
    Router::new()
        .nest(PREFIX, v1)
        .route("/api/{*rest}", any(unknown_route))
        .layer(map_response(described_and_never_stored))
        .with_state(Api { feed, phases })
}

async fn unknown_route() -> Refusal {
    Refusal::no_such_route()
}

/// The address of the description, for programs and for people (RFC 8631).
const DESCRIBED: HeaderValue =
    HeaderValue::from_static("</api/v1/openapi.json>; rel=\"service-desc\", </api>; rel=\"service-doc\"");

/// An answer depends on the reader and on recent writes.
async fn described_and_never_stored(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers.insert(LINK, DESCRIBED);
    response
}

/// 201 with the new resource and its address.
fn created(path: &str, resource: impl Serialize) -> Response {
    let location = [(LOCATION, format!("{PREFIX}{path}"))];
    (StatusCode::CREATED, location, Json(resource)).into_response()
}
