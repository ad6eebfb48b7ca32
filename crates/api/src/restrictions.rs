//! `/users/{handle}/mute` and `/users/{handle}/block`, and whom a person mutes and blocks. All of it may be repeated.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{Handle, Listing, Member, ReactionState, Relation, Topic};
use store::restrictions::Restriction;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, InPath, Reader, Stretch};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(mute, unmute))
        .routes(routes!(block, unblock))
        .routes(routes!(mutes))
        .routes(routes!(blocks))
}

/// Mute somebody
///
/// You do not see their posts in your home feed, Explore, tags and searches, nor their comments, and get no notifications about
/// them. They are not told. Sent again, it changes nothing.
#[utoipa::path(put, path = "/users/{handle}/mute", tag = "Mutes and blocks", operation_id = "mute",
    security(("session" = [])),
    params(InPath<Handle>),
    responses(
        (status = 200, description = "Whether it is active now, and how many people the reader mutes.", body = ReactionState),
        (status = 422, description = "You cannot mute yourself.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn mute(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    let restrictions = feed.restrictions();
    Ok(Json(restrictions.add(Restriction::Mute, &actor, &handle).await?))
}

/// Mute somebody no longer
///
/// Sent again, it changes nothing.
#[utoipa::path(delete, path = "/users/{handle}/mute", tag = "Mutes and blocks", operation_id = "unmute",
    security(("session" = [])),
    params(InPath<Handle>),
    responses((status = 200, description = "Whether it is active now, and how many people the reader mutes.", body = ReactionState))
)]
async fn unmute(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    let restrictions = feed.restrictions();
    Ok(Json(
        restrictions.remove(Restriction::Mute, &actor, &handle).await?,
    ))
}

/// Block somebody
///
/// Neither of you sees the other's posts and comments, can react to them, or follows the other; follows that are there
/// end. Sent again, it changes nothing.
#[utoipa::path(put, path = "/users/{handle}/block", tag = "Mutes and blocks", operation_id = "block",
    security(("session" = [])),
    params(InPath<Handle>),
    responses(
        (status = 200, description = "Whether it is active now, and how many people the reader blocks.", body = ReactionState),
        (status = 422, description = "You cannot block yourself.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn block(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    let restrictions = feed.restrictions();
    Ok(Json(restrictions.add(Restriction::Block, &actor, &handle).await?))
}

/// Block somebody no longer
///
/// Follows do not come back. Sent again, it changes nothing.
#[utoipa::path(delete, path = "/users/{handle}/block", tag = "Mutes and blocks", operation_id = "unblock",
    security(("session" = [])),
    params(InPath<Handle>),
    responses((status = 200, description = "Whether it is active now, and how many people the reader blocks.", body = ReactionState))
)]
async fn unblock(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    InPath(handle): InPath<Handle>,
) -> Answer<Json<ReactionState>> {
    let restrictions = feed.restrictions();
    Ok(Json(
        restrictions.remove(Restriction::Block, &actor, &handle).await?,
    ))
}

/// Whom a person mutes
///
/// The latest first; only the person themselves can read it.
#[utoipa::path(get, path = "/users/{handle}/mutes", tag = "Mutes and blocks", operation_id = "listMutes",
    security(("session" = [])),
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Member>),
        (status = 403, description = "It is somebody else's list.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn mutes(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    let owner = Topic::User(handle);
    Ok(Json(lists.members(&owner, Relation::Mutes, paging).await?))
}

/// Whom a person blocks
///
/// The latest first; only the person themselves can read it.
#[utoipa::path(get, path = "/users/{handle}/blocks", tag = "Mutes and blocks", operation_id = "listBlocks",
    security(("session" = [])),
    params(InPath<Handle>, Stretch),
    responses(
        (status = 200, description = "A part of the list.", body = Listing<Member>),
        (status = 403, description = "It is somebody else's list.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn blocks(
    State(feed): State<Feed>,
    reader: Reader,
    InPath(handle): InPath<Handle>,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    let lists = feed.lists(reader.handle());
    let owner = Topic::User(handle);
    Ok(Json(lists.members(&owner, Relation::Blocks, paging).await?))
}
