use axum::extract::State;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use leptos::nonce::use_nonce;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use web::CLOSED;

/// Which other sites may show an answer, such as a picture.
pub const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// Lets the page that is being rendered load this site's own files, and run the scripts that Leptos writes into
/// it: they carry a nonce that is made for this answer alone, which injected markup cannot know. Compiling
/// WebAssembly has to be allowed by name; evaluating strings as scripts is not. A picture may be written into the page
/// or the manifest, as the site's icon is.
pub fn allow_own_scripts() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else {
        return;
    };
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Middleware for every answer, wherever it comes from. Policies that the answer already has are kept.
///
/// The referrer stays within the site, where plain forms need it to return to their page. `https` means that
/// browsers reach this site by https alone, and must continue to.
pub async fn guard(State(https): State<bool>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(CLOSED));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers
        .entry(CORP)
        .or_insert(HeaderValue::from_static("same-origin"));
    headers.insert(
        PERMISSIONS,
        HeaderValue::from_static("camera=(), geolocation=(), microphone=()"),
    );
    if https {
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
    response
}
