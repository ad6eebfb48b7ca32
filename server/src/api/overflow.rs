//! `/posts/{id}/overflow`, `/users/{handle}/overflow`: how the lists of an owner are stored.

use app::feed::Feed;
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use model::{Overflow, Topic};

use super::extract::{PostPath, UserPath};
use super::{Answer, Api};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/posts/{id}/overflow", get(of_post))
        .route("/users/{handle}/overflow", get(of_user))
}

async fn of_post(State(feed): State<Feed>, PostPath(post): PostPath) -> Answer<Json<Overflow>> {
    Ok(Json(feed.overflow(&Topic::Post(post)).await?))
}

async fn of_user(State(feed): State<Feed>, UserPath(handle): UserPath) -> Answer<Json<Overflow>> {
    Ok(Json(feed.overflow(&Topic::User(handle)).await?))
}
