//! The title of a page.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::escape::escape;

/// The title of the page. It may contain text that people wrote: it is escaped here, since `leptos_meta` does not.
#[component]
pub fn PageTitle(
    /// The description of the page.
    #[prop(into)]
    mut text: String,
) -> impl IntoView {
    text.push_str(" · Spillway");
    view! { <Title text=escape(&text) /> }
}
