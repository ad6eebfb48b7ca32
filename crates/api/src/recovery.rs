//! `/me/recovery-codes` and `/recovery`: back into an account whose password is lost.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::Feed;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Actor, Body, Reader};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(left, make))
        .routes(routes!(recover))
}

/// The confirmation of making new codes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewCodes {
    /// The current password.
    #[schema(format = Password, examples("correct horse"))]
    password: String,
}

/// New recovery codes.
#[derive(Serialize, ToSchema)]
struct Codes {
    /// The codes. They cannot be seen again.
    codes: Vec<String>,
}

/// How many recovery codes there are.
#[derive(Serialize, ToSchema)]
struct CodesLeft {
    /// How many were not used yet; 0 if none were made.
    #[schema(minimum = 0, maximum = 8)]
    left: usize,
}

/// A recovery code and a new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Recovered {
    /// The handle, in any form that signing up accepts.
    #[schema(examples("ada"))]
    handle: String,
    /// One of the account's codes: upper or lower case, with or without hyphens.
    #[schema(examples("0a1b-2c3d-4e5f-6g7h-8j9k-mnpq"))]
    code: String,
    /// The new password: 8 to 200 characters, and none of the most common passwords.
    #[schema(min_length = 8, max_length = 200, format = Password, examples("battery staple"))]
    new_password: String,
}

/// Count your recovery codes
#[utoipa::path(get, path = "/me/recovery-codes", tag = "Accounts", operation_id = "countRecoveryCodes",
    security(("session" = [])),
    responses((status = 200, description = "How many are left.", body = CodesLeft))
)]
async fn left(State(feed): State<Feed>, Actor(actor): Actor) -> Answer<Json<CodesLeft>> {
    let left = feed.accounts().recovery_codes_left(&actor).await?;
    Ok(Json(CodesLeft { left }))
}

/// Make recovery codes
///
/// Eight codes, each of which can replace a lost password once. They replace the codes from before. People of the demo
/// town have no password and get none.
#[utoipa::path(put, path = "/me/recovery-codes", tag = "Accounts", operation_id = "makeRecoveryCodes",
    security(("session" = [])),
    request_body = NewCodes,
    responses((status = 200, description = "The new codes.", body = Codes))
)]
async fn make(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<NewCodes>,
) -> Answer<Json<Codes>> {
    let handle = &session.require()?.handle;
    let accounts = feed.accounts();
    let codes = accounts.make_recovery_codes(handle, &new.password, session.client());
    Ok(Json(Codes { codes: codes.await? }))
}

/// Set a new password with a recovery code
///
/// The code is used up, and all sessions of the account end. The answer does not reveal whether the handle or the code was
/// wrong. Tries are limited like those to sign in.
#[utoipa::path(post, path = "/recovery", tag = "Accounts", operation_id = "recover",
    request_body = Recovered,
    responses((status = 204, description = "The password is changed."))
)]
async fn recover(
    State(feed): State<Feed>,
    Reader(session): Reader,
    Body(new): Body<Recovered>,
) -> Answer<StatusCode> {
    let accounts = feed.accounts();
    let recovered = accounts.recover(&new.handle, &new.code, &new.new_password, session.client());
    recovered
        .await
        .map_err(|problem| match problem.field.as_deref() {
            Some("new_password") => problem.about("newPassword"),
            _ => problem,
        })?;
    Ok(StatusCode::NO_CONTENT)
}
