//! Rendering what does not belong to one request.

use std::sync::Arc;

use hydration_context::SsrSharedContext;
use leptos::prelude::*;

/// The HTML of a view that nothing of a request can reach: it is rendered below a root of its own, where what a
/// request provides is not found. It must hold no island: the comments by which Leptos would find its texts again are
/// left out.
pub fn outside_of_requests<V: IntoView>(view: impl FnOnce() -> V) -> String {
    let request = Owner::current();
    // This makes the root the current owner.
    let root = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
    let html = root.with(|| view().to_html()).replace("<!>", "");
    if let Some(request) = request {
        request.set();
    }
    html
}
