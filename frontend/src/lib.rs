//! The WebAssembly entry point: wakes the islands of the page that the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's start-up script, which then wakes the islands of the page by name. Linking `ui` brings
/// them into the module.
#[wasm_bindgen]
pub fn hydrate() {
    ui::islands::start();
    leptos::mount::hydrate_islands();
}
