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
    let (exact, title) = (at.to_the_minute(), at.exact());
    match href {
        // The byline has the style of a link's time.
        Some(href) => view! {
            <a href=href>
                <time datetime=exact title=title>
                    {ago}
                </time>
            </a>
        }
        .into_any(),
        None => view! {
            <time class="moment" datetime=exact title=title>
                {ago}
            </time>
        }
        .into_any(),
    }
}
