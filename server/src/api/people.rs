//! `/users/{handle}` and the lists of a person.

use app::feed::Feed;
use axum::extract::State;
use axum::routing::{get, put};
use axum::{Json, Router};
use model::{Activity, Counted, DisplayName, Handle, Listing, Member, Profile, Timestamp};
use serde::Serialize;

use super::extract::{Actor, Reader, Stretch, UserPath};
use super::{Answer, Api};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/users/{handle}", get(show))
        .route("/users/{handle}/follow", put(follow).delete(unfollow))
        .route("/users/{handle}/followers", get(followers))
        .route("/users/{handle}/following", get(following))
        .route("/users/{handle}/activity", get(activity))
}

/// A profile without the meter of its page: that is what `/overflow` is for.
#[derive(Serialize)]
struct User {
    handle: Handle,
    name: DisplayName,
    bio: String,
    at: Timestamp,
    followers: u64,
    following: u64,
    activities: u64,
    followed: bool,
}

impl From<Profile> for User {
    fn from(profile: Profile) -> Self {
        let Profile {
            handle,
            name,
            bio,
            at,
            followers,
            following,
            activities,
            followed,
            meter: _,
        } = profile;
        Self {
            handle,
            name,
            bio,
            at,
            followers,
            following,
            activities,
            followed,
        }
    }
}

async fn show(State(feed): State<Feed>, reader: Reader, UserPath(handle): UserPath) -> Answer<Json<User>> {
    Ok(Json(feed.profile(&handle, reader.handle()).await?.into()))
}

async fn follow(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    UserPath(handle): UserPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.follow(&actor, &handle).await?))
}

async fn unfollow(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    UserPath(handle): UserPath,
) -> Answer<Json<Counted>> {
    Ok(Json(feed.unfollow(&actor, &handle).await?))
}

async fn followers(
    State(feed): State<Feed>,
    UserPath(handle): UserPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    Ok(Json(feed.followers(&handle, paging).await?))
}

async fn following(
    State(feed): State<Feed>,
    UserPath(handle): UserPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Member>>> {
    Ok(Json(feed.following(&handle, paging).await?))
}

async fn activity(
    State(feed): State<Feed>,
    UserPath(handle): UserPath,
    Stretch(paging): Stretch,
) -> Answer<Json<Listing<Activity>>> {
    Ok(Json(feed.activity(&handle, paging).await?))
}
