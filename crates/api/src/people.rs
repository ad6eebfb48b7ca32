//! `/users/{handle}` and the lists of a person.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{
    Activity, DisplayName, Handle, Listing, Member, Post, PostId, Profile, ReactionState, Relation,
    Timestamp, Topic,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, InPath, Reader, Stretch};
use crate::posts::posts;
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(show))
        .routes(routes!(written))
        .routes(routes!(follow, unfollow))
        .routes(routes!(followers))
        .routes(routes!(following))
        .routes(routes!(activity))
}

/// A person as one reader sees them. How their lists are stored is at `/overflow`.
#[derive(Serialize, ToSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is true or not whatever the others are"
)]
struct User {
    /// Their unique name.
    handle: Handle,
    /// The name that others see.
    name: DisplayName,
    /// A line about themselves; possibly empty.
    bio: String,
    /// When they joined.
    at: Timestamp,
    /// How many people follow them.
    followers: u64,
    /// How many people they follow.
    following: u64,
    /// How many activities they have.
    activities: u64,
    /// Whether the reader follows them.
    followed: bool,
    /// Whether the reader mutes them.
    muted: bool,
    /// Whether the reader blocks them.
    blocked: bool,
    /// Whether they block the reader.
    #[serde(rename = "blockedBy")]
    blocked_by: bool,
    /// The post that they pinned, which may be gone.
    #[schema(required)]
    pinned: Option<PostId>,
}

impl From<Profile> for User {
    fn from(profile: Profile) -> Self {
        let Profile {
            handle,
            name,
            bio,
            at,
            followers,
            following,
            activities,
            followed,
            muted,
            blocked,
            blocked_by,
            pinned,
            meter: _,
        } = profile;
        Self {
            handle,
            name,
            bio,
            at,
            followers,
            following,
            activities,
            followed,
            muted,
            blocked,
            blocked_by,
            pinned,
        }
    }
}

/// One person
#[utoipa::path(get, path = "/users/{handle}", tag = "People", operation_id = "getUser",
    params(InPath<Handle>),
    responses((status = 200, description = "The person, as the reader sees them.", body = User))
)]
async fn show(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<User>> {
    Ok(Json(
        feed.people().profile(&handle, reader.handle()).await?.into(),
    ))
}

/// Follow somebody
///
/// Their posts appear in your home feed. Sent again, it changes nothing.
#[utoipa::path(put, path = "/users/{handle}/follow", tag = "People", operation_id = "follow",
    security(("session" = [])),
    params(InPath<Handle>),
    responses(
        (status = 200, description = "Whether it is active now, and the new count of followers.", body = ReactionState),
        (status = 422, description = "You cannot follow yourself.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn follow(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.people().follow(&actor, &handle).await?))
}

/// Stop following somebody
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/users/{handle}/follow", tag = "People", operation_id = "unfollow",
    security(("session" = [])),
    params(InPath<Handle>),
    responses((status = 200, description = "Whether it is active now, and the new count of followers.", body = ReactionState))
)]
async fn unfollow(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.people().unfollow(&actor, &handle).await?))
}

/// What a person wrote and shared
///
/// Newest first. `sharedBy` and `sharedAt` are those of a share. Empty if the person or the reader blocks the other.
#[utoipa::path(get, path = "/users/{handle}/posts", tag = "People", operation_id = "listPostsOf",
    params(InPath<Handle>, Stretch),
    responses((status = 200, description = "A part of the list. `total` counts posts and shares.", body = Listing<Post>))
)]
async fn written(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    let (people, listed) = (feed.people(), feed.posts());
    let (_, listing) = futures::try_join!(
        people.profile(&handle, None),
        listed.by(&handle, reader.handle(), paging)
    )?;
    Ok(Json(posts(listing)))
}

/// Who follows a person
///
/// The latest first.
#[utoipa::path(get, path = "/users/{handle}/followers", tag = "People", operation_id = "listFollowers",
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Member>),
        (status = 403, description = "The person or the reader blocks the other.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn followers(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(
        lists
            .members(&Topic::User(handle), Relation::Followers, paging)
            .await?,
    ))
}

/// Whom a person follows
///
/// The latest first.
#[utoipa::path(get, path = "/users/{handle}/following", tag = "People", operation_id = "listFollowing",
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Member>),
        (status = 403, description = "The person or the reader blocks the other.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn following(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(
        lists
            .members(&Topic::User(handle), Relation::Following, paging)
            .await?,
    ))
}

/// What a person did
///
/// Posts, likes, comments, shares and follows, the latest first.
#[utoipa::path(get, path = "/users/{handle}/activity", tag = "People", operation_id = "listActivity",
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Activity>),
        (status = 403, description = "The person or the reader blocks the other.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn activity(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Activity>>> {
    let activity = feed.people().activity(&handle, reader.handle(), paging);
    Ok(Json(activity.await?))
}
