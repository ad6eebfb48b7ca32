use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use feed::Feed;
use model::{Handle, Kind, PostCard, Problem, Timestamp};
use tokio::sync::Mutex;
use web::{ErrorResponse, Origin};

use super::xml::Xml;
use super::{Outside, answer};

/// How many of the newest posts, and as many of the most liked ones, are in the sitemap. With their authors and the two
/// lists of everybody's posts it has at most four times as many addresses and two; 50,000 are allowed.
const MOST: usize = 500;

/// How long one reading of the store serves all requests.
const KEPT: Duration = Duration::from_mins(5);

/// The posts of the sitemap as they were read last, and when. One request reads them, others wait for it.
#[derive(Default)]
pub struct Sitemap(Mutex<Option<(Timestamp, Arc<[PostCard]>)>>);

impl Sitemap {
    async fn posts(&self, feed: &Feed) -> Result<Arc<[PostCard]>, Problem> {
        let mut kept = self.0.lock().await;
        let now = feed.now();
        if let Some((at, posts)) = &*kept {
            let age = u64::try_from(now.millis() - at.millis()).map(Duration::from_millis);
            if age.is_ok_and(|age| age < KEPT) {
                return Ok(Arc::clone(posts));
            }
        }
        let posts: Arc<[PostCard]> = feed.posts().findable(MOST).await?.into();
        *kept = Some((now, Arc::clone(&posts)));
        Ok(posts)
    }
}

/// The addresses of the newest and the most liked posts, and of their authors.
pub async fn show(State(outside): State<Outside>, request: Request) -> Response {
    let written = match outside.sitemap.posts(&outside.feed).await {
        Ok(posts) => written(&outside.origin(&request), &posts),
        Err(problem) => Err(problem),
    };
    match written {
        Ok(text) => answer(request.headers(), "application/xml", text),
        Err(problem) => ErrorResponse::from(problem).into_response(),
    }
}

fn written(origin: &Origin, posts: &[PostCard]) -> Result<String, Problem> {
    let mut authors = BTreeMap::<&Handle, Timestamp>::new();
    for card in posts {
        let latest = authors.entry(&card.post.author.handle).or_insert(card.post.at);
        *latest = card.post.at.max(*latest);
    }
    let lists = ["/", "/explore"].map(|path| (path.to_owned(), None));
    let posts = posts.iter().map(|card| {
        (
            format!("/post/{}", card.post.id),
            Some(card.post.edited_at.unwrap_or(card.post.at)),
        )
    });
    let authors = authors
        .into_iter()
        .map(|(author, latest)| (format!("/@{author}"), Some(latest)));
    let entries = lists.into_iter().chain(posts).chain(authors);
    let addresses: Option<Vec<_>> = entries
        .map(|(path, changed)| Some((origin.absolute(&path)?, changed)))
        .collect();
    let addresses = addresses.ok_or_else(|| {
        Problem::new(
            Kind::NotFound,
            "A sitemap has absolute addresses. Start the server with SPILLWAY_PUBLIC_URL set to the address of this site.",
        )
    })?;
    let namespace = [("xmlns", "http://www.sitemaps.org/schemas/sitemap/0.9")];
    Ok(Xml::document("urlset", &namespace, |xml| {
        for (address, changed) in &addresses {
            xml.within("url", &[], |xml| {
                xml.text("loc", address);
                if let Some(changed) = changed {
                    xml.text("lastmod", &changed.to_string());
                }
            });
        }
    }))
}
