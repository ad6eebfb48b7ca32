//! `/posts/{id}/overflow`, `/users/{handle}/overflow`: how the lists of an owner are stored.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Overflow, Relation, RelationOverflow, Topic};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{PostPath, Reader, UserPath};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(of_post))
        .routes(routes!(of_user))
}

/// How a post's lists are stored
///
/// Its likes, comments and shares.
#[utoipa::path(get, path = "/posts/{id}/overflow", tag = "Storage", operation_id = "getPostOverflow",
    params(PostPath),
    responses((status = 200, description = "Each list by its name.", body = BTreeMap<Relation, RelationOverflow>))
)]
async fn of_post(
    State(feed): State<Feed>,
    reader: Reader,
    PostPath(post): PostPath,
) -> Answer<Json<Overflow>> {
    stored(&feed, &reader, &Topic::Post(post)).await
}

/// How a person's lists are stored
///
/// Their followers, following and activities.
#[utoipa::path(get, path = "/users/{handle}/overflow", tag = "Storage", operation_id = "getUserOverflow",
    params(UserPath),
    responses((status = 200, description = "Each list by its name.", body = BTreeMap<Relation, RelationOverflow>))
)]
async fn of_user(
    State(feed): State<Feed>,
    reader: Reader,
    UserPath(handle): UserPath,
) -> Answer<Json<Overflow>> {
    stored(&feed, &reader, &Topic::User(handle)).await
}

async fn stored(feed: &Feed, reader: &Reader, owner: &Topic) -> Answer<Json<Overflow>> {
    Ok(Json(feed.storage(reader.handle()).overflow(owner).await?))
}
