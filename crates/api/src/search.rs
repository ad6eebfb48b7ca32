//! `/search`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use feed::Feed;
use model::{Cursor, FoundPerson, Listing, Post, Search};
use serde::Serialize;
use store::posts::Order;
use utoipa::openapi::schema::{AnyOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::ErrorResponse;

use crate::extract::{Reader, Stretch, choice, query};
use crate::posts::posts;
use crate::{Answer, Api};

pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(search))
}

/// `?q&kind&order`: what to find.
pub struct Wanted {
    search: Search,
    results: Results,
}

enum Results {
    Posts(Order),
    People,
}

impl<S: Sync> FromRequestParts<S> for Wanted {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let (mut search, mut people, mut order) = (None, false, Order::Newest);
        for (name, value) in query(parts)? {
            match name.as_str() {
                "q" => search = Some(value.parse()?),
                "kind" => people = choice(&name, &value, ["posts", "people"])?,
                "order" if choice(&name, &value, ["newest", "liked"])? => order = Order::MostLiked,
                "order" => order = Order::Newest,
                _ => {}
            }
        }
        Ok(Self {
            search: match search {
                Some(search) => search,
                None => "".parse()?,
            },
            results: if people {
                Results::People
            } else {
                Results::Posts(order)
            },
        })
    }
}

/// What was found.
#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Posts(Listing<Post>),
    People(Listing<FoundPerson>),
}

// An empty listing is one of either kind, so it is not "one of" them.
impl PartialSchema for Found {
    fn schema() -> RefOr<Schema> {
        let kinds = AnyOfBuilder::new()
            .item(Ref::from_schema_name("Listing_Post"))
            .item(Ref::from_schema_name("Listing_FoundPerson"));
        kinds.into()
    }
}

impl ToSchema for Found {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("Listing_FoundPerson".to_owned(), Listing::<FoundPerson>::schema()));
        schemas.push(("FoundPerson".to_owned(), FoundPerson::schema()));
        <Listing<FoundPerson>>::schemas(schemas);
        <Listing<Post>>::schemas(schemas);
    }
}

/// Find posts or people
///
/// Posts that have all of the words, by default the newest first. People whose handle or name has words that begin so, in one
/// part: first those among the hundred whom the reader followed last, then the others, each with the most followers first. Of
/// very many, the first 200 in alphabetical order are looked at.
///
/// Each answer reads a bounded number of posts, those with the rarest of the words. So there may be a `next` although there
/// are few or no `items`, and `total` is a lower bound. The most liked are those of the newest 500.
#[utoipa::path(get, path = "/search", tag = "Search", operation_id = "search",
    params(Wanted, Stretch),
    responses((status = 200, description = "A part of what was found.", body = Found))
)]
async fn search(
    State(feed): State<Feed>,
    reader: Reader,
    Wanted { search, results }: Wanted,
    Stretch(paging): Stretch,
) -> Answer<Json<Found>> {
    Ok(Json(match results {
        Results::Posts(order) => {
            let found = feed.posts().search(&search, order, reader.handle(), paging);
            Found::Posts(posts(found.await?))
        }
        Results::People if paging.after.is_some() => return Err(Cursor::invalid().into()),
        Results::People => Found::People(
            feed.people()
                .search(&search, reader.handle(), paging.limit)
                .await?,
        ),
    }))
}
