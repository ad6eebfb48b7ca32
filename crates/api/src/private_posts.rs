//! `/posts/{id}/bookmark` and `/posts/{id}/hidden`, and the lists of both. All of it may be repeated.

use axum::Json;
use axum::extract::State;
use feed::{Feed, PrivateList};
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
        .routes(routes!(own))
        .routes(routes!(hide, unhide))
        .routes(routes!(hidden))
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
    Ok(Json(
        feed.private_posts(PrivateList::Bookmarks)
            .add(&actor, post)
            .await?,
    ))
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
    Ok(Json(
        feed.private_posts(PrivateList::Bookmarks)
            .remove(&actor, post)
            .await?,
    ))
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
    Ok(Json(posts(
        lists
            .private_posts(&handle, PrivateList::Bookmarks, paging)
            .await?,
    )))
}

/// Your bookmarks
///
/// The same list, of the person who is signed in.
#[utoipa::path(get, path = "/bookmarks", tag = "Bookmarks", operation_id = "listOwnBookmarks",
    security(("session" = [])),
    params(Stretch),
    responses((status = 200, description = "A part of the list.", body = Listing<Post>))
)]
async fn own(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    let lists = feed.lists(Some(&actor));
    Ok(Json(posts(
        lists
            .private_posts(&actor, PrivateList::Bookmarks, paging)
            .await?,
    )))
}

/// Hide a post
///
/// You do not see it any more in your home feed, Explore, tags and searches. Nobody else notices. Sent again, it changes
/// nothing.
#[utoipa::path(put, path = "/posts/{id}/hidden", tag = "Mutes and blocks", operation_id = "hide",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and how many posts the reader hides.", body = ReactionState))
)]
async fn hide(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    let hidden = feed.private_posts(PrivateList::Hidden);
    Ok(Json(hidden.add(&actor, post).await?))
}

/// Hide a post no longer
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/posts/{id}/hidden", tag = "Mutes and blocks", operation_id = "unhide",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 200, description = "Whether it is active now, and how many posts the reader hides.", body = ReactionState))
)]
async fn unhide(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
) -> Answer<Json<ReactionState>> {
    let hidden = feed.private_posts(PrivateList::Hidden);
    Ok(Json(hidden.remove(&actor, post).await?))
}

/// The posts that a person hides
///
/// The latest first; only the person themselves can read them.
#[utoipa::path(get, path = "/users/{handle}/hidden", tag = "Mutes and blocks", operation_id = "listHidden",
    security(("session" = [])),
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Post>),
        (status = 403, description = "It is somebody else's list.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn hidden(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    let lists = feed.lists(reader.handle());
    let hidden = lists.private_posts(&handle, PrivateList::Hidden, paging);
    Ok(Json(posts(hidden.await?)))
}
