use std::time::Duration;

use app::feed::Feed;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::shutdown::Phases;

/// How long the store may take to answer before it counts as away.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/healthz`: the process runs. `/readyz`: it should be sent requests.
pub fn router(feed: Feed, phases: Phases) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .with_state((feed, phases))
}

async fn ready(State((feed, phases)): State<(Feed, Phases)>) -> (StatusCode, &'static str) {
    if phases.stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match tokio::time::timeout(PATIENCE, feed.ready()).await {
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
