use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::ACCEPT;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::csrf::{CsrfLayer, ProtectionError};

use super::Refusal;
use crate::fault::Fault;

/// Refuses mutations that another site made the browser send: a `Sec-Fetch-Site` other than same-origin, or, from
/// browsers without it, an `Origin` that is not this host. A request with neither comes from no browser and passes.
/// The public address is this host too, whatever the proxy in front calls it.
pub fn forgery_protection(public_url: Option<&str>) -> Result<CsrfLayer, Fault> {
    let layer = CsrfLayer::new();
    match public_url {
        None => Ok(layer),
        Some(url) => layer.add_trusted_origin(url).map_err(|error| {
            Fault::usage(
                format!("SPILLWAY_PUBLIC_URL={url} is not an address that browsers send"),
                "Give scheme and host alone, as in https://feed.example.org.",
            )
            .caused_by(&error)
        }),
    }
}

/// Middleware: puts words to what inner layers refuse with an empty or plain body.
pub async fn explain(request: Request, next: Next) -> Response {
    let accepts_html = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/html"));
    let for_a_person = accepts_html && !request.uri().path().starts_with("/api/v1/");
    let response = next.run(request).await;
    let refusal = if response.extensions().get::<ProtectionError>().is_some() {
        Refusal::forged()
    } else if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        Refusal::too_large()
    } else {
        return response;
    };
    if for_a_person {
        refusal.into_page()
    } else {
        refusal.into_response()
    }
}
