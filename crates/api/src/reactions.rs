//! `/posts/{id}/like`, `/posts/{id}/share`, and who did. All of it may be repeated.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Listing, Member, PostId, ReactionState, Relation, Topic};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Actor, InPath, Reader, Stretch};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(like, unlike))
        .routes(routes!(share, unshare))
        .routes(routes!(likes))
        .routes(routes!(shares))
}

/// Like a post
///
/// Sent again, it changes nothing.
#[utoipa::path(put, path = "/posts/{id}/like", tag = "Reactions", operation_id = "like",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and the new count.", body = ReactionState))
)]
async fn like(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.reactions().like(&actor, post).await?))
}

/// Remove a like
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/posts/{id}/like", tag = "Reactions", operation_id = "unlike",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and the new count.", body = ReactionState))
)]
async fn unlike(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.reactions().unlike(&actor, post).await?))
}

/// Share a post
///
/// Sent again, it changes nothing.
#[utoipa::path(put, path = "/posts/{id}/share", tag = "Reactions", operation_id = "share",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and the new count.", body = ReactionState))
)]
async fn share(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.reactions().share(&actor, post).await?))
}

/// Remove a share
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/posts/{id}/share", tag = "Reactions", operation_id = "unshare",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and the new count.", body = ReactionState))
)]
async fn unshare(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.reactions().unshare(&actor, post).await?))
}

/// Who likes a post
///
/// The latest first.
#[utoipa::path(get, path = "/posts/{id}/likes", tag = "Reactions", operation_id = "listLikes",
    params(InPath<PostId>, Stretch),
    responses((status = 200, description = "A part of the list.", body = Listing<Member>))
)]
async fn likes(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(post): InPath<PostId>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(
        lists.members(&Topic::Post(post), Relation::Likes, paging).await?,
    ))
}

/// Who shared a post
///
/// The latest first.
#[utoipa::path(get, path = "/posts/{id}/shares", tag = "Reactions", operation_id = "listShares",
    params(InPath<PostId>, Stretch),
    responses((status = 200, description = "A part of the list.", body = Listing<Member>))
)]
async fn shares(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(post): InPath<PostId>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(
        lists
            .members(&Topic::Post(post), Relation::Shares, paging)
            .await?,
    ))
}
