use leptos::prelude::*;
use model::{Activity, ActivityKind, Handle, Listing, Timestamp};

use crate::actions::lists::read_activity;
use crate::browser;
use crate::components::{Moment, Scroll, Stretches};

/// What a person did, newest first.
#[island]
pub fn ActivityFeed(
    /// Who.
    handle: Handle,
    /// The first stretch.
    first: Listing<Activity>,
    /// How many activities come before it.
    before: u64,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let handle = StoredValue::new(handle);
    view! {
        <Scroll
            list=Stretches::new(first, before)
            label="Activity"
            empty="Nothing done yet."
            load=move |cursor| read_activity(handle.get_value(), cursor)
            row=move |activity| view! { <ActivityRow activity now=browser::now().unwrap_or(now) /> }
        />
    }
}

#[component]
fn ActivityRow(activity: Activity, now: Timestamp) -> impl IntoView {
    let Activity {
        kind, at, post, user, ..
    } = activity;
    let did = match kind {
        ActivityKind::Post => "Wrote ",
        ActivityKind::Like => "Liked ",
        ActivityKind::Comment => "Commented on ",
        ActivityKind::Share => "Shared ",
        ActivityKind::Follow => "Followed ",
    };
    let object = if let Some(user) = user {
        view! { <a href=format!("/@{user}")>{format!("@{user}")}</a> }.into_any()
    } else if let Some(post) = post {
        view! { <a href=format!("/post/{post}")>"a post"</a> }.into_any()
    } else {
        "something that is gone".into_any()
    };
    view! {
        <p class="activity">
            <span>{did} {object}</span>
            <Moment at now />
        </p>
    }
}
