//! The JSON API as this server offers it: the crate `api`, and the workshop's routes.

use std::sync::LazyLock;

use ::api::{Api, Description};
use axum::Router;
use feed::Feed;
use utoipa_axum::router::OpenApiRouter;

use crate::http::described_health;
use crate::shutdown::Phases;
use crate::wing;

/// The description of all routes. It does not change while the program runs.
pub static DESCRIPTION: LazyLock<Description> =
    LazyLock::new(|| Description::of(routes(), described_health(), wing::EXAMPLES));

/// All routes below `/api`.
pub fn router(feed: Feed, phases: Phases) -> Router {
    ::api::router(routes(), Api::new(feed, &DESCRIPTION, phases.closing()))
}

fn routes() -> OpenApiRouter<Api> {
    ::api::routes().merge(wing::api())
}
