use leptos::prelude::*;
use model::{Person, Timestamp};

use super::Moment;

/// A person who did something, and when.
#[component]
pub fn Byline(
    /// The person.
    person: Person,
    /// The time.
    at: Timestamp,
    /// The time since then, in words.
    ago: String,
    /// The page of their action, if it has one.
    #[prop(optional_no_strip)]
    href: Option<String>,
) -> impl IntoView {
    view! {
        <p class="byline">
            <a href=format!("/@{}", person.handle)>
                <bdi>{person.name.to_string()}</bdi>
            </a>
            <span>{format!("@{}", person.handle)}</span>
            <Moment at ago href />
        </p>
    }
}
