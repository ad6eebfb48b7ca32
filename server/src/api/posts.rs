//! `/feed`, `/explore`, `/tags`, `/posts`.

use app::feed::Feed;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use model::{Listing, Post, PostCard, PostId, PostText};
use serde::Deserialize;

use super::extract::{Actor, Body, PostPath, Reader, Stretch, TagPath};
use super::{Answer, Api, created};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/feed", get(home))
        .route("/explore", get(explore))
        .route("/tags/{tag}", get(tagged))
        .route("/posts", post(compose))
        .route("/posts/{id}", get(show).delete(delete))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPost {
    id: Option<String>,
    text: String,
}

async fn home(
    State(feed): State<Feed>,
    reader: Reader,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    Ok(Json(posts(feed.home(reader.handle(), paging).await?)))
}

async fn explore(
    State(feed): State<Feed>,
    reader: Reader,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    Ok(Json(posts(feed.explore(reader.handle(), paging).await?)))
}

async fn tagged(
    State(feed): State<Feed>,
    reader: Reader,
    TagPath(tag): TagPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Post>>> {
    Ok(Json(posts(feed.tagged(&tag, reader.handle(), paging).await?)))
}

async fn compose(
    State(feed): State<Feed>,
    Actor(author): Actor,
    Body(new): Body<NewPost>,
) -> Answer<Response> {
    let id = new.id.map(|id| id.parse::<PostId>()).transpose()?;
    let text: PostText = new.text.parse()?;
    let post = feed.compose(&author, id, text).await?.post;
    Ok(created(&format!("/posts/{}", post.id), post))
}

async fn show(State(feed): State<Feed>, reader: Reader, PostPath(id): PostPath) -> Answer<Json<Post>> {
    Ok(Json(feed.post(id, reader.handle()).await?.post))
}

async fn delete(State(feed): State<Feed>, Actor(actor): Actor, PostPath(id): PostPath) -> Answer<StatusCode> {
    feed.delete_post(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The pages' cards without their meters: those are what `/overflow` is for.
fn posts(listing: Listing<PostCard>) -> Listing<Post> {
    Listing {
        items: listing.items.into_iter().map(|card| card.post).collect(),
        next: listing.next,
        seams: listing.seams,
        total: listing.total,
    }
}
