//! `/posts/{id}/comments`.

use app::feed::Feed;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{delete, get};
use axum::{Json, Router};
use model::{Comment, CommentText, ItemId, Listing};
use serde::Deserialize;

use super::extract::{Actor, Body, CommentPath, PostPath, Stretch};
use super::{Answer, Api, created};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/posts/{id}/comments", get(list).post(write))
        .route("/posts/{id}/comments/{comment}", delete(remove))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewComment {
    id: Option<String>,
    text: String,
}

async fn list(
    State(feed): State<Feed>,
    PostPath(post): PostPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Comment>>> {
    Ok(Json(feed.comments(post, paging).await?))
}

async fn write(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    PostPath(post): PostPath,
    Body(new): Body<NewComment>,
) -> Answer<Response> {
    let id = new.id.map(|id| id.parse::<ItemId>()).transpose()?;
    let text: CommentText = new.text.parse()?;
    let comment = feed.comment(&actor, post, id, text).await?;
    Ok(created(
        &format!("/posts/{post}/comments/{}", comment.id),
        comment,
    ))
}

async fn remove(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    CommentPath(post, comment): CommentPath,
) -> Answer<StatusCode> {
    feed.delete_comment(&actor, post, comment).await?;
    Ok(StatusCode::NO_CONTENT)
}
