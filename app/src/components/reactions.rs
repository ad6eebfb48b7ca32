use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Handle, PostId};

use super::{Icon, Toggle, grouped};
use crate::actions::people::{SetFollow, set_follow};
use crate::actions::posts::{SetLike, SetShare, set_like, set_share};

/// Likes a post, or takes the like back.
#[component]
pub fn LikeButton(
    /// The post.
    post: PostId,
    /// Its likes.
    likes: Toggle,
    /// Whether the reader is somebody.
    signed_in: bool,
) -> impl IntoView {
    let form = ToggleForm {
        action: SetLike::url(),
        subject: ("post", post.to_string()),
        next: format!("/post/{post}"),
        signed_in,
    };
    let flip = move || likes.flip(move |on| set_like(post.to_string(), on));
    form.view(
        likes,
        flip,
        view! {
            <button
                class="reaction reaction-like"
                data-testid="like-button"
                aria-pressed=move || likes.active().to_string()
                aria-label=move || format!("Like: {}", likes.count())
            >
                {Icon::Heart.view()}
                <span data-testid="like-count">{move || grouped(likes.count())}</span>
            </button>
        },
    )
}

/// Shares a post, or takes the share back.
#[component]
pub fn ShareButton(
    /// The post.
    post: PostId,
    /// Its shares.
    shares: Toggle,
    /// Whether the reader is somebody.
    signed_in: bool,
) -> impl IntoView {
    let form = ToggleForm {
        action: SetShare::url(),
        subject: ("post", post.to_string()),
        next: format!("/post/{post}"),
        signed_in,
    };
    let flip = move || shares.flip(move |on| set_share(post.to_string(), on));
    form.view(
        shares,
        flip,
        view! {
            <button
                class="reaction reaction-share"
                data-testid="share-button"
                aria-pressed=move || shares.active().to_string()
                aria-label=move || format!("Share: {}", shares.count())
            >
                {Icon::Share.view()}
                <span>{move || grouped(shares.count())}</span>
            </button>
        },
    )
}

/// Follows a person, or stops following them.
#[component]
pub fn FollowButton(
    /// Whom.
    handle: Handle,
    /// Their followers.
    followers: Toggle,
    /// Whether the reader is somebody.
    signed_in: bool,
) -> impl IntoView {
    let form = ToggleForm {
        action: SetFollow::url(),
        subject: ("handle", handle.to_string()),
        next: format!("/@{handle}"),
        signed_in,
    };
    let name = StoredValue::new(handle.to_string());
    let flip = move || followers.flip(move |on| set_follow(name.get_value(), on));
    form.view(
        followers,
        flip,
        view! {
            <button
                class="button button-follow"
                data-testid="follow-button"
                aria-pressed=move || followers.active().to_string()
                aria-label=format!("Follow @{handle}")
            >
                {move || if followers.active() { "Following" } else { "Follow" }}
            </button>
        },
    )
}

/// The plain form around a toggle's button. An island takes it over; a reader who is not signed in is led to do so
/// and back.
struct ToggleForm {
    action: &'static str,
    subject: (&'static str, String),
    next: String,
    signed_in: bool,
}

impl ToggleForm {
    fn view(
        self,
        toggle: Toggle,
        flip: impl Fn() + Send + Sync + 'static,
        button: impl IntoView + 'static,
    ) -> impl IntoView {
        if !self.signed_in {
            return view! {
                <form class="toggle" action="/login">
                    <input type="hidden" name="next" value=self.next />
                    {button}
                </form>
            }
            .into_any();
        }
        let take_over = move |submit: SubmitEvent| {
            submit.prevent_default();
            flip();
        };
        let (name, value) = self.subject;
        view! {
            <form class="toggle" method="post" action=self.action on:submit=take_over>
                <input type="hidden" name=name value=value />
                <input type="hidden" name="on" value=move || (!toggle.active()).to_string() />
                {button}
                {move || {
                    toggle.problem().map(|message| view! { <p class="toggle-problem" role="alert">{message}</p> })
                }}
            </form>
        }
        .into_any()
    }
}
