use leptos::prelude::*;
use leptos::web_sys::Element;

use super::bound;

/// The end of a list as far as it is on the page: a link to the next stretch, or the end.
///
/// The island follows the link by itself when the reader comes near, and puts what the next page shows into this
/// one. Without JavaScript the same link opens the next page.
#[island]
pub fn ReadOn(children: Children) -> impl IntoView {
    bound("feed-more", children, bind)
}

#[cfg(not(target_arch = "wasm32"))]
fn bind(_: &Element) {}

#[cfg(target_arch = "wasm32")]
fn bind(root: &Element) {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::browser::dom::{find, listen, when_near};
    use super::browser::place::Place;

    Place::keep();
    let end = Rc::new(End {
        root: root.clone(),
        reading: Cell::new(false),
        going_back: RefCell::new(Place::of_going_back()),
    });
    let clicked = Rc::clone(&end);
    listen(root, "click", move |event| {
        // Only the link: what stands around it is not ours to take over.
        let on_link = event.target().is_some_and(|target| {
            find(&clicked.root, ".load-more")
                .is_some_and(|link| link.is_same_node(target.dyn_ref::<web_sys::Node>()))
        });
        if on_link {
            event.prevent_default();
            clicked.read_on();
        }
    });
    let near = Rc::clone(&end);
    when_near(root, move || {
        // After a failure the reader decides when to try again.
        if near.root.get_attribute("data-failed").is_none() {
            near.read_on();
        }
    });
    if end.going_back.borrow().is_some() {
        end.read_on();
    }
}

#[cfg(target_arch = "wasm32")]
use real::End;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::JsCast;

#[cfg(target_arch = "wasm32")]
mod real {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use leptos::task::spawn_local;
    use web_sys::Element;

    use crate::islands::browser::dom::{attribute, find, set, set_text};
    use crate::islands::browser::place::Place;
    use crate::islands::browser::stretch::{List, Stretch};

    /// The end of a list as far as it is on the page.
    pub struct End {
        pub root: Element,
        pub reading: Cell<bool>,
        pub going_back: RefCell<Option<Place>>,
    }

    impl End {
        /// Puts the next stretch into the list. One at a time; a failure leaves the link, to try again.
        pub fn read_on(self: &Rc<Self>) {
            if !self.reading.replace(true) {
                let end = Rc::clone(self);
                spawn_local(async move {
                    while end.read_one().await && end.is_on_the_way_back() {}
                    end.reading.set(false);
                });
            }
        }

        /// Whether there was a next stretch and it is in the page now.
        async fn read_one(&self) -> bool {
            let (Some(list), Some(link)) = (List::around(&self.root), find(&self.root, ".load-more")) else {
                return false;
            };
            let Some(href) = attribute(&link, "href") else {
                return false;
            };
            set_text(&link, "Reading on…");
            let Some(stretch) = Stretch::fetch(&href).await else {
                set(&self.root, "data-failed", "");
                set_text(&link, "Try again");
                return false;
            };
            if self.root.remove_attribute("data-failed").is_err() {
                return false;
            }
            list.append(&stretch).await;
            stretch.put_end_into(&self.root);
            true
        }

        /// Whether the reader came with the Back button and was further down.
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
