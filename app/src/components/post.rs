use std::sync::{Arc, LazyLock};

use hydration_context::SsrSharedContext;
use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use model::{PostCard, Timestamp};
use moka::sync::Cache;
use ui::components::Post;

/// What the HTML of a post depends on. Nothing else reaches it: it is rendered outside of any request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PostKey {
    card: PostCard,
    ago: String,
    signed_in: bool,
    own: bool,
}

impl PostKey {
    fn render(self) -> String {
        let Self {
            card,
            ago,
            signed_in,
            own,
        } = self;
        let request = Owner::current();
        // What a request provides cannot be found from a root. Making one makes it the current owner.
        let outside = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
        let html = outside.with(|| view! { <Post card ago signed_in own /> }.to_html());
        if let Some(request) = request {
            request.set();
        }
        html
    }
}

/// The bytes of HTML that are kept.
const KEPT: u64 = 8 * 1024 * 1024;

static RENDERED: LazyLock<Cache<PostKey, Arc<str>>> = LazyLock::new(|| {
    Cache::builder()
        .max_capacity(KEPT)
        .weigher(|key: &PostKey, html: &Arc<str>| {
            let bytes = html.len() + key.card.post.text.as_str().len() + size_of::<PostKey>();
            bytes.try_into().unwrap_or(u32::MAX)
        })
        .build()
});

/// A post in a list or on its own page. Its HTML is rendered once for all readers who see the same.
pub fn post(card: PostCard, now: Timestamp, signed_in: bool, own: bool) -> impl IntoView {
    let key = PostKey {
        ago: card.post.at.ago(now),
        card,
        signed_in,
        own,
    };
    let html = RENDERED.get(&key).unwrap_or_else(|| {
        let html: Arc<str> = key.clone().render().into();
        RENDERED.insert(key, Arc::clone(&html));
        html
    });
    InertElement::new(html.to_string())
}
