use leptos::prelude::*;
use model::{ActivityKind, Timestamp};

use super::{Moment, beginning};
use crate::feed::Deed;

/// Something that a person did, and to what.
#[component]
pub fn ActivityRow(
    /// What.
    deed: Deed,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let Deed {
        activity,
        by,
        post,
        user,
    } = deed;
    let did = match activity.kind {
        ActivityKind::Post => "Wrote ",
        ActivityKind::Like => "Liked ",
        ActivityKind::Comment => "Commented on ",
        ActivityKind::Share => "Shared ",
        ActivityKind::Follow => "Followed ",
    };
    let object = if let Some(user) = user {
        view! {
            <a href=format!("/@{}", user.handle)>
                <bdi>{user.name.to_string()}</bdi>
            </a>
        }
        .into_any()
    } else if let Some((author, text)) = post {
        let whose = match activity.kind {
            ActivityKind::Post => "a post".to_owned(),
            _ if author.handle == by => "their own post".to_owned(),
            _ => format!("{}’s post", author.name),
        };
        view! {
            <a href=activity.post.map(|post| format!("/post/{post}"))>
                <bdi>{whose}</bdi>
            </a>
            " "
            <q class="activity-text" dir="auto">
                {beginning(text.as_str())}
            </q>
        }
        .into_any()
    } else if activity.post.is_some() {
        "a post that is gone".into_any()
    } else {
        "somebody who is gone".into_any()
    };
    view! {
        <p class="activity">
            <span>{did} {object}</span>
            <Moment at=activity.at now />
        </p>
    }
}
