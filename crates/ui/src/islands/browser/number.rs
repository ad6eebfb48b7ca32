//! Counts in the page.

use web_sys::Element;

use super::dom::{number, set, set_text};
use crate::number::grouped;

/// Shows a count, without the part of it that `data-base` says to leave out.
pub fn show(element: &Element, count: u64) {
    let count = count.saturating_sub(number(element, "data-base").unwrap_or(0));
    set_text(element, &grouped(count));
    set(element, "data-count", &count.to_string());
}
