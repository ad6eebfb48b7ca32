use leptos::prelude::*;
use model::Timestamp;

/// When something happened: how long ago, with the exact time on hover.
#[component]
pub fn Moment(
    /// When.
    at: Timestamp,
    /// The reader's now.
    now: Timestamp,
    /// The page of what happened, if it has one.
    #[prop(optional_no_strip)]
    href: Option<String>,
) -> impl IntoView {
    let time = view! {
        <time class="moment" datetime=at.to_string() title=at.exact()>
            {at.ago(now)}
        </time>
    };
    match href {
        Some(href) => view! { <a class="moment-link" href=href>{time}</a> }.into_any(),
        None => time.into_any(),
    }
}
