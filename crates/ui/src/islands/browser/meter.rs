//! Live updates of the overflow meter.

use model::Meter;
use web_sys::Element;

use super::dom::{attribute, find, number, set, set_text, unset};
use crate::components::meter_words as words;

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
    if words::is_nearly_full(meter) {
        set(element, "data-near", "");
    } else {
        unset(element, "data-near");
    }
    if let Some(water) = find(element, ".meter-water") {
        set(&water, "width", &words::fill(meter));
    }
    for (part, text) in [
        ("b", words::head_count(meter)),
        ("b + span", words::of_threshold(meter)),
        (".meter-text > :last-child", words::pages(meter.pages)),
    ] {
        if let Some(part) = find(element, part) {
            set_text(&part, &text);
        }
    }
    if before < meter.pages {
        set(element, "data-spilling", "false");
        let element = element.clone();
        leptos::prelude::request_animation_frame(move || set(&element, "data-spilling", "true"));
    }
}
