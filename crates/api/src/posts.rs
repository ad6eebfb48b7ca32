//! `/feed`, `/explore`, `/tags`, `/posts`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use feed::Feed;
use model::{Listing, Post, PostCard, PostId, PostText, Tag};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::{ErrorResponse, ProblemBody};

use crate::extract::{Actor, Body, InPath, Reader, Stretch, choice, query};
use crate::{Answer, Api, created};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(home))
        .routes(routes!(explore))
        .routes(routes!(tagged))
        .routes(routes!(compose))
        .routes(routes!(show, edit, delete))
}

/// A post to write.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPost {
    /// A UUID of the client's choice. Sent again with the same id, the post is there once.
    #[schema(value_type = Option<PostId>)]
    id: Option<String>,
    /// What it says. Words such as `#weir` become tags, `@ada` a link to the person.
    #[schema(value_type = PostText)]
    text: String,
    /// The post that it quotes.
    #[schema(value_type = Option<PostId>)]
    quote: Option<String>,
}

/// What a post is to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EditedPost {
    /// The whole new text.
    #[schema(value_type = PostText)]
    text: String,
}

/// The home feed
///
/// Newest first: what the people whom the reader follows wrote and shared, and posts by the reader; everybody's posts for a
/// reader who is not signed in. `sharedBy` and `sharedAt` are those of the share that puts a post there. `total` counts each share,
/// and for a long home feed it is a lower bound.
#[utoipa::path(get, path = "/feed", tag = "Posts", operation_id = "getFeed",
    params(Stretch),
    responses((status = 200, description = "A part of the feed.", body = Listing<Post>))
)]
async fn home(
    State(feed): State<Feed>,
    reader: Reader,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    Ok(Json(posts(feed.posts().home(reader.handle(), paging).await?)))
}

/// `?order`: in which order to list everybody's posts.
pub enum Explored {
    MostLiked,
    Rising,
}

impl<S: Sync> FromRequestParts<S> for Explored {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let mut explored = Self::MostLiked;
        for (name, value) in query(parts)?.into_iter().filter(|(name, _)| name == "order") {
            explored = if choice(&name, &value, ["liked", "rising"])? {
                Self::Rising
            } else {
                Self::MostLiked
            };
        }
        Ok(explored)
    }
}

/// Everybody's posts
///
/// The most liked first, or those that are rising: with many likes for their age. Ten times the likes are worth twelve and a
/// half hours there. Of a long list only the 500 newest and the 500 most liked posts are ranked, and `total` is a lower bound.
#[utoipa::path(get, path = "/explore", tag = "Posts", operation_id = "explore",
    params(Explored, Stretch),
    responses((status = 200, description = "A part of the list.", body = Listing<Post>))
)]
async fn explore(
    State(feed): State<Feed>,
    reader: Reader,
    explored: Explored,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    let (feed, reader) = (feed.posts(), reader.handle());
    Ok(Json(posts(match explored {
        Explored::MostLiked => feed.explore(reader, paging).await?,
        Explored::Rising => feed.rising(reader, paging).await?,
    })))
}

/// Posts with a tag
///
/// Newest first.
#[utoipa::path(get, path = "/tags/{tag}", tag = "Posts", operation_id = "listTagged",
    params(InPath<Tag>, Stretch),
    responses((status = 200, description = "A part of the list; empty for a tag that no post has.", body = Listing<Post>))
)]
async fn tagged(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(tag): InPath<Tag>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    Ok(Json(posts(
        feed.posts().tagged(&tag, reader.handle(), paging).await?,
    )))
}

/// Write a post
///
/// With an `id` that the request chose, it may be sent again: the answer is the post that is there, with the text that it
/// has.
#[utoipa::path(post, path = "/posts", tag = "Posts", operation_id = "writePost",
    security(("session" = [])),
    request_body = NewPost,
    responses(
        (status = 201, description = "The post.", body = Post, headers(
            ("location" = String, description = "Where the post is.")
        )),
        (status = 404, description = "There is no post to quote with this id.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Somebody else's post has this id.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn compose(
    State(feed): State<Feed>,
    Actor(author): Actor,
    Body(new): Body<NewPost>,
) -> Answer<Response> {
    let id = new.id.map(|id| id.parse::<PostId>()).transpose()?;
    let text: PostText = new.text.parse()?;
    let quote = new.quote.map(|quote| quote.parse::<PostId>());
    let quote = quote.transpose().map_err(|problem| problem.about("quote"))?;
    let post = feed.posts().compose(&author, id, text, quote).await?.post;
    Ok(created(&format!("/posts/{}", post.id), post))
}

/// One post
#[utoipa::path(get, path = "/posts/{id}", tag = "Posts", operation_id = "getPost",
    params(InPath<PostId>),
    responses((status = 200, description = "The post, as the reader sees it.", body = Post))
)]
async fn show(State(feed): State<Feed>, reader: Reader, InPath(id): InPath<PostId>) -> Answer<Json<Post>> {
    Ok(Json(feed.posts().get(id, reader.handle()).await?.post))
}

/// Edit a post
///
/// Only your own. Its likes, comments and shares stay, and it shows when it was edited. Sent again, it changes nothing.
#[utoipa::path(patch, path = "/posts/{id}", tag = "Posts", operation_id = "editPost",
    security(("session" = [])),
    params(InPath<PostId>),
    request_body = EditedPost,
    responses((status = 200, description = "The post as it is now.", body = Post))
)]
async fn edit(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(id): InPath<PostId>,
    Body(edited): Body<EditedPost>,
) -> Answer<Json<Post>> {
    let text: PostText = edited.text.parse()?;
    Ok(Json(feed.posts().edit(&actor, id, text).await?.post))
}

/// Delete a post
///
/// Only your own, with its likes, comments and shares. Sent again, it is not found.
#[utoipa::path(delete, path = "/posts/{id}", tag = "Posts", operation_id = "deletePost",
    security(("session" = [])),
    params(InPath<PostId>),
    responses((status = 204, description = "It is gone."))
)]
async fn delete(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(id): InPath<PostId>,
) -> Answer<StatusCode> {
    feed.posts().delete(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The pages' cards without their meters: `/overflow` answers those.
pub fn posts(listing: Listing<PostCard>) -> Listing<Post> {
    Listing {
        items: listing.items.into_iter().map(|card| card.post).collect(),
        next: listing.next,
        seams: listing.seams,
        total: listing.total,
    }
}
