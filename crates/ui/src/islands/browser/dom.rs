//! The few things that islands do with the page.

use std::any::Any;
use std::cell::RefCell;
use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Document, Element, Event, EventTarget, IntersectionObserver, IntersectionObserverEntry,
    IntersectionObserverInit, Node, Window,
};

thread_local! {
    /// What the elements of the page own, such as their event listeners.
    static HELD: RefCell<Vec<(Element, Box<dyn Any>)>> = RefCell::default();
}

/// The window of the page.
pub fn window() -> Window {
    js_sys::global().unchecked_into()
}

/// The document of the page.
pub fn document() -> Document {
    let Some(document) = window().document() else {
        unreachable!("a page has a document");
    };
    document
}

/// Calls once, after a while.
pub fn set_timeout(then: impl FnOnce() + 'static, after: Duration) {
    let milliseconds = i32::try_from(after.as_millis()).unwrap_or(i32::MAX);
    let then = once(Box::new(then));
    drop(window().set_timeout_with_callback_and_timeout_and_arguments_0(then.unchecked_ref(), milliseconds));
}

/// Calls once, before the browser paints next.
pub fn request_animation_frame(then: impl FnOnce() + 'static) {
    drop(window().request_animation_frame(once(Box::new(then)).unchecked_ref()));
}

/// The code that all calls share.
fn once(then: Box<dyn FnOnce()>) -> JsValue {
    Closure::once_into_js(then)
}

/// The first element that matches a selector.
pub fn find(part: &Element, selector: &str) -> Option<Element> {
    part.query_selector(selector).ok()?
}

/// All elements that match a selector.
pub fn all(part: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = part.query_selector_all(selector) else {
        return Vec::new();
    };
    (0..found.length())
        .filter_map(|number| found.item(number)?.dyn_into().ok())
        .collect()
}

/// The nearest element, this one or an ancestor, that matches a selector.
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

/// Sets an attribute. It can fail only for an invalid name, and ours are valid.
pub fn set(element: &Element, name: &str, value: &str) {
    drop(element.set_attribute(name, value));
}

/// Removes an attribute, if it is there.
pub fn unset(element: &Element, name: &str) {
    drop(element.remove_attribute(name));
}

/// Sets the text. Setting the same text again is not announced again.
pub fn set_text(node: &Node, text: &str) {
    if node.text_content().as_deref() != Some(text) {
        node.set_text_content(Some(text));
    }
}

/// Listens for as long as this value is held.
#[must_use = "it listens only as long as it is held"]
pub struct Listening {
    target: EventTarget,
    event: &'static str,
    callback: Closure<dyn FnMut(Event)>,
}

/// Listens to an event.
pub fn listen(target: &EventTarget, event: &'static str, callback: impl FnMut(Event) + 'static) -> Listening {
    listen_boxed(target, event, Box::new(callback))
}

/// The code that all closures share, which keeps the download small.
fn listen_boxed(target: &EventTarget, event: &'static str, callback: Box<dyn FnMut(Event)>) -> Listening {
    let callback = Closure::wrap(callback);
    drop(target.add_event_listener_with_callback(event, callback.as_ref().unchecked_ref()));
    Listening {
        target: target.clone(),
        event,
        callback,
    }
}

impl Listening {
    /// For as long as the page lives.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(
            self.target
                .remove_event_listener_with_callback(self.event, self.callback.as_ref().unchecked_ref()),
        );
    }
}

/// Holds a value for as long as an element is in the page.
pub fn hold(part: &Element, thing: impl Any) {
    hold_boxed(part, Box::new(thing));
}

fn hold_boxed(part: &Element, thing: Box<dyn Any>) {
    HELD.with_borrow_mut(|held| held.push((part.clone(), thing)));
}

/// Empties an element, and drops what was held for its descendants.
pub fn empty(part: &Element) {
    let (gone, stays) = HELD
        .take()
        .into_iter()
        .partition(|(holder, _)| part.contains(Some(holder)));
    HELD.set(stays);
    // Outside of the registry's borrow: the destructors may use it.
    drop::<Vec<_>>(gone);
    part.set_inner_html("");
}

/// Calls each time the element comes near the visible part of the page, and again after each call that leaves it
/// near, until `came_near` returns that it is done.
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
                // Observing it again reports the element again if it is still near after content was added above
                // it.
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

/// Disconnects the observer before its callback is dropped.
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
        set_timeout(move || drop(resolve.call0(&JsValue::NULL)), time);
    });
    drop(JsFuture::from(over).await);
}

fn soon(then: impl FnOnce() + 'static) {
    set_timeout(then, Duration::from_millis(50));
}
