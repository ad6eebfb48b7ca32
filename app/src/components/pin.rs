use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{PostCard, PostId, Timestamp, Topic};
use ui::islands::Numbers;

use super::post;
use crate::actions::posts::SetPin;

/// Pins the reader's own post to their page, or no longer.
#[component]
pub fn PinForm(
    /// The post.
    post: PostId,
    /// Whether it is pinned.
    pinned: bool,
) -> impl IntoView {
    let (state, words) = if pinned {
        ("false", "Unpin from your profile")
    } else {
        ("true", "Pin to your profile")
    };
    view! {
        <form class="pin" method="post" action=SetPin::url()>
            <input type="hidden" name="post" value=post.to_string() />
            <button class="button" name="on" value=state>
                {words}
            </button>
        </form>
    }
}

/// The post that stands first on its author's page.
#[component]
pub fn PinnedPost(
    /// The post.
    card: PostCard,
    /// The reader's current time.
    now: Timestamp,
    /// Whether the reader is signed in.
    signed_in: bool,
    /// Whether the reader wrote it.
    own: bool,
) -> impl IntoView {
    let topic = Topic::Post(card.post.id).to_string();
    view! {
        <section class="pinned" aria-labelledby="pinned">
            <h2 id="pinned">"Pinned"</h2>
            <article class="entry post" data-testid="pinned-post" data-topic=topic>
                <Numbers>{post(card, now, signed_in, own)}</Numbers>
            </article>
        </section>
    }
}
