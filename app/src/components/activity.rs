use feed::ActivityEntry;
use leptos::prelude::*;
use model::{ActivityKind, Timestamp};
use ui::components::{Body, Moment, beginning};

/// An activity of a person, and its object.
#[component]
pub fn ActivityRow(
    /// The activity.
    entry: ActivityEntry,
    /// The reader's current time.
    now: Timestamp,
) -> impl IntoView {
    let object = object(&entry);
    let ActivityEntry {
        activity, post, user, ..
    } = entry;
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
                <Body text=beginning(text.as_str()) linked=false />
            </q>
        }
        .into_any()
    } else {
        object.into_any()
    };
    view! {
        <p class="activity">
            <span>{verb(activity.kind)} " " {object}</span>
            <Moment at=activity.at ago=activity.at.ago(now) />
        </p>
    }
}

/// What the person did, as a word before the object.
pub fn verb(kind: ActivityKind) -> &'static str {
    match kind {
        ActivityKind::Post => "Wrote",
        ActivityKind::Like => "Liked",
        ActivityKind::Comment => "Commented on",
        ActivityKind::Share => "Shared",
        ActivityKind::Follow => "Followed",
    }
}

/// The object, in words.
pub fn object(entry: &ActivityEntry) -> String {
    match (&entry.user, &entry.post) {
        (Some(user), _) => user.name.to_string(),
        (None, Some(_)) if entry.activity.kind == ActivityKind::Post => "a post".to_owned(),
        (None, Some((author, _))) if author.handle == entry.by => "their own post".to_owned(),
        (None, Some((author, _))) => format!("{}’s post", author.name),
        // It is deleted, or somebody's whom the reader does not see.
        (None, None) if entry.activity.post.is_some() => "a post that is not here".to_owned(),
        (None, None) => "a person who is not here".to_owned(),
    }
}
