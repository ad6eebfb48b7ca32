//! `/sessions`: where the reader is signed in.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::Feed;
use model::SignIns;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Reader, SessionPath};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(list, end_others))
        .routes(routes!(end))
}

/// Where you are signed in
///
/// At most 20 sessions: when one more begins, the one that was not used for the longest time ends. Everybody may be signed
/// in as the same person of the demo town, so there it is only the session of this request.
#[utoipa::path(get, path = "/sessions", tag = "Accounts", operation_id = "listSessions",
    security(("session" = [])),
    responses((status = 200, description = "The sessions of the signed-in account.", body = SignIns))
)]
async fn list(State(feed): State<Feed>, Reader(session): Reader) -> Answer<Json<SignIns>> {
    let (account, token) = session.require_token()?;
    Ok(Json(feed.accounts().sessions(&account.handle, token).await?))
}

/// Sign out everywhere else
///
/// Ends all sessions of the account except the one of this request.
#[utoipa::path(delete, path = "/sessions", tag = "Accounts", operation_id = "endOtherSessions",
    security(("session" = [])),
    responses((status = 204, description = "All other sessions have ended."))
)]
async fn end_others(State(feed): State<Feed>, Reader(session): Reader) -> Answer<StatusCode> {
    let (account, token) = session.require_token()?;
    let accounts = feed.accounts();
    accounts
        .end_other_sessions(&account.handle, token, session.client())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End a session
///
/// The browser or program that it belongs to is signed out.
#[utoipa::path(delete, path = "/sessions/{id}", tag = "Accounts", operation_id = "endSession",
    security(("session" = [])),
    params(SessionPath),
    responses((status = 204, description = "The session has ended."))
)]
async fn end(
    State(feed): State<Feed>,
    Reader(session): Reader,
    SessionPath(ended): SessionPath,
) -> Answer<StatusCode> {
    let actor = &session.require()?.handle;
    feed.accounts()
        .end_session(actor, &ended, session.client())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
