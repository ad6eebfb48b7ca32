//! The few things that islands do with the page.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{
    Element, Event, EventTarget, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit,
};

/// The first part that a selector finds.
pub fn find(part: &Element, selector: &str) -> Option<Element> {
    part.query_selector(selector).ok()?
}

/// All parts that a selector finds.
pub fn all(part: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = part.query_selector_all(selector) else {
        return Vec::new();
    };
    (0..found.length())
        .filter_map(|number| found.item(number)?.dyn_into().ok())
        .collect()
}

/// An attribute's value.
pub fn attribute(element: &Element, name: &str) -> Option<String> {
    element.get_attribute(name)
}

/// Sets an attribute. It can fail only for a name that is no name, and ours are.
pub fn set(element: &Element, name: &str, value: &str) {
    drop(element.set_attribute(name, value));
}

/// Sets the text; the same one again is not announced again.
pub fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Listens for as long as the page lives.
pub fn listen(target: &EventTarget, event: &str, heard: impl FnMut(Event) + 'static) {
    let heard = Closure::<dyn FnMut(Event)>::new(heard);
    if target
        .add_event_listener_with_callback(event, heard.as_ref().unchecked_ref())
        .is_ok()
    {
        heard.forget();
    }
}

/// Calls each time the element comes near the visible part of the page, and again after each call that leaves it near.
pub fn when_near(element: &Element, mut came_near: impl FnMut() + 'static) {
    let watched = element.clone();
    let callback = Closure::<dyn FnMut(js_sys::Array, IntersectionObserver)>::new(
        move |entries: js_sys::Array, observer: IntersectionObserver| {
            let near = entries.iter().any(|entry| {
                entry
                    .dyn_ref::<IntersectionObserverEntry>()
                    .is_some_and(IntersectionObserverEntry::is_intersecting)
            });
            if near {
                came_near();
                // Observing anew reports the element again should it still be near once there is more above it.
                let watched = watched.clone();
                soon(move || {
                    observer.unobserve(&watched);
                    observer.observe(&watched);
                });
            }
        },
    );
    let options = IntersectionObserverInit::new();
    options.set_root_margin("900px 0px");
    let function = callback.as_ref().unchecked_ref();
    if let Ok(observer) = IntersectionObserver::new_with_options(function, &options) {
        observer.observe(element);
        callback.forget();
    }
}

fn soon(then: impl FnOnce() + 'static) {
    leptos::prelude::set_timeout(then, std::time::Duration::from_millis(100));
}
