use std::sync::{Arc, LazyLock};

use ahash::RandomState;
use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use model::{PostCard, Timestamp};
use moka::sync::Cache;
use ui::components::Post;

use crate::render::outside_of_requests;

/// What the HTML of a post depends on. Nothing else reaches it: it is rendered outside of any request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PostKey {
    card: PostCard,
    ago: String,
    edited: Option<String>,
    quoted: Option<String>,
    quoted_edited: Option<String>,
    signed_in: bool,
    own: bool,
    found: Vec<String>,
}

impl PostKey {
    fn render(&self) -> Arc<str> {
        let Self {
            card,
            ago,
            edited,
            quoted,
            quoted_edited,
            signed_in,
            own,
            found,
        } = self.clone();
        outside_of_requests(|| view! { <Post card ago edited quoted quoted_edited signed_in own found /> })
            .into()
    }
}

/// The bytes of HTML that are kept.
const KEPT: u64 = 8 * 1024 * 1024;

static RENDERED: LazyLock<Cache<PostKey, Arc<str>, RandomState>> = LazyLock::new(|| {
    Cache::builder()
        .max_capacity(KEPT)
        .weigher(|key: &PostKey, html: &Arc<str>| {
            let bytes = html.len() + key.card.post.text.as_str().len() + size_of::<PostKey>();
            bytes.try_into().unwrap_or(u32::MAX)
        })
        // Its keys are whole posts, and the standard library's hash takes longer than the rest of finding one.
        .build_with_hasher(RandomState::new())
});

/// A post in a list or on its own page. Its HTML is rendered once for all readers who see the same.
pub fn post(card: PostCard, now: Timestamp, signed_in: bool, own: bool) -> impl IntoView {
    found_post(card, now, signed_in, own, Vec::new())
}

/// The same for a post that was found by these words, which are marked.
pub fn found_post(
    card: PostCard,
    now: Timestamp,
    signed_in: bool,
    own: bool,
    found: Vec<String>,
) -> impl IntoView {
    let quote = card.post.quote.as_ref();
    let ago = |at: Timestamp| at.ago(now);
    let key = PostKey {
        ago: ago(card.post.at),
        edited: card.post.edited_at.map(ago),
        quoted: quote.and_then(|quote| quote.at).map(ago),
        quoted_edited: quote.and_then(|quote| quote.edited_at).map(ago),
        card,
        signed_in,
        own,
        found,
    };
    // What one search finds is marked for that search alone.
    let html = if key.found.is_empty() {
        RENDERED.get_with_by_ref(&key, || key.render())
    } else {
        key.render()
    };
    InertElement::new(html.to_string())
}
