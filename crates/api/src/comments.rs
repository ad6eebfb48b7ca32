//! `/posts/{id}/comments`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use feed::{Feed, NewComment};
use model::{Comment, CommentText, ItemId, Listing, PostId};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, Body, InPath, Reader, Stretch};
use crate::{Answer, Api, created};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(list, write))
        .routes(routes!(edit, remove))
}

/// A comment to write.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CommentBody {
    /// A UUID of the client's choice. Sent again with the same id, the comment is there once.
    #[schema(value_type = Option<ItemId>)]
    id: Option<String>,
    /// What it says.
    #[schema(value_type = CommentText)]
    text: String,
    /// The comment on the same post that it answers; its author is told.
    #[serde(rename = "replyTo")]
    #[schema(value_type = Option<ItemId>)]
    reply_to: Option<String>,
}

/// What a comment says from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EditedComment {
    /// What it says.
    #[schema(value_type = CommentText)]
    text: String,
}

/// List the comments on a post
///
/// Newest first, without those of people whom the reader mutes or blocks, or who block the reader; `total` counts them.
#[utoipa::path(get, path = "/posts/{id}/comments", tag = "Comments", operation_id = "listComments",
    params(InPath<PostId>, Stretch),
    responses((status = 200, description = "A part of the list.", body = Listing<Comment>))
)]
async fn list(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(post): InPath<PostId>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Comment>>> {
    Ok(Json(
        feed.reactions().comments(post, reader.handle(), paging).await?,
    ))
}

/// Write a comment
///
/// With an `id` that the request chose, it may be sent again: the answer is the comment that is there, with the text that it
/// got first.
#[utoipa::path(post, path = "/posts/{id}/comments", tag = "Comments", operation_id = "writeComment",
    security(("session" = [])),
    params(InPath<PostId>),
    request_body = CommentBody,
    responses(
        (status = 201, description = "The comment.", body = Comment, headers(
            ("location" = String, description = "Where it can be deleted.")
        )),
        (status = 409, description = "Somebody else's comment has this id.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn write(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
    Body(new): Body<CommentBody>,
) -> Answer<Response> {
    let reply_to = new.reply_to.map(|id| id.parse::<ItemId>()).transpose();
    let new = NewComment {
        id: new.id.map(|id| id.parse()).transpose()?,
        text: new.text.parse()?,
        reply_to: reply_to.map_err(|problem| problem.about("replyTo"))?,
    };
    let comment = feed.reactions().comment(&actor, post, new).await?;
    Ok(created(
        &format!("/posts/{post}/comments/{}", comment.id),
        comment,
    ))
}

/// Edit a comment
///
/// Changes the text of your own. Its place in the list and its replies stay, `editedAt` says when, and nobody is told. The same
/// text again changes nothing.
#[utoipa::path(patch, path = "/posts/{id}/comments/{comment}", tag = "Comments", operation_id = "editComment",
    security(("session" = [])),
    params(InPath<PostId>, InPath<ItemId>),
    request_body = EditedComment,
    responses((status = 200, description = "The comment as it is now.", body = Comment))
)]
async fn edit(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
    InPath(comment): InPath<ItemId>,
    Body(edited): Body<EditedComment>,
) -> Answer<Json<Comment>> {
    let text: CommentText = edited.text.parse()?;
    let edited = feed.reactions().edit_comment(&actor, post, comment, text).await?;
    Ok(Json(edited))
}

/// Delete a comment
///
/// Only your own. Sent again, it is not found.
#[utoipa::path(delete, path = "/posts/{id}/comments/{comment}", tag = "Comments", operation_id = "deleteComment",
    security(("session" = [])),
    params(InPath<PostId>, InPath<ItemId>),
    responses((status = 204, description = "It is gone."))
)]
async fn remove(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(post): InPath<PostId>,
    InPath(comment): InPath<ItemId>,
) -> Answer<StatusCode> {
    feed.reactions().delete_comment(&actor, post, comment).await?;
    Ok(StatusCode::NO_CONTENT)
}
