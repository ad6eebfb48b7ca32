#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(target_arch = "wasm32")]
use web_sys::Element;

#[cfg(feature = "ssr")]
use super::bound;

/// A part of a page that its own links change: the links to another query of the same page.
///
/// The island follows such a link by fetching the page, and puts that page's pane into this one. The address
/// follows, so that Back returns to the previous contents; the page's `#said` holds the text for screen readers.
/// Without JavaScript the same links open the same pages. A form with `data-stay` is sent without leaving the
/// page. Contents with `data-topic` follow the owner that it names, and contents with `data-again` are fetched
/// again after that many milliseconds.
#[cfg(feature = "ssr")]
#[component]
pub fn Pane(children: Children) -> impl IntoView {
    bound("pane", children)
}

#[cfg(target_arch = "wasm32")]
pub(super) fn bind(root: &Element) {
    super::browser::pane::bind(root);
}
