//! The few browser facilities that islands need. On the server each is a stand-in that does nothing, so that an
//! island's code reads the same on both sides.

use model::{ItemId, Timestamp};

#[cfg(target_arch = "wasm32")]
mod real {
    use model::Timestamp;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::Closure;
    use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds since 1970 fit many times over"
    )]
    pub fn now() -> Timestamp {
        Timestamp::from_millis(js_sys::Date::now() as i64)
    }

    pub fn random_bytes() -> [u8; 16] {
        let mut bytes = [0; 16];
        let filled = web_sys::window()
            .and_then(|window| window.crypto().ok())
            .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).ok());
        if filled.is_none() {
            leptos::logging::error!("This browser has no source of randomness.");
        }
        bytes
    }

    /// Tells when an element comes near the visible part of the page.
    pub struct Nearness {
        observer: IntersectionObserver,
        _callback: Closure<dyn FnMut(js_sys::Array)>,
    }

    impl Nearness {
        /// An observer that calls back each time one of its elements comes near.
        pub fn watch(mut came_near: impl FnMut() + 'static) -> Option<Self> {
            let callback = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
                let near = entries
                    .iter()
                    .filter_map(|entry| entry.dyn_into::<IntersectionObserverEntry>().ok())
                    .any(|entry| entry.is_intersecting());
                if near {
                    came_near();
                }
            });
            let options = IntersectionObserverInit::new();
            options.set_root_margin("900px 0px");
            let function = callback.as_ref().unchecked_ref();
            let observer = IntersectionObserver::new_with_options(function, &options).ok()?;
            Some(Self {
                observer,
                _callback: callback,
            })
        }

        /// Observes an element; one that is near already is reported again.
        pub fn of(&self, element: &Element) {
            self.observer.unobserve(element);
            self.observer.observe(element);
        }
    }

    impl Drop for Nearness {
        fn drop(&mut self) {
            self.observer.disconnect();
        }
    }
}

/// The time; `None` on the server, where it is passed in.
pub fn now() -> Option<Timestamp> {
    #[cfg(target_arch = "wasm32")]
    return Some(real::now());
    #[cfg(not(target_arch = "wasm32"))]
    None
}

/// A fresh id for something that is about to be sent, so that sending it again lands once; `None` on the server.
pub fn fresh_id() -> Option<ItemId> {
    #[cfg(target_arch = "wasm32")]
    return Some(
        uuid::Builder::from_random_bytes(real::random_bytes())
            .into_uuid()
            .into(),
    );
    #[cfg(not(target_arch = "wasm32"))]
    None
}

#[cfg(target_arch = "wasm32")]
pub use real::Nearness;
