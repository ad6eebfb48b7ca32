//! `/posts/{id}/bookmark`, and a person's bookmarks. All of it may be repeated.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Handle, Listing, Post, PostId, ReactionState};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, InPath, Reader, Stretch};
use crate::posts::posts;
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(add, remove))
        .routes(routes!(list))
}

/// Bookmark a post
///
/// Only the reader sees it. Sent again, it changes nothing.
#[utoipa::path(put, path = "/posts/{id}/bookmark", tag = "Bookmarks", operation_id = "bookmark",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and how many bookmarks the reader has.", body = ReactionState))
)]
async fn add(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.bookmarks().add(&actor, post).await?))
}

/// Remove a bookmark
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/posts/{id}/bookmark", tag = "Bookmarks", operation_id = "removeBookmark",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and how many bookmarks the reader has.", body = ReactionState))
)]
async fn remove(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    Ok(Json(feed.bookmarks().remove(&actor, post).await?))
}

/// A person's bookmarks
///
/// The latest bookmark first; only the person themselves can read them. Posts that were deleted since are left out, but
/// `total` counts them.
#[utoipa::path(get, path = "/users/{handle}/bookmarks", tag = "Bookmarks", operation_id = "listBookmarks",
    security(("session" = [])),
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Post>),
        (status = 403, description = "It is somebody else's list.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn list(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    let lists = feed.lists(reader.handle());
    Ok(Json(posts(lists.bookmarks(&handle, paging).await?)))
}
