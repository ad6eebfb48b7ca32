//! The JSON API under `/api/v1`. Each module is one resource; all of them only translate between HTTP and
//! [`Feed`](app::feed::Feed), which the pages call too.

mod accounts;
mod comments;
mod events;
mod extract;
mod overflow;
mod people;
mod posts;
mod reactions;

use app::feed::Feed;
use axum::extract::FromRef;
use axum::http::header::{CACHE_CONTROL, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde::Serialize;

use crate::http::Refusal;
use crate::shutdown::Phases;

/// Where the API lives.
const PREFIX: &str = "/api/v1";

/// What a handler answers.
type Answer<T> = Result<T, Refusal>;

/// What the handlers work with.
#[derive(Clone)]
struct Api {
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

/// All routes below `/api/v1`, and problem+json for everything else below `/api` that is no server function.
pub fn router(feed: Feed, phases: Phases) -> Router {
    let v1 = Router::new()
        .merge(accounts::routes())
        .merge(posts::routes())
        .merge(comments::routes())
        .merge(reactions::routes())
        .merge(people::routes())
        .merge(overflow::routes())
        .merge(events::routes())
        .fallback(nowhere)
        .method_not_allowed_fallback(async || Refusal::method_not_allowed())
        .layer(map_response(never_stored));
    Router::new()
        .nest(PREFIX, v1)
        .route("/api", any(nowhere))
        .route("/api/", any(nowhere))
        .route("/api/{*rest}", any(nowhere))
        .with_state(Api { feed, phases })
}

async fn nowhere() -> Refusal {
    Refusal::no_such_route()
}

/// What somebody reads depends on who they are and what was just written.
async fn never_stored(mut response: Response) -> Response {
    response
        .headers_mut()
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// 201 with the new resource and where it lives.
fn created(path: &str, resource: impl Serialize) -> Response {
    let location = [(LOCATION, format!("{PREFIX}{path}"))];
    (StatusCode::CREATED, location, Json(resource)).into_response()
}
