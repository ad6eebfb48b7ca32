//! Counts in the page.

use web_sys::Element;

use super::dom::{set, set_text};
use crate::number::grouped;

/// Shows a count.
pub fn show(element: &Element, count: u64) {
    set_text(element, &grouped(count));
    set(element, "data-count", &count.to_string());
}
