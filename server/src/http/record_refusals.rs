use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use feed::{Client, Feed, SecurityEvent};
use web::Session;

use super::peer::sender;

/// Middleware: records answers that forbid something, and requests that did not arrive in time, behind this many
/// proxies. The path is in the line of the request, which has the same id.
///
/// Refusals that lead a person back to their form are recorded where that is decided.
pub async fn record_refusals(
    State((feed, proxies)): State<(Feed, usize)>,
    request: Request,
    next: Next,
) -> Response {
    let client = Client {
        device: None,
        peer: Some(sender(&request, proxies)),
    };
    let response = next.run(request).await;
    let event = match response.status() {
        StatusCode::FORBIDDEN => SecurityEvent::Refused,
        StatusCode::REQUEST_TIMEOUT => SecurityEvent::TimedOut,
        _ => return response,
    };
    let session = response.extensions().get::<Arc<Session>>();
    let actor = session.and_then(|session| session.handle());
    feed.security().record(event, actor, &client);
    response
}
