//! `/accounts`, `/session`, `/me` and what people change about themselves.

use axum::Json;
use axum::body::Body as Content;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use feed::Feed;
use model::{Account, Bio, DisplayName, Handle, Password, both};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::{CLEAR_CACHE, ProblemBody, Session};

use crate::export::Export;
use crate::extract::{Body, Reader};
use crate::{Answer, Api, created};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(sign_up))
        .routes(routes!(sign_in, sign_out))
        .routes(routes!(me, describe, delete_account))
        .routes(routes!(change_password))
        .routes(routes!(export))
}

/// A new account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    /// 2 to 30 letters a–z, digits, `_` and `-`, the first a letter or digit. An `@` before it and white space around it are
    /// dropped, upper case is folded. It is unique and never changes.
    #[schema(pattern = r"^\s*@*[A-Za-z0-9][A-Za-z0-9_-]{1,29}\s*$", examples("ada"))]
    handle: String,
    /// The name that others see.
    #[schema(value_type = DisplayName)]
    name: String,
    /// 8 to 200 characters, kept as it is. One of the most common passwords is refused.
    #[schema(min_length = 8, max_length = 200, format = Password, examples("correct horse"))]
    password: String,
}

/// Who signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Credentials {
    /// The handle, in any form that signing up accepts.
    #[schema(examples("ada"))]
    handle: String,
    /// Their password.
    #[schema(format = Password, examples("correct horse"))]
    password: String,
}

/// The fields to change. A field that is absent or null stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Description {
    /// The name that others see.
    #[schema(value_type = Option<DisplayName>)]
    name: Option<String>,
    /// A line about the person; an empty one removes it.
    #[schema(value_type = Option<Bio>)]
    bio: Option<String>,
}

/// The old password and a new one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewPassword {
    /// The current password.
    #[schema(format = Password, examples("correct horse"))]
    password: String,
    /// The new password: 8 to 200 characters, and none of the most common passwords.
    #[schema(min_length = 8, max_length = 200, format = Password, examples("battery staple"))]
    new_password: String,
}

/// The confirmation of deleting the account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AccountDeletion {
    /// The current password.
    #[schema(format = Password, examples("correct horse"))]
    password: String,
}

/// Sign up
///
/// Creates an account and signs it in: the answer sets the session cookie. A session that the request was sent with ends.
#[utoipa::path(post, path = "/accounts", tag = "Accounts", operation_id = "signUp",
    request_body = NewAccount,
    responses(
        (status = 201, description = "The new account, signed in.", body = Account, headers(
            ("location" = String, description = "Where the person is."),
            ("set-cookie" = String, description = "The session.")
        )),
        (status = 409, description = "Somebody else has this handle.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn sign_up(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewAccount>,
) -> Answer<Response> {
    let names = both(new.handle.parse::<Handle>(), new.name.parse::<DisplayName>());
    let ((handle, name), password) = both(names, new.password.parse::<Password>())?;
    let (account, token) = feed
        .accounts()
        .sign_up(handle, name, password, session.client())
        .await?;
    let location = format!("/users/{}", account.handle);
    let cookie = cookie(session.replace(&feed, &token).await?);
    Ok((cookie, created(&location, account)).into_response())
}

/// Sign in
///
/// The answer sets the session cookie. A session lasts for 30 days at most, and ends after 7 days without use. A session
/// that the request was sent with ends.
#[utoipa::path(post, path = "/session", tag = "Accounts", operation_id = "signIn",
    request_body = Credentials,
    responses(
        (status = 200, description = "The account that is now signed in.", body = Account, headers(
            ("set-cookie" = String, description = "The session.")
        )),
        (status = 401, description = "Wrong handle or password. The answer does not say which of the two.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn sign_in(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(credentials): Body<Credentials>,
) -> Answer<Response> {
    let (account, token) = feed
        .accounts()
        .sign_in(&credentials.handle, &credentials.password, session.client())
        .await?;
    let cookie = cookie(session.replace(&feed, &token).await?);
    Ok((cookie, Json(account)).into_response())
}

/// Sign out
///
/// Ends the session and clears its cookie. Signing out twice has the same effect as once.
#[utoipa::path(delete, path = "/session", tag = "Accounts", operation_id = "signOut",
    responses((status = 204, description = "The session has ended.", headers(
        ("set-cookie" = String, description = "Clears the session."),
        ("clear-site-data" = String, description = "Drops the pages that the browser kept.")
    )))
)]
async fn sign_out(State(feed): State<Feed>, Reader(session): Reader) -> Answer<Response> {
    session.end(&feed).await?;
    Ok(signed_out(&session))
}

/// Who is signed in
#[utoipa::path(get, path = "/me", tag = "Accounts", operation_id = "getMe",
    security(("session" = [])),
    responses((status = 200, description = "The signed-in account.", body = Account))
)]
async fn me(Reader(session): Reader) -> Answer<Json<Account>> {
    Ok(Json(session.require()?.clone()))
}

/// Change your name or bio
#[utoipa::path(patch, path = "/me", tag = "Accounts", operation_id = "describeMe",
    security(("session" = [])),
    request_body = Description,
    responses((status = 200, description = "The account as it is now.", body = Account))
)]
async fn describe(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<Description>,
) -> Answer<Json<Account>> {
    let Account { handle, name, bio } = session.require()?.clone();
    let name = new.name.map_or(Ok(name), |name| name.parse::<DisplayName>());
    let (name, bio) = both(name, new.bio.unwrap_or(bio).parse::<Bio>())?;
    Ok(Json(feed.accounts().describe(&handle, name, bio).await?))
}

/// Change your password
///
/// All sessions end, here and elsewhere, and the answer sets the cookie of a new one. Recovery codes end, too.
#[utoipa::path(put, path = "/me/password", tag = "Accounts", operation_id = "changePassword",
    security(("session" = [])),
    request_body = NewPassword,
    responses((status = 204, description = "The password is changed.", headers(
        ("set-cookie" = String, description = "The new session.")
    )))
)]
async fn change_password(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewPassword>,
) -> Answer<Response> {
    let handle = &session.require()?.handle;
    let (present, new, client) = (&new.password, &new.new_password, session.client());
    let changed = feed
        .accounts()
        .change_password(handle, present, new, client)
        .await;
    let token = changed.map_err(|problem| match problem.field.as_deref() {
        Some("new_password") => problem.about("newPassword"),
        _ => problem,
    })?;
    Ok((
        StatusCode::NO_CONTENT,
        cookie(session.replace(&feed, &token).await?),
    )
        .into_response())
}

/// Export your data
///
/// Everything that the store has of the person, as a file to keep; one at a time. If the export fails, the connection breaks, so that
/// a part of it cannot be taken for the whole.
#[utoipa::path(get, path = "/me/export", tag = "Accounts", operation_id = "exportMe",
    security(("session" = [])),
    responses((status = 200, description = "Everything that is stored about the person.", body = Export, headers(
        ("content-disposition" = String, description = "A name for the file.")
    )))
)]
async fn export(State(feed): State<Feed>, Reader(session): Reader) -> Answer<Response> {
    let (Account { handle: actor, .. }, token) = session.require_token()?;
    let pieces = feed.accounts().export(actor, token, session.client()).await?;
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"spillway-{actor}.json\""),
        ),
    ];
    Ok((headers, Content::from_stream(pieces)).into_response())
}

/// Delete your account
///
/// Deletes the account with its posts, comments, likes, shares and follows. It cannot be undone.
#[utoipa::path(delete, path = "/me", tag = "Accounts", operation_id = "leave",
    security(("session" = [])),
    request_body = AccountDeletion,
    responses((status = 204, description = "The account is deleted, and its session has ended.", headers(
        ("set-cookie" = String, description = "Clears the session."),
        ("clear-site-data" = String, description = "Drops the pages that the browser kept.")
    )))
)]
async fn delete_account(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(deletion): Body<AccountDeletion>,
) -> Answer<Response> {
    feed.accounts()
        .delete_account(&session.require()?.handle, &deletion.password, session.client())
        .await?;
    Ok(signed_out(&session))
}

/// The answer that makes a browser forget its session and the pages that it kept.
fn signed_out(session: &Session) -> Response {
    let cookie = cookie(session.cookies().clear());
    (StatusCode::NO_CONTENT, cookie, [CLEAR_CACHE]).into_response()
}

fn cookie(value: HeaderValue) -> [(HeaderName, HeaderValue); 1] {
    [(SET_COOKIE, value)]
}
