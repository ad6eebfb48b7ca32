use std::panic::resume_unwind;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use document::with_deadline;
use tracing::Instrument;

/// Middleware: a request that may change something is finished even if its sender goes away.
///
/// A like is an item of a list, an entry of the person's activities and news for watchers. If it were dropped with
/// its connection, it would stop between two of these, and the person's next action would begin while this one is
/// incomplete.
///
/// Whatever a request retries, it gives up by one deadline.
pub async fn finish_mutations(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return with_deadline(next.run(request)).await;
    }
    match tokio::spawn(with_deadline(next.run(request)).in_current_span()).await {
        Ok(response) => response,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The server is stopping, and this connection with it.
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use axum::body::Body;
    use axum::http::Method;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use document::deadline;
    use tokio::sync::Semaphore;
    use tower::ServiceExt as _;

    use super::*;

    /// The progress of an answer: it begins, waits for permission, and ends.
    #[derive(Clone)]
    struct Steps {
        begun: Arc<Semaphore>,
        permitted: Arc<Semaphore>,
        done: Arc<Semaphore>,
    }

    /// Lets a client go away while its answer is being computed; returns whether it was finished all the same.
    async fn is_finished(method: Method) -> bool {
        let [begun, permitted, done] = [0; 3].map(|none| Arc::new(Semaphore::new(none)));
        let steps = Steps {
            begun,
            permitted,
            done,
        };
        let its = steps.clone();
        let change = async move || {
            its.begun.add_permits(1);
            its.permitted.acquire().await.unwrap().forget();
            its.done.add_permits(1);
        };
        let app = Router::new()
            .route("/", get(change.clone()).put(change))
            .layer(from_fn(finish_mutations));
        let request = Request::builder().method(method).body(Body::empty()).unwrap();
        let client = tokio::spawn(app.oneshot(request));
        steps.begun.acquire().await.unwrap().forget();
        client.abort();
        assert!(client.await.unwrap_err().is_cancelled());
        steps.permitted.add_permits(1);
        // A task that waits for the permission takes it before this one does.
        let left = tokio::select! {
            biased;
            _ = steps.done.acquire() => return true,
            left = steps.permitted.acquire() => left,
        };
        left.is_err()
    }

    #[tokio::test]
    async fn a_change_is_finished_although_nobody_waits_for_it() {
        assert!(is_finished(Method::PUT).await);
    }

    #[tokio::test]
    async fn a_read_ends_with_its_reader() {
        assert!(!is_finished(Method::GET).await);
    }

    #[tokio::test(start_paused = true)]
    async fn whatever_a_request_does_has_one_deadline() {
        let handler = async || {
            let first = deadline();
            tokio::time::advance(Duration::from_secs(1)).await;
            assert_eq!(deadline(), first);
        };
        let app = Router::new()
            .route("/", get(handler).put(handler))
            .layer(from_fn(finish_mutations));
        for method in [Method::GET, Method::PUT] {
            let request = Request::builder().method(method).body(Body::empty()).unwrap();
            let answer = app.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
        }
    }
}
