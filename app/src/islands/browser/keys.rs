//! Reading a list by keyboard, as the ARIA feed pattern has it: Page Down and Page Up go from item to item, Control
//! and End or Home leave the list. The keys j and k do the same from anywhere on the page, and ? leads to the line that
//! names them.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::dom::{all, around, find, listen};
use super::list::List;

/// Listens for as long as the page lives.
pub fn bind(list: &List) {
    let feed = list.feed().clone();
    listen(&document(), "keydown", move |event| {
        if let Some(event) = event.dyn_ref::<KeyboardEvent>()
            && let Some(element) = wanted(&feed, event)
            && let Some(element) = element.dyn_ref::<HtmlElement>()
            && element.focus().is_ok()
        {
            event.prevent_default();
        }
    })
    .for_good();
}

/// What a key leads to, if it leads somewhere.
fn wanted(feed: &Element, event: &KeyboardEvent) -> Option<Element> {
    let focused = document().active_element()?;
    let writes = ["INPUT", "TEXTAREA", "SELECT"].contains(&focused.tag_name().as_str());
    if writes || event.alt_key() || event.meta_key() {
        return None;
    }
    let inside = feed.contains(Some(&focused));
    match (event.key().as_str(), event.ctrl_key()) {
        ("j", false) => neighbour(feed, &focused, 1),
        ("k", false) => neighbour(feed, &focused, -1),
        ("?", false) => document().get_element_by_id("keys"),
        ("PageDown", false) if inside => neighbour(feed, &focused, 1),
        ("PageUp", false) if inside => neighbour(feed, &focused, -1),
        ("Home", true) if inside => document().get_element_by_id("main"),
        ("End", true) if inside => find(&around(feed, ".list")?, ".load-more, .feed-end"),
        _ => None,
    }
}

/// The item after or before the focused one; without one, the first that is in sight.
fn neighbour(feed: &Element, focused: &Element, step: isize) -> Option<Element> {
    let items = all(feed, ".entry");
    let place = around(focused, ".entry")
        .and_then(|entry| items.iter().position(|item| *item == entry))
        .map_or_else(
            || {
                items
                    .iter()
                    .position(|item| item.get_bounding_client_rect().top() > 0.0)
            },
            |place| place.checked_add_signed(step),
        )?;
    items.into_iter().nth(place)
}
