use axum::extract::Request;
use axum::http::header::{ACCEPT, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::csrf::{CsrfLayer, ProtectionError};
use web::ErrorResponse;

use crate::error::CliError;

/// Refuses mutations that another site made the browser send: a `Sec-Fetch-Site` other than same-origin, or, from
/// browsers without it, an `Origin` that is not this host. A request with neither does not come from a browser and
/// passes. The public address is this host too, whatever name the proxy in front uses.
pub fn forgery_protection(public_url: Option<&str>) -> Result<CsrfLayer, CliError> {
    let layer = CsrfLayer::new();
    match public_url {
        None => Ok(layer),
        Some(url) => layer.add_trusted_origin(url).map_err(|error| {
            CliError::usage(
                format!("SPILLWAY_PUBLIC_URL={url} is not an address that browsers send"),
                "Give only scheme and host, as in https://feed.example.org.",
            )
            .caused_by(&error)
        }),
    }
}

/// When to try again, in seconds, while the store is unavailable or many passwords are being hashed.
const RETRY: HeaderValue = HeaderValue::from_static("1");

/// Middleware: adds a text to refusals by the forgery protection, which have none, and to a plain form that met an
/// unavailable store; and adds the time to try again to every answer that needs it.
pub async fn add_error_text(request: Request, next: Next) -> Response {
    let as_page = for_a_person(&request);
    let form = request.method() == Method::POST;
    let mut response = next.run(request).await;
    if response.extensions().get::<ProtectionError>().is_some() {
        return ErrorResponse::forged().respond(as_page);
    }
    if response.status() == StatusCode::SERVICE_UNAVAILABLE && as_page && form {
        response = ErrorResponse::form_without_store().respond(true);
    }
    if [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&response.status()) {
        response.headers_mut().entry(RETRY_AFTER).or_insert(RETRY);
    }
    response
}

/// Whether a browser will show the answer, as it does after a plain form.
pub fn for_a_person(request: &Request) -> bool {
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    accept.is_some_and(|value| value.contains("text/html")) && !request.uri().path().starts_with("/api/v1/")
}
