use leptos::prelude::*;
use model::Topic;

/// A summary line that opens to show how something is stored. Without JavaScript it opens to a link to that page.
#[component]
pub fn StoredDrawer(
    /// The post or the person.
    owner: Topic,
    /// The same in words, for screen reader users who hear the line without its context.
    about: String,
) -> impl IntoView {
    let href = match owner {
        Topic::Post(id) => format!("/post/{id}/stored"),
        Topic::User(handle) => format!("/@{handle}/stored"),
    };
    view! {
        <details class="drawer">
            <summary>
                "How this is stored" <span>{format!("({about})")}</span>
            </summary>
            <a href=href>"See its documents"</a>
        </details>
    }
}
