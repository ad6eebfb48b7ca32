use leptos::prelude::*;
use model::{Member, Person, Timestamp};

use super::{Avatar, Moment};

/// Who did something, and when.
#[component]
pub fn Byline(
    /// Who.
    person: Person,
    /// When.
    at: Timestamp,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    view! {
        <p class="byline">
            <a class="byline-name" href=format!("/@{}", person.handle)>
                <bdi>{person.name.to_string()}</bdi>
            </a>
            <span class="byline-handle">{format!("@{}", person.handle)}</span>
            <Moment at now />
        </p>
    }
}

/// An entry of a list of people.
#[component]
pub fn MemberRow(
    /// The entry.
    member: Member,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let Member { user, at, .. } = member;
    view! {
        <div class="member">
            <Avatar handle=user.handle.clone() />
            <Byline person=user at now />
        </div>
    }
}
