//! The parts of a page that react in the browser.
//!
//! The server renders everything in one way, whether a page is opened, scrolled or grows at its top. An island
//! wraps a part of that HTML and binds to it: it takes over its forms and links, which work by themselves, and
//! keeps its numbers current. So no island carries markup to the browser, nothing is rendered twice, and nothing
//! can differ. Leptos renders on the server only: what the browser downloads is this binding, and nothing of Leptos.

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(any(target_arch = "wasm32", test))]
mod first_key;
mod infinite_scroll;
mod new_items;
mod numbers;
mod pane;
mod writing;

#[cfg(feature = "ssr")]
use leptos::prelude::*;

#[cfg(feature = "ssr")]
pub use {
    infinite_scroll::InfiniteScroll, new_items::NewItems, numbers::Numbers, pane::Pane, writing::WritingForm,
};

/// The server's HTML of an island, whose class names it.
#[cfg(feature = "ssr")]
fn bound(class: &'static str, children: Children) -> impl IntoView {
    view! {
        <div class=class data-island="">
            {children()}
        </div>
    }
}

/// Does what every page does in the browser, and binds every island of the page to its HTML.
#[cfg(target_arch = "wasm32")]
pub fn wake() {
    use browser::dom::{all, document};

    browser::start();
    let islands = document()
        .document_element()
        .map(|page| all(&page, "[data-island]"))
        .unwrap_or_default();
    for island in islands {
        match island.class_name().as_str() {
            "feed-more" => infinite_scroll::bind(&island),
            "new-on-top" => new_items::bind(&island),
            "numbers" => numbers::bind(&island),
            "pane" => pane::bind(&island),
            "writing" => writing::bind(&island),
            _ => {}
        }
    }
}
