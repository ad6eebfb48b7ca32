use leptos::prelude::*;
use model::Timestamp;

/// When something happened: how long ago, with the exact time on hover.
#[component]
pub fn Moment(
    /// When.
    at: Timestamp,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    view! {
        <time class="moment" datetime=at.to_string() title=at.exact()>
            {at.ago(now)}
        </time>
    }
}
