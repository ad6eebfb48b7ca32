//! Live updates of the overflow meter.

use model::Meter;
use web_sys::Element;

use super::dom::{attribute, find, set, set_text};
use crate::components::meter_words as words;

/// Shows how a list is stored now. One page more than before means a spill, and starts a short animation.
pub fn show(element: &Element, meter: &Meter) {
    let relation = attribute(element, "data-relation").unwrap_or_default();
    let before: u64 = attribute(element, "data-pages")
        .and_then(|pages| pages.parse().ok())
        .unwrap_or_default();
    for (name, value) in words::attributes(meter, &relation) {
        set(element, name, &value);
    }
    if let Some(water) = find(element, ".meter-water") {
        set(&water, "width", &words::fill(meter));
    }
    for (part, text) in [
        (".meter-held", words::head_count(meter)),
        (".meter-brim", words::of_threshold(meter)),
        (".meter-pages", words::pages(meter.pages)),
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
