//! `/events`: Server-Sent Events with how the watched owners' lists are stored, now and after every change.

use std::collections::BTreeSet;
use std::time::Duration;

use app::feed::{Change, Feed};
use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderName;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::{StreamExt, future};
use model::{Problem, Topic};

use super::extract::query;
use super::{Answer, Api};
use crate::http::Refusal;
use crate::shutdown::Phases;

/// How many owners one connection may watch.
const MOST_TOPICS: usize = 100;

/// How often a comment keeps a silent connection open; the contract promises every 15 s at least.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Keeps proxies such as nginx from holding events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

pub fn routes() -> Router<Api> {
    Router::new().route("/events", get(watch))
}

/// `?topic=…&topic=…`, each once.
struct Topics(Vec<Topic>);

impl<S: Sync> FromRequestParts<S> for Topics {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let pairs = query(parts)?.into_iter().filter(|(name, _)| name == "topic");
        let topics = pairs
            .map(|(_, topic)| topic.parse())
            .collect::<Result<BTreeSet<Topic>, Problem>>()?;
        if (1..=MOST_TOPICS).contains(&topics.len()) {
            return Ok(Self(topics.into_iter().collect()));
        }
        let message = format!(
            "Name 1 to {MOST_TOPICS} topics, as in ?topic=user:ada; these are {}.",
            topics.len()
        );
        Err(Problem::invalid("topic", message).into())
    }
}

/// Each topic's state comes first and replaces whatever a client missed, so a `Last-Event-ID` needs no memory here.
async fn watch(
    State(feed): State<Feed>,
    State(phases): State<Phases>,
    Topics(topics): Topics,
) -> Answer<Response> {
    // Who is gone falls silent, also for a page that reconnects; that nobody is there is worth an answer.
    let known = future::join_all(topics.iter().map(|topic| feed.overflow(topic))).await;
    if known.iter().all(Result::is_err) {
        known.into_iter().collect::<Result<Vec<_>, Problem>>()?;
    }
    let events = feed
        .watch(&topics)
        .map(|change| event(&change))
        .take_until(phases.closing());
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    Ok(([(CACHE_CONTROL, "no-store"), (UNBUFFERED, "no")], stream).into_response())
}

fn event(change: &Change) -> Result<Event, axum::Error> {
    let id = format!("{}@{}", change.topic, change.sequence);
    Event::default()
        .event("overflow")
        .id(id)
        .json_data(&*change.overflow)
}
