//! The picture that other sites show beside a link to a post (Open Graph): its author, its text and its meter.

mod avatar;
mod canvas;
mod font;
mod picture;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse as _, Response};
use feed::Feed;
use model::{Kind, PostId, Problem};
use moka::sync::Cache;
use web::{ErrorResponse, Version};

use self::picture::Picture;
use super::Outside;
use crate::http::{CORP, for_a_person};

/// The bytes of pictures that are kept.
const KEPT: u64 = 16 * 1024 * 1024;

/// The pictures that were drawn last. The key is all that is drawn, so nothing has to be invalidated.
#[derive(Clone)]
pub struct Cards(Cache<Picture, Bytes>);

impl Default for Cards {
    fn default() -> Self {
        let weigher = |_: &Picture, png: &Bytes| png.len().try_into().unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(KEPT).weigher(weigher).build())
    }
}

impl Cards {
    /// Draws a picture, if that has not been done. Several requests for one wait for the first.
    async fn png(&self, picture: Picture) -> Result<Bytes, Problem> {
        let cards = self.0.clone();
        let drawing = tokio::task::spawn_blocking(move || {
            let drawn = cards
                .entry(picture.clone())
                .or_optionally_insert_with(|| picture.png().map(Bytes::from));
            drawn.map(moka::Entry::into_value)
        });
        let drawn = drawing.await.ok().flatten();
        drawn.ok_or_else(|| Problem::new(Kind::Internal, "The picture could not be drawn."))
    }
}

/// `/post/{id}/card.png`.
pub async fn show(State(outside): State<Outside>, Path(id): Path<String>, request: Request) -> Response {
    match png(&outside.feed, &outside.cards, &id).await {
        Ok(png) => {
            let mut answer = Version::of(&png).answer(request.headers(), "image/png", png);
            // It is made for other sites.
            let headers = answer.headers_mut();
            headers.insert(CORP, HeaderValue::from_static("cross-origin"));
            answer
        }
        Err(problem) => ErrorResponse::from(problem)
            .respond(for_a_person(&request))
            .into_response(),
    }
}

async fn png(feed: &Feed, cards: &Cards, id: &str) -> Result<Bytes, Problem> {
    let missing = |_| Problem::new(Kind::NotFound, "There is no such post.");
    let id: PostId = id.parse().map_err(missing)?;
    let card = feed.posts().get(id, None).await?;
    cards.png(Picture::of(&card)).await
}
