#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(target_arch = "wasm32")]
use web_sys::Element;

#[cfg(feature = "ssr")]
use super::bound;

/// The end of a list as far as it is on the page: a link to the next stretch, or the end of the list.
///
/// The island follows the link by itself when the reader comes near, and adds the next page's items to this one.
/// Without JavaScript the same link opens the next page.
#[cfg(feature = "ssr")]
#[component]
pub fn InfiniteScroll(children: Children) -> impl IntoView {
    bound("feed-more", children)
}

#[cfg(target_arch = "wasm32")]
pub(super) fn bind(root: &Element) {
    use std::rc::Rc;

    use super::browser::dom::{around, hold, listen, when_near};
    use super::browser::list::List;
    use super::browser::scroll_position::ScrollPosition;

    let Some(list) = List::around(root) else { return };
    list.wake();
    ScrollPosition::keep(&list);
    let end = Rc::new(real::End {
        root: root.clone(),
        reading: std::cell::Cell::new(false),
        going_back: std::cell::RefCell::new(ScrollPosition::of_going_back(&list)),
        list,
    });
    let clicked = Rc::clone(&end);
    let listening = listen(root, "click", move |event| {
        // Only the link: the elements around it belong to others.
        let on_link = event
            .target()
            .and_then(|target| wasm_bindgen::JsCast::dyn_into(target).ok())
            .is_some_and(|target: Element| around(&target, ".load-more").is_some());
        if on_link {
            event.prevent_default();
            clicked.read_on();
        }
    });
    hold(root, listening);
    let near = Rc::clone(&end);
    when_near(root, move || {
        // After a failure there is another attempt in a moment, or when the reader asks for it.
        if near.root.get_attribute("data-failed").is_none() {
            near.read_on();
        }
        true
    });
    if end.going_back.borrow().is_some() {
        end.read_on();
    }
}

#[cfg(target_arch = "wasm32")]
mod real {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::time::Duration;

    use wasm_bindgen_futures::spawn_local;
    use web_sys::Element;

    use crate::islands::browser::dom::{attribute, find, set, set_text, set_timeout, unset};
    use crate::islands::browser::list::List;
    use crate::islands::browser::scroll_position::ScrollPosition;
    use crate::islands::browser::stretch::Stretch;

    /// The wait before a failed stretch is requested again.
    const AGAIN: Duration = Duration::from_secs(4);

    /// The end of a list as far as it is on the page.
    pub struct End {
        pub root: Element,
        pub list: List,
        pub reading: Cell<bool>,
        pub going_back: RefCell<Option<ScrollPosition>>,
    }

    impl End {
        /// Appends the next stretch to the list. One at a time; after a failure the link stays, to try again.
        pub fn read_on(self: &Rc<Self>) {
            if !self.reading.replace(true) {
                let end = Rc::clone(self);
                spawn_local(async move {
                    while end.read_one().await && end.is_on_the_way_back() {}
                    if end.root.has_attribute("data-failed") {
                        let again = Rc::clone(&end);
                        set_timeout(move || again.read_on(), AGAIN);
                    }
                    set(end.list.feed(), "aria-busy", "false");
                    unset(&end.root, "data-reading");
                    end.reading.set(false);
                });
            }
        }

        /// Whether there was a next stretch and it is in the page now.
        async fn read_one(&self) -> bool {
            let Some(link) = find(&self.root, ".load-more") else {
                return false;
            };
            let Some(href) = attribute(&link, "href") else {
                return false;
            };
            set(self.list.feed(), "aria-busy", "true");
            unset(&self.root, "data-failed");
            set(&self.root, "data-reading", "");
            let Some(stretch) = Stretch::fetch(&href).await else {
                set(&self.root, "data-failed", "");
                set_text(&link, "Try again");
                return false;
            };
            self.list.append(&stretch);
            stretch.put_end_into(&self.root);
            true
        }

        /// Whether the reader used the Back button and had scrolled further down.
        fn is_on_the_way_back(&self) -> bool {
            let mut going_back = self.going_back.borrow_mut();
            let Some(place) = going_back.as_ref() else {
                return false;
            };
            if place.is_there() {
                place.scroll_there();
                *going_back = None;
            }
            going_back.is_some()
        }
    }
}
