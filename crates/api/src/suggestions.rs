//! `/suggestions`.

use axum::Json;
use axum::extract::State;
use feed::Feed;
use model::{FoundPerson, Listing};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::Actor;
use crate::{Answer, Api};

/// How many people are suggested.
const MOST: usize = 10;

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(suggestions))
}

/// Whom to follow
///
/// At most ten people whom the reader does not follow: first people followed by those whom the reader follows, then the
/// authors of the most liked posts.
#[utoipa::path(get, path = "/suggestions", tag = "People", operation_id = "suggestPeople",
    security(("session" = [])),
    responses((status = 200, description = "All of them, in one part.", body = Listing<FoundPerson>))
)]
async fn suggestions(State(feed): State<Feed>, Actor(actor): Actor) -> Answer<Json<Listing<FoundPerson>>> {
    let items = feed.people().suggestions(&actor, MOST).await?;
    Ok(Json(Listing {
        total: items.len() as u64,
        items,
        next: None,
        seams: Vec::new(),
    }))
}
