use leptos::prelude::*;
use model::{Handle, Post, Relation};

use super::{Icon, grouped};
use crate::forms::{SET_FOLLOW, SET_LIKE, SET_SHARE};

/// Likes and shares a post, or takes that back, and leads to its comments.
#[component]
pub fn Reactions(
    /// The post. The labels name its author, for screen reader users who hear a button without its context.
    post: Post,
    /// Whether the reader is signed in.
    signed_in: bool,
) -> impl IntoView {
    let about = format!("the post by {}", post.author.name);
    let href = format!("/post/{}", post.id);
    let like = Toggle::of(Relation::Likes, SET_LIKE, post.liked, signed_in);
    let share = Toggle::of(Relation::Shares, SET_SHARE, post.shared, signed_in);
    let reactions = view! {
        <button
            class="reaction reaction-like"
            data-testid="like-button"
            aria-pressed=like.pressed
            formaction=like.action
            name=like.name
            value=like.value
            data-relation=like.relation
        >
            {Icon::Heart.view()}
            <span class="sr-only">{format!("Like {about}. Likes: ")}</span>
            <span data-testid="like-count" data-number="likes" data-count=like.value.map(|_| post.likes)>
                {grouped(post.likes)}
            </span>
        </button>
        <a class="reaction" href=href.clone()>
            {Icon::Bubble.view()}
            <span class="sr-only">{format!("Comments on {about}: ")}</span>
            <span data-number="comments">{grouped(post.comments)}</span>
        </a>
        <button
            class="reaction reaction-share"
            data-testid="share-button"
            aria-pressed=share.pressed
            formaction=share.action
            name=share.name
            value=share.value
            data-relation=share.relation
        >
            {Icon::Share.view()}
            <span class="sr-only">{format!("Share {about}. Shares: ")}</span>
            <span data-number="shares" data-count=share.value.map(|_| post.shares)>
                {grouped(post.shares)}
            </span>
        </button>
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
    let toggle = Toggle::of(Relation::Followers, SET_FOLLOW, followed, signed_in);
    let button = view! {
        <button
            class="button button-follow"
            data-testid="follow-button"
            aria-pressed=toggle.pressed
            formaction=toggle.action
            name=toggle.name
            value=toggle.value
            data-relation=toggle.relation
        >
            <span class="when-off">"Follow"</span>
            <span class="when-on">"Following"</span>
            <span class="sr-only">{format!(" @{handle}")}</span>
        </button>
    };
    form(
        "toggle",
        ("handle", handle.to_string()),
        format!("/@{handle}"),
        signed_in,
        button,
    )
}

/// The attributes of a toggle's button. It sends the state that a click asks for, if the reader is signed in.
struct Toggle {
    pressed: &'static str,
    action: Option<&'static str>,
    name: Option<&'static str>,
    value: Option<&'static str>,
    relation: Option<&'static str>,
}

impl Toggle {
    fn of(relation: Relation, action: &'static str, active: bool, signed_in: bool) -> Self {
        let truth = |truth: bool| if truth { "true" } else { "false" };
        Self {
            pressed: truth(active),
            action: signed_in.then_some(action),
            name: signed_in.then_some("on"),
            value: signed_in.then(|| truth(!active)),
            relation: signed_in.then(|| relation.as_str()),
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
