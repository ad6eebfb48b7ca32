use leptos::prelude::*;
use model::Timestamp;

/// The time since something happened, with the exact time on hover.
#[component]
pub fn Moment(
    /// The time of the event.
    at: Timestamp,
    /// The time since then, in words.
    ago: String,
    /// The page of the event, if it has one.
    #[prop(optional_no_strip)]
    href: Option<String>,
) -> impl IntoView {
    // A link's time gets its style from the byline.
    let class = href.is_none().then_some("moment");
    let time = view! {
        <time class=class datetime=at.to_the_minute() title=at.exact()>
            {ago}
        </time>
    };
    match href {
        Some(href) => view! { <a href=href>{time}</a> }.into_any(),
        None => time.into_any(),
    }
}
