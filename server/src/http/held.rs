//! What an answer holds until it is sent.

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt as _;

/// The answer, which holds a value until its body was sent, or the client has gone.
pub fn held_until_sent<T: Send + 'static>(answer: Response, held: T) -> Response {
    answer.map(|body| {
        Body::new(body.map_err(move |error| {
            // Moved in here, it lives as long as the body.
            let _: &T = &held;
            error
        }))
    })
}
