//! `/posts/{id}/like`, `/posts/{id}/share`, and who did. All of it may be repeated.

use app::feed::Feed;
use axum::extract::State;
use axum::routing::{get, put};
use axum::{Json, Router};
use model::{Counted, Listing, Member};

use super::extract::{Actor, PostPath, Stretch};
use super::{Answer, Api};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/posts/{id}/like", put(like).delete(unlike))
        .route("/posts/{id}/share", put(share).delete(unshare))
        .route("/posts/{id}/likes", get(likes))
        .route("/posts/{id}/shares", get(shares))
}

async fn like(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    PostPath(post): PostPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.like(&actor, post).await?))
}

async fn unlike(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    PostPath(post): PostPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.unlike(&actor, post).await?))
}

async fn share(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    PostPath(post): PostPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.share(&actor, post).await?))
}

async fn unshare(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    PostPath(post): PostPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.unshare(&actor, post).await?))
}

async fn likes(
    State(feed): State<Feed>,
    PostPath(post): PostPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    Ok(Json(feed.likes(post, paging).await?))
}

async fn shares(
    State(feed): State<Feed>,
    PostPath(post): PostPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    Ok(Json(feed.shares(post, paging).await?))
}
