use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use feed::Feed;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::shutdown::Phases;

/// How long the store may take to answer before it counts as unavailable.
const TIMEOUT: Duration = Duration::from_secs(2);

/// `/healthz`: the process runs. `/readyz`: it should receive requests.
pub fn router(feed: Feed, phases: Phases) -> Router {
    Router::from(routes()).with_state((feed, phases))
}

/// The description of these routes for operators.
pub fn described() -> OpenApi {
    routes().into_openapi()
}

fn routes() -> OpenApiRouter<(Feed, Phases)> {
    OpenApiRouter::default()
        .routes(routes!(alive))
        .routes(routes!(ready))
}

/// Whether the process runs
#[utoipa::path(get, path = "/healthz", tag = "Server", operation_id = "isAlive",
    responses((status = 200, description = "It does.", body = String, content_type = "text/plain; charset=utf-8", example = json!("ok\n")))
)]
async fn alive() -> &'static str {
    "ok\n"
}

/// Whether it should be sent requests
///
/// Not while its store is away or takes longer than two seconds, nor while it is about to stop.
#[utoipa::path(get, path = "/readyz", tag = "Server", operation_id = "isReady",
    responses(
        (status = 200, description = "It should.", body = String, content_type = "text/plain; charset=utf-8", example = json!("ready\n")),
        (status = 503, description = "It should not, and why.", body = String, content_type = "text/plain; charset=utf-8", example = json!("draining\n"))
    )
)]
async fn ready(State((feed, phases)): State<(Feed, Phases)>) -> (StatusCode, &'static str) {
    if phases.stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match tokio::time::timeout(TIMEOUT, feed.ready()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(problem)) => {
            tracing::warn!(%problem, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n")
        }
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the store does not answer in time\n",
        ),
    }
}
