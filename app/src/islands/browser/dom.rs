//! The few things that islands do with the page.

use std::any::Any;
use std::cell::RefCell;
use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Element, Event, EventTarget, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit,
};

thread_local! {
    /// What parts of the page hold on to, such as what listens to them.
    static HELD: RefCell<Vec<(Element, Box<dyn Any>)>> = RefCell::default();
}

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

/// The nearest part around this one, or itself, that a selector finds.
pub fn around(part: &Element, selector: &str) -> Option<Element> {
    part.closest(selector).ok()?
}

/// An attribute's value.
pub fn attribute(element: &Element, name: &str) -> Option<String> {
    element.get_attribute(name)
}

/// An attribute that is a number.
pub fn number(element: &Element, name: &str) -> Option<u64> {
    attribute(element, name)?.parse().ok()
}

/// Sets an attribute. It can fail only for a name that is no name, and ours are.
pub fn set(element: &Element, name: &str, value: &str) {
    drop(element.set_attribute(name, value));
}

/// Takes an attribute away, if it is there.
pub fn unset(element: &Element, name: &str) {
    drop(element.remove_attribute(name));
}

/// Sets the text; the same one again is not announced again.
pub fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Listens for as long as this is held.
#[must_use = "it listens only as long as it is held"]
pub struct Listening {
    target: EventTarget,
    event: &'static str,
    heard: Closure<dyn FnMut(Event)>,
}

/// Listens to an event.
pub fn listen(target: &EventTarget, event: &'static str, heard: impl FnMut(Event) + 'static) -> Listening {
    listen_boxed(target, event, Box::new(heard))
}

/// The same once for all closures, which keeps the download small.
fn listen_boxed(target: &EventTarget, event: &'static str, heard: Box<dyn FnMut(Event)>) -> Listening {
    let heard = Closure::wrap(heard);
    drop(target.add_event_listener_with_callback(event, heard.as_ref().unchecked_ref()));
    Listening {
        target: target.clone(),
        event,
        heard,
    }
}

impl Listening {
    /// For as long as the page lives.
    pub fn for_good(self) {
        std::mem::forget(self);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(
            self.target
                .remove_event_listener_with_callback(self.event, self.heard.as_ref().unchecked_ref()),
        );
    }
}

/// Holds something for as long as a part is in the page.
pub fn hold(part: &Element, thing: impl Any) {
    hold_boxed(part, Box::new(thing));
}

fn hold_boxed(part: &Element, thing: Box<dyn Any>) {
    HELD.with_borrow_mut(|held| held.push((part.clone(), thing)));
}

/// Empties a part, and lets go of what was held for what stood in it.
pub fn empty(part: &Element) {
    let (gone, stays) = HELD
        .take()
        .into_iter()
        .partition(|(holder, _)| part.contains(Some(holder)));
    HELD.set(stays);
    // Outside of the registry's borrow: what is dropped may use it.
    drop::<Vec<_>>(gone);
    part.set_inner_html("");
}

/// Calls each time the element comes near the visible part of the page, and again after each call that leaves it near,
/// until `came_near` answers that this was all.
pub fn when_near(element: &Element, mut came_near: impl FnMut() -> bool + 'static) {
    let watched = element.clone();
    let callback = Closure::<dyn FnMut(js_sys::Array, IntersectionObserver)>::new(
        move |entries: js_sys::Array, observer: IntersectionObserver| {
            let near = entries.iter().any(|entry| {
                entry
                    .dyn_ref::<IntersectionObserverEntry>()
                    .is_some_and(IntersectionObserverEntry::is_intersecting)
            });
            if !near {
                return;
            }
            if came_near() {
                // Observing anew reports the element again should it still be near once there is more above it.
                let watched = watched.clone();
                soon(move || {
                    observer.unobserve(&watched);
                    observer.observe(&watched);
                });
            } else {
                observer.disconnect();
            }
        },
    );
    let options = IntersectionObserverInit::new();
    options.set_root_margin("900px 0px");
    let function = callback.as_ref().unchecked_ref();
    if let Ok(observer) = IntersectionObserver::new_with_options(function, &options) {
        observer.observe(element);
        hold(
            element,
            Watching {
                observer,
                _callback: callback,
            },
        );
    }
}

/// Ends the watching before its callback goes.
struct Watching {
    observer: IntersectionObserver,
    _callback: Closure<dyn FnMut(js_sys::Array, IntersectionObserver)>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Waits.
pub async fn pause(time: Duration) {
    let over = Promise::new(&mut |resolve, _| {
        leptos::prelude::set_timeout(move || drop(resolve.call0(&JsValue::NULL)), time);
    });
    drop(JsFuture::from(over).await);
}

fn soon(then: impl FnOnce() + 'static) {
    leptos::prelude::set_timeout(then, Duration::from_millis(50));
}
