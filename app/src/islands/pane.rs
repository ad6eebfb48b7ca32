use leptos::prelude::*;
use leptos::web_sys::Element;

use super::bound;

/// A part of a page that its own links change: those that lead to another query of the same page.
///
/// The island follows such a link by fetching the page, and puts that page's pane into this one. The address follows, so
/// that Back leads to what was shown before; the page's `#said` tells what a screen reader should say. Without JavaScript the
/// same links open the same pages. A form with `data-stay` is sent without leaving the page. Contents that name an owner with
/// `data-topic` follow it, and those that change by themselves say with `data-again` after how many milliseconds to look.
#[island]
pub fn Pane(children: Children) -> impl IntoView {
    bound("pane", children, bind)
}

#[cfg(not(target_arch = "wasm32"))]
fn bind(_: &Element) {}

#[cfg(target_arch = "wasm32")]
fn bind(root: &Element) {
    super::browser::pane::bind(root);
}
