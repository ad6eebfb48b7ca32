//! The WebAssembly entry point: wakes the islands of the page that the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

// Linking `ui` brings its islands into the module; the page then wakes those it holds, by name.
use ui as _;

/// Called once by the page's start-up script.
#[wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
