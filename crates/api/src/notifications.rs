//! A person's notifications, and how far they have read them.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Handle, NotificationKind, NotificationSettings, Notifications, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, Body, InPath, Reader, Stretch};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(own))
        .routes(routes!(mark_read))
        .routes(routes!(settings, set))
}

/// Up to where somebody has read.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpTo {
    /// The time of the latest notification that they have seen, as the list tells it in `until`. Without it, all are marked.
    #[serde(default)]
    #[schema(value_type = Option<model::Timestamp>)]
    until: Option<String>,
}

/// The kinds that somebody wants notifications of.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Told {
    /// The kinds of notifications.
    #[schema(value_type = Vec<NotificationKind>)]
    told: Vec<String>,
}

/// What is left to read.
#[derive(Serialize, ToSchema)]
struct Unread {
    /// How many notifications are unread.
    unread: u64,
}

/// A person's notifications
///
/// The latest first; only the person themselves can read them. Until somebody has marked them as read, there is one
/// for each post and kind, however many people it tells of. Those about what is gone are left out, but `total` counts them.
#[utoipa::path(get, path = "/users/{handle}/notifications", tag = "Notifications", operation_id = "listNotifications",
    security(("session" = [])),
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Notifications),
        (status = 403, description = "It is somebody else's list.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn list(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Notifications>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(lists.notifications(&handle, paging).await?))
}

/// Your notifications
///
/// The same list, of the person who is signed in.
#[utoipa::path(get, path = "/notifications", tag = "Notifications", operation_id = "listOwnNotifications",
    security(("session" = [])),
    params(Stretch),
    responses((status = 200, description = "A part of the list.", body = Notifications))
)]
async fn own(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    Stretch(paging): Stretch,
) -> Answer<Json<Notifications>> {
    let lists = feed.lists(Some(&actor));
    Ok(Json(lists.notifications(&actor, paging).await?))
}

/// See your choice of notifications
///
/// At first, all kinds.
#[utoipa::path(get, path = "/notifications/settings", tag = "Notifications", operation_id = "getNotificationSettings",
    security(("session" = [])),
    responses((status = 200, description = "The kinds that you get notifications of.", body = NotificationSettings))
)]
async fn settings(State(feed): State<Feed>, Actor(actor): Actor) -> Answer<Json<NotificationSettings>> {
    Ok(Json(feed.notifications().settings(&actor).await?))
}

/// Choose your notifications
///
/// From now on; the notifications that you already have stay.
#[utoipa::path(put, path = "/notifications/settings", tag = "Notifications", operation_id = "setNotificationSettings",
    security(("session" = [])),
    request_body = Told,
    responses((status = 200, description = "The kinds that you get notifications of now.", body = NotificationSettings))
)]
async fn set(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    Body(body): Body<Told>,
) -> Answer<Json<NotificationSettings>> {
    let kinds = body.told.iter().map(|kind| kind.parse());
    let told = kinds.collect::<Result<_, model::Problem>>();
    let told = told.map_err(|problem| problem.about("told"))?;
    let settings = NotificationSettings { told };
    Ok(Json(feed.notifications().set(&actor, &settings).await?))
}

/// Mark your notifications as read
///
/// Up to a time: that of the latest that you have seen. What came later stays unread. Sent again, it changes nothing.
#[utoipa::path(post, path = "/notifications/read", tag = "Notifications", operation_id = "markNotificationsRead",
    security(("session" = [])),
    request_body = Option<UpTo>,
    responses((status = 200, description = "How many are unread now.", body = Unread))
)]
async fn mark_read(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    body: Option<Body<UpTo>>,
) -> Answer<Json<Unread>> {
    let until = match body.and_then(|Body(up_to)| up_to.until) {
        Some(until) => until
            .parse()
            .map_err(|problem: model::Problem| problem.about("until"))?,
        None => Timestamp::from_millis(i64::MAX),
    };
    let unread = feed.notifications().mark_read(&actor, until).await?;
    Ok(Json(Unread { unread }))
}
