//! `/reports`: what people tell the operator.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::Feed;
use model::{Report, ReportTarget, ReportText};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ProblemBody;

use crate::extract::{Actor, Body};
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(send))
}

/// A report to send.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewReport {
    /// What it is about: `user:{handle}`, `post:{id}` or `comment:{id of the post}:{id}`.
    #[schema(
        pattern = "^(user:[a-z0-9][a-z0-9_-]{1,29}|(post|comment:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$",
        examples("post:0198c0de-7000-8000-a1b2-c3d4e5f60718")
    )]
    target: String,
    /// What is wrong with it.
    #[schema(value_type = ReportText)]
    text: String,
}

/// Report a person, a post or a comment
///
/// The people who run the site read it and decide; nobody else is told. Sent again about the same target, it changes
/// nothing: the answer is the first report.
#[utoipa::path(post, path = "/reports", tag = "Mutes and blocks", operation_id = "report",
    security(("session" = [])),
    request_body = NewReport,
    responses(
        (status = 201, description = "The report.", body = Report),
        (status = 404, description = "There is no such person, post or comment.", body = ProblemBody, content_type = "application/problem+json")
    )
)]
async fn send(
    State(feed): State<Feed>,
    Actor(actor): Actor,
    Body(new): Body<NewReport>,
) -> Answer<(StatusCode, Json<Report>)> {
    let (target, text): (ReportTarget, ReportText) = (new.target.parse()?, new.text.parse()?);
    let report = feed.reports().send(&actor, target, text).await?;
    Ok((StatusCode::CREATED, Json(report)))
}
