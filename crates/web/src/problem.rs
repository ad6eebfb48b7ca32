//! How a refused request is answered: problem+json for programs, a page for people.

use std::sync::LazyLock;
use std::time::Duration;

use axum::Json;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Kind, Problem, whole_seconds};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

/// The policy for every answer: nothing is loaded or run, base addresses cannot be changed, and no other page may
/// frame it.
pub const CLOSED: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The time in which the whole body of a request has to arrive: enough for the largest one over a slow line.
pub const BODY: Duration = Duration::from_secs(20);

/// The style of the plain text page. It is inline because the page must work without anything else.
const STYLE: &str = "body{font:1.0625rem/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.25rem;\
                     color-scheme:light dark}";

/// The policy of the plain text page, which has one inline style and nothing else.
static WORDS_ALONE: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    HeaderValue::try_from(format!("{CLOSED}; style-src 'sha256-{style}'"))
        .unwrap_or(HeaderValue::from_static(CLOSED))
});

/// A refused request. The one place where a [`Problem`], or a failure before the feed was reached, becomes an HTTP
/// response: problem+json (RFC 9457) for programs, a page for people.
#[derive(Debug, Clone)]
pub struct ErrorResponse {
    status: StatusCode,
    name: &'static str,
    title: &'static str,
    detail: String,
    field: Option<String>,
    /// What is wrong with other fields.
    also: Box<[Problem]>,
    /// The time after which to try again.
    wait: Option<Duration>,
}

/// Why a request was not carried out (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// What kind of problem it is, as a name that stays: `urn:spillway:problem:` and a word such as `not-found`.
    #[schema(pattern = "^urn:spillway:problem:[a-z-]+$")]
    r#type: String,
    /// The kind in words.
    title: &'static str,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong, and what to do about it, as sentences for people.
    detail: String,
    /// The field, parameter or header that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<String>,
    /// What is wrong with other fields, when several are at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    also: Vec<Also>,
}

/// Another field that is wrong.
#[derive(Serialize, ToSchema)]
struct Also {
    /// The field.
    #[schema(required)]
    field: Option<String>,
    /// What is wrong with it.
    detail: String,
}

impl ErrorResponse {
    fn protocol(
        status: StatusCode,
        name: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            name,
            title,
            detail: detail.into(),
            field: None,
            also: Box::default(),
            wait: None,
        }
    }

    /// The body is not valid JSON.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::protocol(
            StatusCode::BAD_REQUEST,
            "malformed",
            "The body is not valid JSON",
            detail,
        )
    }

    /// The body is declared as another type than the one that is read here.
    pub fn unsupported_media_type(expected: &str) -> Self {
        Self::protocol(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            "Unsupported media type",
            format!("Send a body with the header Content-Type: {expected}."),
        )
    }

    /// The route exists, but not with this method; the `Allow` header lists the methods.
    pub fn method_not_allowed() -> Self {
        Self::protocol(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "Method not allowed",
            "This address does not support that method. The Allow header lists the supported ones.",
        )
    }

    /// There is no such route.
    pub fn no_such_route() -> Self {
        Problem::new(
            Kind::NotFound,
            "There is nothing at this address. The API is at /api/v1.",
        )
        .into()
    }

    /// The request's body exceeds the limit.
    pub fn too_large() -> Self {
        Problem::new(Kind::TooLarge, "A request's body may have at most 64 KB.").into()
    }

    /// The request's body did not arrive within [`BODY`].
    pub fn too_slow() -> Self {
        let seconds = BODY.as_secs();
        Self::protocol(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            "The body did not arrive in time",
            format!("A request has to arrive within {seconds} seconds. Nothing was changed. Send it again."),
        )
    }

    /// Another site made the browser send this.
    pub fn forged() -> Self {
        Problem::new(
            Kind::Forbidden,
            "This request was sent from another site, so nothing was changed.",
        )
        .into()
    }

    /// A browser on another machine came over plain HTTP.
    pub fn plain_http() -> Self {
        Self::protocol(
            StatusCode::FORBIDDEN,
            "plain-http",
            "Not over plain HTTP",
            "Over plain HTTP, others on the network could read your password and take over your session. So you can \
             sign in and write only over https, or in a browser on the server's own machine at http://localhost. If \
             you run this server, set SPILLWAY_PUBLIC_URL to its https address, or, on a trusted network, set \
             SPILLWAY_CLASSROOM=on.",
        )
    }

    /// Too many requests at once; after this time one more is accepted.
    pub fn too_many(wait: Duration) -> Self {
        let seconds = whole_seconds(wait);
        let unit = if seconds == 1 { "second" } else { "seconds" };
        let message = format!(
            "Too many requests in a short time. Nothing was changed. Wait {seconds} {unit} and send it again. In a \
             browser, go back first: your text is still in the form."
        );
        Problem::new(Kind::TooMany, message).for_now(wait).into()
    }

    /// Too many pages or answers read at once; after this time one more is sent.
    pub fn too_many_reads(wait: Duration) -> Self {
        let message =
            "Your address has read a lot in a short time. Wait a few seconds and load the page again.";
        Problem::new(Kind::TooMany, message).for_now(wait).into()
    }

    /// A plain form met an unavailable store. It may have been carried out nevertheless, so the sender decides
    /// whether to repeat it.
    pub fn form_without_store() -> Self {
        Problem::new(
            Kind::Unavailable,
            "The store does not answer right now. Wait a moment and go back: your text is still in the form. Before \
             you send it again, check whether it has already appeared.",
        )
        .into()
    }

    /// The members of the problem+json document.
    pub fn into_body(self) -> ProblemBody {
        let also = self.also.into_iter().map(|problem| Also {
            field: problem.field,
            detail: problem.message,
        });
        ProblemBody {
            r#type: format!("urn:spillway:problem:{}", self.name),
            title: self.title,
            status: self.status.as_u16(),
            detail: self.detail,
            field: self.field,
            also: also.collect(),
        }
    }

    /// The refusal as problem+json, or as a page for a browser that posted a form.
    pub fn respond(self, as_page: bool) -> Response {
        if as_page {
            self.into_page()
        } else {
            self.into_response()
        }
    }

    /// The body, with the status and the headers that do not depend on its kind.
    fn with_body(status: StatusCode, wait: Option<Duration>, body: impl IntoResponse) -> Response {
        let mut response = (status, body).into_response();
        if let Some(wait) = wait {
            let seconds = HeaderValue::from(whole_seconds(wait));
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response
    }

    fn into_page(self) -> Response {
        let Self {
            status,
            title,
            detail,
            wait,
            ..
        } = self;
        let (title, detail) = (escape(title), escape(&detail));
        let page = format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title} · Spillway</title>\
             <style>{STYLE}</style></head>\
             <body><main><h1>{title}</h1><p>{detail}</p><p><a href=\"/\">Go to the home page</a></p></main></body></html>"
        );
        let mut response = Self::with_body(status, wait, Html(page));
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, WORDS_ALONE.clone());
        response
    }
}

impl From<Problem> for ErrorResponse {
    fn from(problem: Problem) -> Self {
        let Problem {
            kind,
            field,
            message,
            also,
            wait,
        } = problem;
        Self {
            status: StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            name: name_of(kind),
            title: kind.title(),
            detail: message,
            field,
            also: also.into(),
            wait,
        }
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let (status, wait) = (self.status, self.wait);
        let mut response = Self::with_body(status, wait, Json(self.into_body()));
        let problem = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, problem);
        response
    }
}

const fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid",
        Kind::NotSignedIn => "not-signed-in",
        Kind::Forbidden => "forbidden",
        Kind::NotFound => "not-found",
        Kind::Conflict => "conflict",
        Kind::TooLarge => "too-large",
        Kind::TooMany => "too-many",
        Kind::Unavailable => "unavailable",
        Kind::Internal => "internal",
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_keeps_its_status_and_says_what_to_do_in_json() {
        let response = ErrorResponse::from(Problem::new(Kind::Unavailable, "Try again.")).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }

    #[test]
    fn the_names_in_type_are_those_that_pages_get() {
        for kind in [Kind::Invalid, Kind::NotSignedIn, Kind::TooMany, Kind::Internal] {
            assert_eq!(serde_json::to_value(kind).unwrap(), name_of(kind));
        }
    }

    #[test]
    fn a_page_shows_markup_as_text() {
        assert_eq!(escape("<b>\"&"), "&lt;b&gt;&quot;&amp;");
    }
}
