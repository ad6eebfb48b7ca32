use leptos::prelude::*;
use model::{Handle, Post, PostId, Relation};

use super::grouped;
use crate::forms::{SET_BOOKMARK, SET_FOLLOW, SET_LIKE, SET_SHARE, truth};

/// Likes and shares a post, or takes that back, and leads to its comments. The style sheet draws the icons, and hides
/// each `span`, which is read aloud.
#[component]
pub fn Reactions(
    /// The post. The labels name its author, for screen reader users who hear a button without its context.
    post: Post,
    /// Whether the reader is signed in.
    signed_in: bool,
) -> impl IntoView {
    let about = format!("the post by {}", post.author.name);
    let href = format!("/post/{}", post.id);
    let toggle = |relation, action, active| Toggle {
        relation,
        action,
        active,
        signed_in,
    };
    let like = view! {
        <span>{format!("Like {about}. Likes: ")}</span>
        <b data-testid="like-count" data-number="likes" data-count=signed_in.then_some(post.likes)>
            {grouped(post.likes)}
        </b>
    };
    let share = view! {
        <span>{format!("Share {about}. Shares: ")}</span>
        <b data-number="shares" data-count=signed_in.then_some(post.shares)>
            {grouped(post.shares)}
        </b>
    };
    let reactions = view! {
        {toggle(Relation::Likes, SET_LIKE, post.liked).button("like", "like-button", like)}
        <a href=href.clone()>
            <span>{format!("Comments on {about}: ")}</span>
            <b data-number="comments">{grouped(post.comments)}</b>
        </a>
        {toggle(Relation::Shares, SET_SHARE, post.shared).button("share", "share-button", share)}
    };
    form(
        "reactions",
        ("post", post.id.to_string()),
        href,
        signed_in,
        reactions,
    )
}

/// Follows a person, or stops following them.
#[component]
pub fn FollowButton(
    /// The person.
    handle: Handle,
    /// Whether the reader follows them.
    followed: bool,
    /// Whether the reader is signed in.
    signed_in: bool,
) -> impl IntoView {
    let toggle = Toggle {
        relation: Relation::Followers,
        action: SET_FOLLOW,
        active: followed,
        signed_in,
    };
    let words = view! {
        <span class="when-off">"Follow"</span>
        <span class="when-on">"Following"</span>
        <span class="sr-only">{format!(" @{handle}")}</span>
    };
    form(
        "toggle",
        ("handle", handle.to_string()),
        format!("/@{handle}"),
        signed_in,
        toggle.button("button button-follow", "follow-button", words),
    )
}

/// Keeps a post among the reader's bookmarks, or no longer.
#[component]
pub fn BookmarkButton(
    /// The post.
    post: PostId,
    /// Whether the reader keeps it.
    kept: bool,
) -> impl IntoView {
    let toggle = Toggle {
        relation: Relation::Bookmarks,
        action: SET_BOOKMARK,
        active: kept,
        signed_in: true,
    };
    let words = view! {
        <span class="when-off">"Bookmark"</span>
        <span class="when-on">"Bookmarked"</span>
        // The island counts; how many one keeps is not shown.
        <span hidden data-number="bookmarks" data-count="0"></span>
    };
    let button = toggle.button("button button-follow button-keep", "bookmark-button", words);
    form("toggle", ("post", post.to_string()), String::new(), true, button)
}

/// What a toggle is about. Its button sends the state that a click asks for, if the reader is signed in.
struct Toggle {
    relation: Relation,
    action: &'static str,
    active: bool,
    signed_in: bool,
}

impl Toggle {
    fn button(
        self,
        class: &'static str,
        test_id: &'static str,
        inside: impl IntoView + 'static,
    ) -> impl IntoView {
        let Self {
            relation,
            action,
            active,
            signed_in,
        } = self;
        view! {
            <button
                class=class
                data-testid=test_id
                aria-pressed=truth(active)
                formaction=signed_in.then_some(action)
                name=signed_in.then_some("on")
                value=signed_in.then(|| truth(!active))
                data-relation=signed_in.then(|| relation.as_str())
            >
                {inside}
            </button>
        }
    }
}

/// The plain form around toggles. An island takes it over; a reader who is not signed in is sent to sign in and then
/// back.
fn form(
    class: &'static str,
    subject: (&'static str, String),
    next: String,
    signed_in: bool,
    buttons: impl IntoView + 'static,
) -> impl IntoView {
    let (name, value) = if signed_in { subject } else { ("next", next) };
    view! {
        <form class=class method=signed_in.then_some("post") action=(!signed_in).then_some("/login")>
            <input type="hidden" name=name value=value />
            {buttons}
            {signed_in.then(|| view! { <p class="toggle-problem" role="alert"></p> })}
        </form>
    }
}
