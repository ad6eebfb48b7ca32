//! The title of a page.

use leptos::prelude::*;
use leptos_meta::{Meta, Title};

use crate::escape::escape;

/// The description of pages without one of their own.
pub const DESCRIPTION: &str = "A social feed that shows how MongoDB's outlier pattern keeps documents small: watch the head of a list fill, and its pages stack up.";

/// The title of a page, with the description of the site.
#[component]
pub fn PageTitle(
    /// The description of the page.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! {
        <DocumentTitle text />
        <Meta name="description" content=DESCRIPTION />
    }
}

/// The title of the page. It may contain text that people wrote: it is escaped here, since `leptos_meta` does not.
#[component]
pub(crate) fn DocumentTitle(mut text: String) -> impl IntoView {
    text.push_str(" · Spillway");
    view! { <Title text=escape(&text) /> }
}
