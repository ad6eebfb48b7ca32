//! `/lab/layouts`: the workshop's race of the layouts, one at a time on a server.

use ::api::{Actor, Answer, Api, Body};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::Workshop;
use crate::layouts::lists::Size;
use crate::layouts::{Course, LARGEST};
use crate::report::LayoutRace;

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(show, start, stop))
}

/// A race to start.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewLayoutRace {
    #[schema(schema_with = lengths)]
    largest: u64,
    #[schema(schema_with = sizes)]
    item_bytes: u64,
}

fn lengths() -> Object {
    one_of("How many items the longest list has.", LARGEST)
}

fn sizes() -> Object {
    one_of("How many bytes of BSON an item has.", Size::ALL.map(Size::bytes))
}

fn one_of(words: &str, numbers: impl IntoIterator<Item = u64>) -> Object {
    ObjectBuilder::new()
        .description(Some(words))
        .schema_type(Type::Integer)
        .enum_values(Some(numbers))
        .build()
}

/// The race of the layouts
///
/// The one that goes on, or the last one since the server started. The charts of the workshop show these numbers.
#[utoipa::path(get, path = "/lab/layouts", tag = "Workshop", operation_id = "getLayoutRace",
    responses((status = 200, description = "What was measured so far.", body = LayoutRace))
)]
async fn show(Extension(workshop): Extension<Workshop>) -> Json<LayoutRace> {
    Json(workshop.layout_race())
}

/// Start a race of the layouts
///
/// It goes on in the background, on lists of its own in memory.
#[utoipa::path(post, path = "/lab/layouts", tag = "Workshop", operation_id = "startLayoutRace",
    security(("session" = [])),
    request_body = NewLayoutRace,
    responses(
        (status = 202, description = "The race before its first lap.", body = LayoutRace),
        (status = 409, description = "Another race is still going on.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn start(
    Extension(workshop): Extension<Workshop>,
    Actor(actor): Actor,
    Body(new): Body<NewLayoutRace>,
) -> Answer<(StatusCode, Json<LayoutRace>)> {
    let course = Course::new(new.largest, new.item_bytes)?;
    Ok((
        StatusCode::ACCEPTED,
        Json(workshop.start_layout_race(&actor, course)?),
    ))
}

/// Stop the race of the layouts
///
/// Sent again, it changes nothing. What was measured stays.
#[utoipa::path(delete, path = "/lab/layouts", tag = "Workshop", operation_id = "stopLayoutRace",
    security(("session" = [])),
    responses((status = 200, description = "What was measured.", body = LayoutRace))
)]
async fn stop(Extension(workshop): Extension<Workshop>, Actor(_): Actor) -> Answer<Json<LayoutRace>> {
    Ok(Json(workshop.stop_layout_race().await))
}
