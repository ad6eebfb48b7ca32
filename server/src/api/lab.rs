//! `/lab/storm`: what the workshop measures. Its forms are at server functions.

use app::feed::Feed;
use axum::Json;
use axum::extract::State;
use model::Storm;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(last_storm))
}

/// The last storm, if there was one.
#[derive(Serialize, ToSchema)]
struct LastStorm {
    /// It goes on until its phase is `over` or `failed`.
    storm: Option<Storm>,
}

/// The storm of the workshop
///
/// The one that goes on in this server, or its last one: what was chosen, what each second was like, and what the documents
/// say in the end. It has the numbers of the charts at `/lab/storm`.
#[utoipa::path(get, path = "/lab/storm", tag = "Workshop", operation_id = "getStorm",
    responses((status = 200, description = "The storm.", body = LastStorm))
)]
async fn last_storm(State(feed): State<Feed>) -> Answer<Json<LastStorm>> {
    Ok(Json(LastStorm { storm: feed.storm() }))
}
