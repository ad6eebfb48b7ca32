//! How far down a page the reader was: kept for the tab, by address, so that Back leads there again.

use leptos::prelude::{document, window};
use web_sys::PerformanceNavigation;

use super::dom::listen;

/// A place in the list of a page.
pub struct Place {
    items: u32,
    top: f64,
}

impl Place {
    /// Keeps the place whenever the reader leaves.
    pub fn keep() {
        listen(&window(), "pagehide", |_| {
            let kept = format!("{} {}", items(), window().scroll_y().unwrap_or_default());
            if let (Ok(Some(storage)), Some(key)) = (window().session_storage(), key()) {
                // A full storage costs the reader the place, nothing else.
                drop(storage.set_item(&key, &kept));
            }
        });
    }

    /// The place that was kept, if the reader came with the Back button and the page shows less than they had read.
    pub fn of_going_back() -> Option<Self> {
        let navigation = window().performance()?.navigation();
        if navigation.type_() != PerformanceNavigation::TYPE_BACK_FORWARD {
            return None;
        }
        let kept = window().session_storage().ok()??.get_item(&key()?).ok()??;
        let (items, top) = kept.split_once(' ')?;
        let place = Self {
            items: items.parse().ok()?,
            top: top.parse().ok()?,
        };
        (!place.is_there()).then_some(place)
    }

    /// Whether the list reaches that far again.
    pub fn is_there(&self) -> bool {
        self.items <= items()
    }

    /// Shows the place.
    pub fn scroll_there(&self) {
        window().scroll_to_with_x_and_y(0.0, self.top);
    }
}

fn items() -> u32 {
    document()
        .query_selector_all(".feed > *")
        .map_or(0, |items| items.length())
}

fn key() -> Option<String> {
    window()
        .location()
        .href()
        .ok()
        .map(|href| format!("place {href}"))
}
