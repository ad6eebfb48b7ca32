//! `/events`: Server-Sent Events with the storage numbers of the watched owners' lists, now and after every
//! change.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::HeaderName;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use feed::{Change, Feed, OpenStream, PostList, SecurityEvent};
use futures::{FutureExt, StreamExt, future, stream};
use model::{Cursor, Problem, Topic};
use serde_json::json;
use store::posts::Order;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::{ErrorResponse, ProblemBody};

use crate::extract::{Reader, query};
use crate::{Answer, Api, Closing};

/// The maximum number of owners on one connection.
pub const MOST_TOPICS: usize = 100;

/// How often a comment keeps a silent connection open; the contract promises every 15 s at least.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What a client reads.
const EVENTS: &str = r#"event: overflow
id: user:ada@7
data: {"followers":{"count":43,"head":43,"threshold":1000,"pages":0,"pageSize":500,"hasOverflow":false,"headBytes":3311,"ownerBytes":6240}}

event: posts
data: {"newer":3}
"#;

/// Keeps proxies such as nginx from holding events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(watch))
}

/// One event of the stream. Its fields are lines, as Server-Sent Events have them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "axum writes the lines; this describes them")]
struct LiveEvent {
    /// What happened: `overflow` or `posts`.
    #[schema(pattern = "^(overflow|posts)$")]
    event: String,
    /// With `overflow`, the topic and a number, as in `user:ada@7`.
    #[schema(nullable = false)]
    id: Option<String>,
    /// JSON: the lists by their names with `overflow`, `{"newer": 3}` with `posts`.
    data: String,
}

/// `?topic=…&topic=…`, each once, and `posts=…&since=…`.
pub struct Watched {
    topics: Vec<Topic>,
    posts: Option<(PostList, Option<Cursor>)>,
}

impl<S: Sync> FromRequestParts<S> for Watched {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let mut topics = BTreeSet::new();
        let (mut posts, mut since) = (None, None);
        for (name, value) in query(parts)? {
            match name.as_str() {
                "topic" => drop(topics.insert(value.parse::<Topic>()?)),
                "posts" => posts = Some(value.parse::<PostList>()?),
                "since" if !value.is_empty() => since = Some(since_cursor(&value)?),
                _ => {}
            }
        }
        let fewest = usize::from(posts.is_none());
        if !(fewest..=MOST_TOPICS).contains(&topics.len()) {
            let message = format!(
                "Name 1 to {MOST_TOPICS} topics, as in ?topic=user:ada; these are {}.",
                topics.len()
            );
            return Err(Problem::invalid("topic", message).into());
        }
        Ok(Self {
            topics: topics.into_iter().collect(),
            posts: posts.map(|list| (list, since)),
        })
    }
}

fn since_cursor(value: &str) -> Result<Cursor, Problem> {
    value
        .parse()
        .ok()
        .filter(|cursor| Order::Newest.issued(*cursor))
        .ok_or_else(|| Problem::invalid("since", "This is not a cursor of a list of posts, newest first."))
}

/// Watch posts and people
///
/// A stream of Server-Sent Events that stays open until one side closes it. `overflow` says how the lists of a watched
/// post or person are stored, as their own address does: now, and after every change, at most ten times a second for
/// each. Its `id` begins with the topic. The current state comes first, so a client misses nothing after a
/// reconnection. `posts` says how many posts are newer than `since`. A comment comes every ten seconds, so that a
/// silent connection can be told from a broken one.
#[utoipa::path(get, path = "/events", tag = "Live", operation_id = "watch",
    params(Watched),
    responses(
        (status = 200, description = "The events.", body = LiveEvent, content_type = "text/event-stream", example = json!(EVENTS)),
        (status = 404, description = "None of the topics exists.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
// Each topic starts with its current state, which replaces whatever a client missed, so `Last-Event-ID` is not
// needed.
async fn watch(
    State(feed): State<Feed>,
    State(closing): State<Closing>,
    Reader(session): Reader,
    Watched { topics, posts }: Watched,
) -> Answer<Response> {
    let (reader, client) = (session.handle(), session.client());
    let refused = |problem: Problem| {
        let log = feed.security();
        log.record(SecurityEvent::StreamRefused, reader, client);
        problem
    };
    let open = feed.live().open_stream(client.peer, topics.len());
    let open = open.map_err(refused)?;
    // A topic that is gone, or that the reader does not see, stays silent, even for a page that reconnects; but a request
    // for nothing else deserves an answer.
    let storage = feed.storage(reader);
    let topics = storage.visible_among(topics).await?;
    let newer = match posts {
        Some((PostList::By(author), _)) if storage.require(&Topic::User(author.clone())).await.is_err() => {
            stream::pending().boxed()
        }
        Some((list, since)) => feed.live().watch_posts(list, reader.cloned(), since),
        None => stream::pending().boxed(),
    };
    // A topic whose owner is gone stays silent; the connection stays open, or a browser would reconnect forever.
    let changes = feed.live().watch(&topics, reader).map_err(refused)?;
    let changes = changes.chain(stream::pending());
    let events = stream::select(
        changes.map(|change| event(&change)),
        newer.map(|newer| {
            Event::default()
                .event("posts")
                .json_data(json!({ "newer": newer }))
        }),
    )
    .take_until(future::select(closing, feed.live().wait_for_reset().boxed()));
    let events = events.inspect(move |_| {
        // Held by the stream.
        let _: &OpenStream = &open;
    });
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
