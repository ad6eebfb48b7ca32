//! `/lab/storm`, `/lab/migrate` and `/lab/tune`: the workshop's measurements. Their forms are sent to server
//! functions. `layouts` are raced by the API, too.

mod layouts;

use ::api::{Answer, Api};
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::Workshop;
use crate::report::{Migration, Storm, TunedList};

/// An example of everything that is sent and answered here.
pub const EXAMPLES: &str = include_str!("examples.json");

/// The routes of all stations.
pub fn routes() -> OpenApiRouter<Api> {
    layouts::routes()
        .routes(routes!(last_storm))
        .routes(routes!(last_migration))
        .routes(routes!(last_tuned_list))
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
async fn last_storm(Extension(workshop): Extension<Workshop>) -> Answer<Json<LastStorm>> {
    Ok(Json(LastStorm {
        storm: workshop.storm(),
    }))
}

/// The migration of the workshop
///
/// The one that goes on in this server, or its last one: what `detect` found before and afterwards, how the list was stored
/// while people liked the post, and what the documents say in the end. It has the numbers of the tables at `/lab/migrate`.
#[utoipa::path(get, path = "/lab/migrate", tag = "Workshop", operation_id = "getMigration",
    responses((status = 200, description = "The migration.", body = Migration))
)]
async fn last_migration(Extension(workshop): Extension<Workshop>) -> Json<Migration> {
    Json(workshop.migration())
}

/// The last list of the tuner, if there was one.
#[derive(Serialize, ToSchema)]
struct LastTunedList {
    /// It is being laid out until it is `finished` or `failed`.
    list: Option<TunedList>,
}

/// The list of the workshop's tuner
///
/// The one that is being laid out in this server, or its last one: the limits that were chosen, and what the documents say that
/// they cost. It has the numbers of the table at `/lab/tune`.
#[utoipa::path(get, path = "/lab/tune", tag = "Workshop", operation_id = "getTunedList",
    responses((status = 200, description = "The list.", body = LastTunedList))
)]
async fn last_tuned_list(Extension(workshop): Extension<Workshop>) -> Json<LastTunedList> {
    let list = workshop.tuned_list().map(|shown| shown.list);
    Json(LastTunedList { list })
}
