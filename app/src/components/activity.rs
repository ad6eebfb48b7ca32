use leptos::prelude::*;
use model::{ActivityKind, Timestamp};

use super::{Moment, beginning};
use feed::Deed;

/// Something that a person did, and to what.
#[component]
pub fn ActivityRow(
    /// What.
    deed: Deed,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let object = object(&deed);
    let Deed {
        activity, post, user, ..
    } = deed;
    let object = if let Some(user) = user {
        view! {
            <a href=format!("/@{}", user.handle)>
                <bdi>{object}</bdi>
            </a>
        }
        .into_any()
    } else if let Some((_, text)) = post {
        view! {
            <a href=activity.post.map(|post| format!("/post/{post}"))>
                <bdi>{object}</bdi>
            </a>
            " "
            <q class="activity-text" dir="auto">
                {beginning(text.as_str())}
            </q>
        }
        .into_any()
    } else {
        object.into_any()
    };
    view! {
        <p class="activity">
            <span>{did(activity.kind)} " " {object}</span>
            <Moment at=activity.at now />
        </p>
    }
}

/// What a person did, as a word before what they did it to.
pub fn did(kind: ActivityKind) -> &'static str {
    match kind {
        ActivityKind::Post => "Wrote",
        ActivityKind::Like => "Liked",
        ActivityKind::Comment => "Commented on",
        ActivityKind::Share => "Shared",
        ActivityKind::Follow => "Followed",
    }
}

/// What it was done to, in words.
pub fn object(deed: &Deed) -> String {
    match (&deed.user, &deed.post) {
        (Some(user), _) => user.name.to_string(),
        (None, Some(_)) if deed.activity.kind == ActivityKind::Post => "a post".to_owned(),
        (None, Some((author, _))) if author.handle == deed.by => "their own post".to_owned(),
        (None, Some((author, _))) => format!("{}’s post", author.name),
        (None, None) if deed.activity.post.is_some() => "a post that is gone".to_owned(),
        (None, None) => "somebody who is gone".to_owned(),
    }
}
