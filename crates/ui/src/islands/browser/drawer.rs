//! The drawer that shows how something is stored: it is filled when it is opened, so that it costs nothing
//! otherwise.

use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

use super::dom::{attribute, find, hold, listen, set};
use super::stretch::fetch_page;

/// Fills an element's drawer each time it opens, with what is stored at that moment.
pub fn bind(root: &Element) {
    let Some(drawer) = find(root, ".drawer") else {
        return;
    };
    let opened = drawer.clone();
    let listening = listen(&drawer, "toggle", move |_| {
        if opened.has_attribute("open") {
            let drawer = opened.clone();
            spawn_local(async move { fill(&drawer).await });
        }
    });
    hold(root, listening);
}

/// Without an answer the link stays, which leads to the same content.
async fn fill(drawer: &Element) {
    let Some(href) = find(drawer, "summary + a").and_then(|link| attribute(&link, "href")) else {
        return;
    };
    set(drawer, "aria-busy", "true");
    if let Some(page) = fetch_page(&href).await
        && let Ok(Some(stored)) = page.query_selector(".stored")
    {
        if let Some(before) = find(drawer, ".stored") {
            before.remove();
        }
        drop(drawer.append_child(&stored));
    }
    set(drawer, "aria-busy", "false");
}
