#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(target_arch = "wasm32")]
use web_sys::Element;

#[cfg(feature = "ssr")]
use super::bound;

/// The items that were added to the top of a list since it was shown: a button with their count. Pressing it puts
/// the new items above the others, so that nothing jumps while somebody reads. The island wraps the button that
/// `List` renders.
#[cfg(feature = "ssr")]
#[component]
pub fn NewItems(children: Children) -> impl IntoView {
    bound("new-on-top", children)
}

/// Comments appear by themselves while the top of their list is visible; other items wait until the reader asks
/// for them.
#[cfg(target_arch = "wasm32")]
pub(super) fn bind(root: &Element) {
    use std::rc::Rc;

    use super::browser::dom::{attribute, hold, listen};
    use super::browser::live;

    let Some(top) = real::Top::find_in(root).map(Rc::new) else {
        return;
    };
    let clicked = Rc::clone(&top);
    hold(root, listen(root, "click", move |_| clicked.show_them()));
    match attribute(&top.button, "data-topic") {
        None => live::watch_posts(top.list.feed().clone(), move |newer| top.set_newer(newer)),
        Some(topic) => {
            let relation = attribute(&top.button, "data-relation").unwrap_or_default();
            live::watch(root, topic, move |overflow| {
                if let Some(stored) = overflow.of(&relation) {
                    top.set_count(stored.count);
                }
            });
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod real {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    use wasm_bindgen::JsCast;
    use wasm_bindgen_futures::spawn_local;
    use web_sys::{Element, HtmlElement};

    use crate::islands::browser::dom::{attribute, find, number, set, set_text, set_timeout, unset, window};
    use crate::islands::browser::list::{List, here};
    use crate::islands::browser::live;
    use crate::islands::browser::stretch::Stretch;
    use crate::number::grouped;

    /// The shortest time between two times that a list grows by itself.
    const QUIET: Duration = Duration::from_secs(1);
    /// The highest count that the server reports.
    const MOST: u64 = 100;

    /// The top of a list.
    pub struct Top {
        pub list: List,
        pub button: Element,
        /// How many items the list had when it was last shown.
        shown: Cell<u64>,
        latest: Cell<u64>,
        reading: Cell<bool>,
    }

    impl Top {
        pub fn find_in(root: &Element) -> Option<Self> {
            let button = find(root, "button")?;
            let shown = number(&button, "data-count").unwrap_or(0);
            Some(Self {
                list: List::around(root)?,
                button,
                shown: Cell::new(shown),
                latest: Cell::new(shown),
                reading: Cell::new(false),
            })
        }

        /// Reports how many posts are newer than the newest one here.
        pub fn set_newer(&self, newer: u64) {
            // The reader's own new posts are already here.
            let newer = if find(self.list.feed(), ".entry-pending").is_some() {
                0
            } else {
                newer
            };
            let many = if newer < MOST {
                grouped(newer)
            } else {
                "Over 99".to_owned()
            };
            let what = attribute(&self.button, if newer == 1 { "data-one" } else { "data-more" })
                .unwrap_or_default();
            set_text(&self.button, &format!("{many} {what}"));
            if newer == 0 {
                set(&self.button, "hidden", "");
            } else {
                unset(&self.button, "hidden");
            }
        }

        /// Reports the list's current number of items.
        pub fn set_count(self: &Rc<Self>, count: u64) {
            self.latest.set(count);
            // Deleted items make room for as many new ones.
            self.shown.set(self.shown.get().min(count));
            let newer = count - self.shown.get();
            let top_in_sight = self.list.feed().get_bounding_client_rect().top() > 0.0;
            if newer > 0 && top_in_sight && self.button.has_attribute("data-by-itself") {
                self.grow();
            } else {
                self.set_newer(newer.min(MOST));
            }
        }

        /// Shows the new items and scrolls to them.
        pub fn show_them(self: &Rc<Self>) {
            let top = Rc::clone(self);
            self.read(move || {
                if let Some(first) = find(top.list.feed(), ".entry")
                    && let Some(first) = first.dyn_ref::<HtmlElement>()
                {
                    window().scroll_to_with_x_and_y(0.0, 0.0);
                    drop(first.focus());
                }
            });
        }

        /// Lets the list grow by itself, and again later if more items arrived meanwhile.
        fn grow(self: &Rc<Self>) {
            let top = Rc::clone(self);
            self.read(move || {
                let again = Rc::clone(&top);
                set_timeout(move || again.set_count(again.latest.get()), QUIET);
            });
        }

        fn read(self: &Rc<Self>, then: impl FnOnce() + 'static) {
            if self.reading.replace(true) {
                return;
            }
            let top = Rc::clone(self);
            spawn_local(async move {
                let latest = top.latest.get();
                if let Some(newest) = Stretch::fetch(&here("")).await {
                    top.list.refresh(&newest);
                    top.shown.set(latest);
                    top.set_newer(0);
                    live::settle();
                    then();
                }
                top.reading.set(false);
            });
        }
    }
}
