//! Reading by keyboard. As the ARIA feed pattern has it, Page Down and Page Up go from item to item within a list,
//! and Control and End or Home leave it. Single keys do more from anywhere on the page, as the legend of keys beside the
//! feeds says. They do nothing where the reader switched them off there.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement, KeyboardEvent};

use super::dom::{all, around, attribute, document, find, listen};
use super::draft::{KEYS, storage};
use super::open::{go, page_of};
use crate::islands::first_key::FirstKey;

/// What opens the form to answer a comment. `public/forms.js` then puts the focus into it.
const REPLY: &str = ":has(> [data-testid=reply-form]) > summary";

/// Listens for as long as the page lives, and binds the switch in the legend.
pub fn bind() {
    let first = FirstKey::default();
    listen(&document(), "keydown", move |event| {
        if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
            let alone = !event.ctrl_key() && !event.alt_key() && !event.meta_key();
            let counts = alone
                && !document()
                    .active_element()
                    .is_some_and(|focused| is_written_in(&focused));
            let after_g = first.precedes(&event.key(), counts, event.time_stamp());
            if act(event, after_g).is_some() {
                event.prevent_default();
            }
        }
    })
    .forever();
    let Some(Ok(switch)) = here("#keys input").map(JsCast::dyn_into::<HtmlInputElement>) else {
        return;
    };
    switch.set_checked(!are_off());
    let switched = switch.clone();
    listen(&switch, "change", move |_| {
        if let Some(storage) = storage() {
            // A device without storage begins with the keys on each time.
            drop(if switched.checked() {
                storage.remove_item(KEYS)
            } else {
                storage.set_item(KEYS, "off")
            });
        }
    })
    .forever();
}

/// Runs the action of a key, if it has one here.
fn act(event: &KeyboardEvent, after_g: bool) -> Option<()> {
    let focused = document().active_element()?;
    if is_written_in(&focused) || event.alt_key() || event.meta_key() {
        return None;
    }
    let (key, feed) = (event.key(), here(".feed"));
    let inside = feed.as_ref().is_some_and(|feed| feed.contains(Some(&focused)));
    match (key.as_str(), event.ctrl_key()) {
        ("PageDown", false) if inside => return focus(neighbour(&feed?, &focused, 1)),
        ("PageUp", false) if inside => return focus(neighbour(&feed?, &focused, -1)),
        ("Home", true) if inside => return focus(here("#main")),
        ("End", true) if inside => {
            return focus(find(&around(&feed?, ".list")?, ".load-more, .feed-end"));
        }
        (_, true) => return None,
        _ => {}
    }
    if are_off() {
        return None;
    }
    let item = around(&focused, ".entry").or_else(|| here(".entry-alone"));
    match key.as_str() {
        "j" => focus(neighbour(&feed?, &focused, 1)),
        "k" => focus(neighbour(&feed?, &focused, -1)),
        "?" => {
            let legend = here("#keys").filter(|legend| legend.get_bounding_client_rect().height() > 0.0);
            focus_or_go(legend, "/#keys")
        }
        "l" if !event.repeat() => {
            find(&item?, ".like")?.dyn_ref::<HtmlElement>()?.click();
            Some(())
        }
        "r" => {
            let comment = item.as_ref().and_then(|item| find(item, REPLY));
            if let Some(comment) = comment {
                comment.dyn_ref::<HtmlElement>()?.click();
                return Some(());
            }
            focus(here("#comment-text")).or_else(|| focus_or_go(None, &(page_of(&item?)? + "#comment-text")))
        }
        "n" if after_g => focus_or_go(None, "/notifications"),
        // Nobody is led out of a lesson by one key.
        "n" if here(".lab-head").is_none() => focus_or_go(here("#compose-text"), "/#compose-text"),
        "/" => focus_or_go(here("[type=search]"), "/search"),
        "h" if after_g => focus_or_go(None, "/"),
        "e" if after_g => focus_or_go(None, "/explore"),
        // Within an item it opens the link that is focused.
        "Enter" if item.as_ref() == Some(&focused) => focus_or_go(
            None,
            &page_of(&focused).or_else(|| attribute(&find(&focused, "a")?, "href"))?,
        ),
        _ => None,
    }
}

/// Leads to a page if there is no such element.
fn focus_or_go(element: Option<Element>, address: &str) -> Option<()> {
    focus(element).or_else(|| {
        go(address);
        Some(())
    })
}

fn is_written_in(focused: &Element) -> bool {
    ["INPUT", "TEXTAREA", "SELECT"].contains(&focused.tag_name().as_str())
}

fn focus(element: Option<Element>) -> Option<()> {
    element?.dyn_ref::<HtmlElement>()?.focus().ok()
}

/// The item after or before the focused one; without focus, the first visible item.
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

/// The first element of the page that matches a selector.
fn here(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok()?
}

fn are_off() -> bool {
    storage().is_some_and(|storage| storage.get_item(KEYS).is_ok_and(|kept| kept.is_some()))
}
