use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;

use super::Refusal;
use super::refusals::for_a_person;

/// The largest body, in bytes: several times the longest form.
const LIMIT: usize = 64 * 1024;

/// Middleware: reads the whole body before anything else looks at the request, up to the limit. So nothing is ever
/// answered while the client still sends: HTTP/1 would have to close the connection then, under its next request.
pub async fn read_whole(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let as_page = for_a_person(&request);
    let (parts, body) = request.into_parts();
    match collect(body).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(refusal) => {
            let mut response = refusal.respond(as_page);
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

async fn collect(body: Body) -> Result<Vec<u8>, Refusal> {
    if body.size_hint().lower() > LIMIT as u64 {
        return Err(Refusal::too_large());
    }
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Refusal::malformed("The body broke off before its end."))?;
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIMIT {
            return Err(Refusal::too_large());
        }
    }
    Ok(bytes)
}
