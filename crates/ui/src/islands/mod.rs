//! The parts of a page that react in the browser.
//!
//! The server renders everything in one way, whether a page is opened, scrolled or grows at its top. An island
//! wraps a part of that HTML and binds to it: it takes over its forms and links, which work by themselves, and
//! keeps its numbers current. So no island carries markup to the browser, nothing is rendered twice, and nothing
//! can differ.

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(any(target_arch = "wasm32", test))]
mod first_key;
mod infinite_scroll;
mod new_items;
mod numbers;
mod pane;
mod writing;

use leptos::html::Div;
use leptos::prelude::*;
use leptos::web_sys::Element;

pub use infinite_scroll::InfiniteScroll;
pub use new_items::NewItems;
pub use numbers::Numbers;
pub use pane::Pane;
pub use writing::WritingForm;

/// What every page does in the browser, whether or not there are islands in it.
#[cfg(target_arch = "wasm32")]
pub fn start() {
    browser::start();
}

/// The server's HTML. Waking the island binds to it.
fn bound(class: &'static str, children: Children, bind: fn(&Element)) -> impl IntoView {
    let root = NodeRef::<Div>::new();
    #[cfg(target_arch = "wasm32")]
    root.on_load(move |root| bind(&root));
    #[cfg(not(target_arch = "wasm32"))]
    let _: fn(&Element) = bind;
    view! { <div class=class node_ref=root>{children()}</div> }
}
