//! What other programs read of the site: feeds for feed readers, what search engines ask for, and pictures for links.

mod card;
mod feeds;
mod sitemap;
mod xml;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use feed::Feed;
use web::{Origin, PublicAddress, Version};

use self::card::Cards;
use self::sitemap::Sitemap;

/// What the answers are made from.
#[derive(Clone)]
struct Outside {
    feed: Feed,
    public: PublicAddress,
    sitemap: Arc<Sitemap>,
    cards: Cards,
}

impl Outside {
    fn origin(&self, request: &Request) -> Origin {
        self.public.origin(request.uri(), request.headers())
    }
}

/// The files that are made for a request. One of the same name in the site's folder is not served.
pub const FILES: [&str; 2] = ["robots.txt", "sitemap.xml"];

/// The routes. They show what anybody may see, and do not look at the session: caches may keep the answers.
pub fn router(feed: Feed, public: PublicAddress) -> Router {
    Router::new()
        .route("/{handle}/feed.atom", get(feeds::of_person))
        .route("/tags/{tag}/feed.atom", get(feeds::of_tag))
        .route("/explore/feed.atom", get(feeds::of_explore))
        .route("/post/{id}/card.png", get(card::show))
        .route("/sitemap.xml", get(sitemap::show))
        .route("/robots.txt", get(robots))
        .with_state(Outside {
            feed,
            public,
            sitemap: Arc::default(),
            cards: Cards::default(),
        })
}

/// What robots should leave out, and where the sitemap is, if the site's address is known.
async fn robots(State(outside): State<Outside>, request: Request) -> Response {
    let mut text = include_str!("robots.txt").to_owned();
    if let Some(sitemap) = outside.origin(&request).absolute("/sitemap.xml") {
        text.extend(["\nSitemap: ", &sitemap, "\n"]);
    }
    answer(request.headers(), "text/plain; charset=utf-8", text)
}

fn answer(request: &HeaderMap, kind: &'static str, text: String) -> Response {
    Version::of(&text).answer(request, kind, text)
}
