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
    let iso = at.to_string();
    let exact = format!(
        "{} {} UTC",
        iso.get(..10).unwrap_or_default(),
        iso.get(11..16).unwrap_or_default()
    );
    view! {
        <time class="moment" datetime=iso title=exact>
            {at.ago(now)}
        </time>
    }
}
