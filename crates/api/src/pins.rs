//! `/posts/{id}/pin`. All of it may be repeated.

use axum::extract::State;
use axum::http::StatusCode;
use feed::Feed;
use model::PostId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Actor, InPath};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(pin, unpin))
}

/// Pin a post
///
/// Only your own. It stands first on your page, instead of another one.
#[utoipa::path(put, path = "/posts/{id}/pin", tag = "Posts", operation_id = "pinPost",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 204, description = "It is pinned."))
)]
async fn pin(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<StatusCode> {
    feed.posts().pin(&actor, post).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Unpin a post
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/posts/{id}/pin", tag = "Posts", operation_id = "unpinPost",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 204, description = "It is not pinned."))
)]
async fn unpin(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<StatusCode> {
    feed.posts().unpin(&actor, post).await?;
    Ok(StatusCode::NO_CONTENT)
}
