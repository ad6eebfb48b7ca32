//! The JSON API under `/api/v1`. Each module is one resource; all of them only translate between HTTP and
//! [`Feed`], which the pages call too.

mod accounts;
mod comments;
mod description;
mod events;
mod export;
mod extract;
mod notifications;
mod overflow;
mod parameters;
mod people;
mod pins;
mod posts;
mod private_posts;
mod reactions;
mod recovery;
mod refusals;
mod reports;
mod restrictions;
mod search;
mod sessions;
mod suggestions;

use axum::extract::FromRef;
use axum::http::header::{CACHE_CONTROL, LINK, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use feed::Feed;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use web::ErrorResponse;

pub use description::Description;
pub use extract::{Actor, Body};

/// The path of the API.
const PREFIX: &str = "/api/v1";

/// The result of a handler.
pub type Answer<T> = Result<T, ErrorResponse>;

/// Completes when open responses must end.
type Closing = Shared<BoxFuture<'static, ()>>;

/// The state of the handlers.
#[derive(Clone)]
pub struct Api {
    feed: Feed,
    description: &'static Description,
    closing: Closing,
}

impl Api {
    /// Serves this feed, says that it is what the description describes, and ends open responses when `closing`
    /// completes.
    pub fn new(
        feed: Feed,
        description: &'static Description,
        closing: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self {
            feed,
            description,
            closing: closing.boxed().shared(),
        }
    }
}

impl FromRef<Api> for Feed {
    fn from_ref(api: &Api) -> Self {
        api.feed.clone()
    }
}

impl FromRef<Api> for &'static Description {
    fn from_ref(api: &Api) -> Self {
        api.description
    }
}

impl FromRef<Api> for Closing {
    fn from_ref(api: &Api) -> Self {
        api.closing.clone()
    }
}

/// The routes below `/api/v1`, to which the server adds the workshop's. The path and method of each come from its
/// description, so that no route lacks one.
pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .merge(accounts::routes())
        .merge(sessions::routes())
        .merge(recovery::routes())
        .merge(posts::routes())
        .merge(pins::routes())
        .merge(comments::routes())
        .merge(reactions::routes())
        .merge(private_posts::routes())
        .merge(notifications::routes())
        .merge(people::routes())
        .merge(restrictions::routes())
        .merge(reports::routes())
        .merge(search::routes())
        .merge(suggestions::routes())
        .merge(overflow::routes())
        .merge(events::routes())
        .merge(description::routes())
}

/// These routes below `/api/v1`, and problem+json for everything else below `/api` that is neither a server function
/// nor the page about all this.
pub fn router(routes: OpenApiRouter<Api>, api: Api) -> Router {
    let v1 = Router::from(routes)
        .fallback(unknown_route)
        .method_not_allowed_fallback(async || ErrorResponse::method_not_allowed());
    Router::new()
        .nest(PREFIX, v1)
        .route("/api/{*rest}", any(unknown_route))
        .layer(map_response(described_and_never_stored))
        .with_state(api)
}

async fn unknown_route() -> ErrorResponse {
    ErrorResponse::no_such_route()
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
