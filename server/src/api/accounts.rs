//! `/accounts`, `/session`, `/me` and what people change about themselves.

use app::feed::Feed;
use axum::body::Body as Content;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use model::{Account, Bio, DisplayName, Handle, Password, both};
use serde::Deserialize;

use super::extract::{Actor, Body, Reader};
use super::{Answer, Api, created};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/accounts", post(sign_up))
        .route("/session", post(sign_in).delete(sign_out))
        .route("/me", get(me).patch(describe).delete(leave))
        .route("/me/password", put(change_password))
        .route("/me/export", get(export))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    handle: String,
    name: String,
    password: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    handle: String,
    password: String,
}

/// What is absent stays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: Option<String>,
    bio: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewPassword {
    password: String,
    new_password: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Farewell {
    password: String,
}

async fn sign_up(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewAccount>,
) -> Answer<Response> {
    let names = both(new.handle.parse::<Handle>(), new.name.parse::<DisplayName>());
    let ((handle, name), password) = both(names, new.password.parse::<Password>())?;
    let (account, token) = feed.sign_up(handle, name, password).await?;
    let location = format!("/users/{}", account.handle);
    let cookie = cookie(session.replace(&feed, &token).await?);
    Ok((cookie, created(&location, account)).into_response())
}

async fn sign_in(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(credentials): Body<Credentials>,
) -> Answer<Response> {
    let (account, token) = feed.sign_in(&credentials.handle, &credentials.password).await?;
    let cookie = cookie(session.replace(&feed, &token).await?);
    Ok((cookie, Json(account)).into_response())
}

/// Signing out twice is signing out.
async fn sign_out(State(feed): State<Feed>, Reader(session): Reader) -> Answer<Response> {
    if let Some(token) = session.token() {
        feed.sign_out(token).await?;
    }
    Ok((StatusCode::NO_CONTENT, cookie(session.cookies().clear())).into_response())
}

async fn me(Reader(session): Reader) -> Answer<Json<Account>> {
    Ok(Json(session.require()?.clone()))
}

async fn describe(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<Description>,
) -> Answer<Json<Account>> {
    let Account { handle, name, bio } = session.require()?.clone();
    let name = new.name.map_or(Ok(name), |name| name.parse::<DisplayName>());
    let (name, bio) = both(name, new.bio.unwrap_or(bio).parse::<Bio>())?;
    Ok(Json(feed.describe(&handle, name, bio).await?))
}

/// All sessions end, and the answer brings a new one.
async fn change_password(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewPassword>,
) -> Answer<Response> {
    let handle = &session.require()?.handle;
    let password = new.new_password.parse::<Password>();
    let password = password.map_err(|problem| problem.about("newPassword"))?;
    let token = feed.change_password(handle, &new.password, password).await?;
    Ok((
        StatusCode::NO_CONTENT,
        cookie(session.replace(&feed, &token).await?),
    )
        .into_response())
}

/// Everything of the person, as a file to keep. Should it break off, the connection does too, so that nobody takes a part
/// of it for the whole.
async fn export(State(feed): State<Feed>, Actor(actor): Actor) -> Answer<Response> {
    let pieces = feed.export(&actor).await?;
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"spillway-{actor}.json\""),
        ),
    ];
    Ok((headers, Content::from_stream(pieces)).into_response())
}

async fn leave(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(farewell): Body<Farewell>,
) -> Answer<Response> {
    feed.leave(&session.require()?.handle, &farewell.password).await?;
    Ok((StatusCode::NO_CONTENT, cookie(session.cookies().clear())).into_response())
}

fn cookie(value: HeaderValue) -> [(HeaderName, HeaderValue); 1] {
    [(SET_COOKIE, value)]
}
