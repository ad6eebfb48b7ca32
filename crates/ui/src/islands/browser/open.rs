//! Opens a post when its text is clicked. The real link is the time beside the author; a click anywhere on the
//! text works, too, also on the text of a quoted post.

use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use super::dom::{around, attribute, document, find, listen, window};

/// Listens for as long as the page lives.
pub fn bind() {
    listen(&document(), "click", |event| {
        // A click is a mouse event, also on a touch screen.
        if let Some(page) = wanted(event.unchecked_ref()) {
            go(&page);
        }
    })
    .forever();
}

/// The page of the post whose text was clicked, unless the click was on a link in it or selected something.
fn wanted(event: &MouseEvent) -> Option<String> {
    let clicked: Element = event.target()?.dyn_into().ok()?;
    let text = around(&clicked, ":is(.feed, .pinned) .post-text")?;
    let selects = window()
        .get_selection()
        .ok()?
        .is_some_and(|selection| !selection.is_collapsed());
    if selects || event.ctrl_key() || event.meta_key() || around(&clicked, "a").is_some() {
        return None;
    }
    page_of(&around(&text, ".quote, .post")?)
}

/// The address of a post's own page.
pub fn page_of(post: &Element) -> Option<String> {
    attribute(&find(post, "a:has(> time)")?, "href")
}

/// Navigates to another page.
pub fn go(page: &str) {
    drop(window().location().set_href(page));
}
