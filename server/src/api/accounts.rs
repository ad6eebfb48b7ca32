//! `/accounts`, `/session`, `/me`.

use app::feed::Feed;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use model::{Account, DisplayName, Handle, Password};
use serde::Deserialize;

use super::extract::{Body, Reader};
use super::{Answer, Api, created};

pub fn routes() -> Router<Api> {
    Router::new()
        .route("/accounts", post(sign_up))
        .route("/session", post(sign_in).delete(sign_out))
        .route("/me", get(me))
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

async fn sign_up(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewAccount>,
) -> Answer<Response> {
    let handle: Handle = new.handle.parse()?;
    let name: DisplayName = new.name.parse()?;
    let password: Password = new.password.parse()?;
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

fn cookie(value: HeaderValue) -> [(HeaderName, HeaderValue); 1] {
    [(SET_COOKIE, value)]
}
