//! The browser's side of the islands.

pub mod dom;
pub mod draft;
pub mod drawer;
pub mod keys;
pub mod list;
pub mod live;
pub mod meter;
pub mod number;
pub mod open;
pub mod pane;
pub mod scroll_position;
pub mod send;
pub mod stretch;
pub mod toggle;

use dom::document;
use wasm_bindgen::JsCast;
use web_sys::Element;

/// What a page does once, before its islands wake.
pub fn start() {
    live::settle();
    keys::bind();
    open::bind();
    dom::listen(&document(), "submit", |event| {
        if let Some(form) = event.target()
            && let Some(form) = form.dyn_ref::<Element>()
            && form.has_attribute("data-sign-out")
        {
            draft::forget_all();
        }
    })
    .forever();
}
