use leptos::prelude::*;
use model::{DisplayName, Handle, PostId, ReactionState, Relation};

use super::{Icon, grouped};
use crate::forms::{SET_FOLLOW, SET_LIKE, SET_SHARE};

/// Likes a post, or takes the like back.
#[component]
pub fn LikeButton(
    /// The post.
    post: PostId,
    /// The author, for screen reader users who hear the button without its context.
    author: DisplayName,
    /// The like count, and whether the reader likes the post.
    likes: ReactionState,
    /// Whether the reader is signed in.
    signed_in: bool,
) -> impl IntoView {
    let form = ToggleForm {
        relation: Relation::Likes,
        action: SET_LIKE,
        subject: ("post", post.to_string()),
        next: format!("/post/{post}"),
        active: likes.active,
        signed_in,
    };
    form.view(view! {
        <button
            class="reaction reaction-like"
            data-testid="like-button"
            aria-pressed=likes.active.to_string()
        >
            {Icon::Heart.view()}
            <span class="visually-hidden">{format!("Like the post by {author}. Likes: ")}</span>
            <span data-testid="like-count" data-number="likes" data-count=likes.count>
                {grouped(likes.count)}
            </span>
        </button>
    })
}

/// Shares a post, or takes the share back.
#[component]
pub fn ShareButton(
    /// The post.
    post: PostId,
    /// The author, for screen reader users who hear the button without its context.
    author: DisplayName,
    /// The share count, and whether the reader shared the post.
    shares: ReactionState,
    /// Whether the reader is signed in.
    signed_in: bool,
) -> impl IntoView {
    let form = ToggleForm {
        relation: Relation::Shares,
        action: SET_SHARE,
        subject: ("post", post.to_string()),
        next: format!("/post/{post}"),
        active: shares.active,
        signed_in,
    };
    form.view(view! {
        <button
            class="reaction reaction-share"
            data-testid="share-button"
            aria-pressed=shares.active.to_string()
        >
            {Icon::Share.view()}
            <span class="visually-hidden">{format!("Share the post by {author}. Shares: ")}</span>
            <span data-number="shares" data-count=shares.count>
                {grouped(shares.count)}
            </span>
        </button>
    })
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
    let form = ToggleForm {
        relation: Relation::Followers,
        action: SET_FOLLOW,
        subject: ("handle", handle.to_string()),
        next: format!("/@{handle}"),
        active: followed,
        signed_in,
    };
    form.view(view! {
        <button
            class="button button-follow"
            data-testid="follow-button"
            aria-pressed=followed.to_string()
        >
            <span class="when-off">"Follow"</span>
            <span class="when-on">"Following"</span>
            <span class="visually-hidden">{format!(" @{handle}")}</span>
        </button>
    })
}

/// The plain form around a toggle's button. An island takes it over; a reader who is not signed in is sent to sign
/// in and then back.
struct ToggleForm {
    relation: Relation,
    action: &'static str,
    subject: (&'static str, String),
    next: String,
    active: bool,
    signed_in: bool,
}

impl ToggleForm {
    fn view(self, button: impl IntoView + 'static) -> impl IntoView {
        if !self.signed_in {
            return view! {
                <form class="toggle" action="/login">
                    <input type="hidden" name="next" value=self.next />
                    {button}
                </form>
            }
            .into_any();
        }
        let (name, value) = self.subject;
        view! {
            <form class="toggle" method="post" action=self.action data-relation=self.relation.as_str()>
                <input type="hidden" name=name value=value />
                <input type="hidden" name="on" value=(!self.active).to_string() autocomplete="off" />
                {button}
                <p class="toggle-problem" role="alert"></p>
            </form>
        }
        .into_any()
    }
}
