//! `/posts/{id}/overflow`, `/users/{handle}/overflow`: how the lists of an owner are stored.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Handle, Overflow, PostId, Relation, RelationOverflow, Topic};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{InPath, Reader};
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
    params(InPath<PostId>),
    responses((status = 200, description = "Each list by its name.", body = BTreeMap<Relation, RelationOverflow>))
)]
async fn of_post(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(post): InPath<PostId>,
) -> Answer<Json<Overflow>> {
    stored(&feed, &reader, &Topic::Post(post)).await
}

/// How a person's lists are stored
///
/// Their followers, following and activities.
#[utoipa::path(get, path = "/users/{handle}/overflow", tag = "Storage", operation_id = "getUserOverflow",
    params(InPath<Handle>),
    responses((status = 200, description = "Each list by its name.", body = BTreeMap<Relation, RelationOverflow>))
)]
async fn of_user(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<Overflow>> {
    stored(&feed, &reader, &Topic::User(handle)).await
}

async fn stored(feed: &Feed, reader: &Reader, owner: &Topic) -> Answer<Json<Overflow>> {
    Ok(Json(feed.storage(reader.handle()).overflow(owner).await?))
}
