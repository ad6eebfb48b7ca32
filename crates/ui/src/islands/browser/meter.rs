//! Live updates of the overflow meter.

use model::Meter;
use web_sys::Element;

use super::dom::{attribute, find, number, request_animation_frame, set, set_text, unset};
use crate::meter_words as words;

/// The list that a meter shows: the likes, unless it says otherwise.
pub fn relation_of(element: &Element) -> String {
    attribute(element, "data-relation").unwrap_or_else(|| "likes".to_owned())
}

/// Shows how a list is stored now. One page more than before means a spill, and starts a short animation.
pub fn show(element: &Element, meter: &Meter) {
    let before = number(element, "data-pages").unwrap_or_default();
    for (name, value) in words::attributes(meter, &relation_of(element)) {
        set(element, name, &value);
    }
    if words::is_nearly_full(meter.head, meter.threshold) {
        set(element, "data-near", "");
    } else {
        unset(element, "data-near");
    }
    if let Some(water) = find(element, "rect") {
        set(&water, "width", &words::fill(meter));
    }
    if let Some(head) = find(element, ".meter-text b") {
        set_text(&head, &words::head_count(meter));
        if let Some(threshold) = head.next_sibling() {
            set_text(&threshold, &words::of_threshold(meter));
        }
    }
    if let Some(text) = find(element, ".meter-text > :last-child") {
        set_text(&text, &words::pages(meter.pages));
    }
    if meter.pages > 0
        && find(element, ".meter-stack").is_none()
        && let Some(head) = find(element, "svg")
    {
        drop(head.insert_adjacent_html("afterend", words::STACK));
    }
    if before < meter.pages {
        set(element, "data-spilling", "false");
        let element = element.clone();
        request_animation_frame(move || set(&element, "data-spilling", "true"));
    }
}
