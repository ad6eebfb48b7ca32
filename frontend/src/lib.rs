//! The WebAssembly entry point: wakes the islands of the page that the server rendered.

#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::wasm_bindgen;

/// Runs once the module is loaded.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen(start)]
pub fn start() {
    ui::islands::wake();
}
