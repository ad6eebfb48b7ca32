//! The reader's place in a list: the address follows it, and Back restores it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::JsValue;
use web_sys::{Element, PerformanceNavigation};

use super::dom::{around, document, listen, set_timeout, window};
use super::list::{List, here, href, pixels};

/// The shortest time between two changes of the address: browsers allow about three a second.
const QUIET: Duration = Duration::from_millis(400);
/// The assumed reading line below the masthead, in pixels.
const READING: f32 = 120.0;

/// A place in the list of a page that was left.
pub struct ScrollPosition {
    top: i32,
}

impl ScrollPosition {
    /// Keeps the address up to date with the reader's place, and saves the place whenever they leave.
    pub fn keep(list: &List) {
        let waiting = Rc::new(Cell::new(false));
        let scrolled = list.clone();
        listen(&window(), "scroll", move |_| {
            if !waiting.replace(true) {
                let (waiting, list) = (Rc::clone(&waiting), scrolled.clone());
                set_timeout(
                    move || {
                        waiting.set(false);
                        follow(&list);
                    },
                    QUIET,
                );
            }
        })
        .forever();
        let list = list.clone();
        listen(&window(), "pagehide", move |_| {
            let Some(part) = list.stretch_of(&query()) else {
                return;
            };
            let mut kept = pixels(window().scroll_y().unwrap_or_default()).to_string();
            for (height, href) in list.above(&part) {
                for part in ["\n", &height.to_string(), " ", &href] {
                    kept += part;
                }
            }
            if let (Ok(Some(storage)), Some(key)) = (window().session_storage(), key()) {
                // If the storage is full, only the place is lost.
                drop(storage.set_item(&key, &kept));
            }
        })
        .forever();
    }

    /// The place that was kept, if the reader used the Back button or reloaded the page. The stretches that they
    /// had read above this one are restored as empty elements, which are filled when they come near.
    pub fn of_going_back(list: &List) -> Option<Self> {
        let navigation = window().performance()?.navigation();
        if ![
            PerformanceNavigation::TYPE_BACK_FORWARD,
            PerformanceNavigation::TYPE_RELOAD,
        ]
        .contains(&navigation.type_())
        {
            return None;
        }
        let kept = window().session_storage().ok()??.get_item(&key()?).ok()??;
        let (top, above) = kept.split_once('\n').unwrap_or((&kept, ""));
        let above: Vec<(i32, String)> = above
            .lines()
            .filter_map(|line| {
                let (height, href) = line.split_once(' ')?;
                Some((height.parse().ok()?, href.to_owned()))
            })
            .collect();
        list.put_above(&above);
        let place = Self {
            top: top.parse().ok()?,
        };
        place.scroll_there();
        (!place.is_there()).then_some(place)
    }

    /// Whether the page is long enough again.
    pub fn is_there(&self) -> bool {
        let page = document().document_element();
        page.is_some_and(|page| self.top + page.client_height() <= page.scroll_height())
    }

    /// Scrolls to the place.
    pub fn scroll_there(&self) {
        window().scroll_to_with_x_and_y(0.0, f64::from(self.top));
    }
}

/// Changes the address to the stretch that is being read.
fn follow(list: &List) {
    let place = list.feed().get_bounding_client_rect();
    #[expect(clippy::cast_possible_truncation, reason = "a place in the window, in pixels")]
    let middle = (place.left() + place.width() / 2.0) as f32;
    let read: Option<Element> = document()
        .element_from_point(middle, READING)
        .and_then(|element| around(&element, ".stretch"));
    let above = place.top() > f64::from(READING);
    let Some(read) = read.or_else(|| list.first().filter(|_| above)) else {
        return;
    };
    let address = href(&read);
    if address != query()
        && let Ok(history) = window().history()
    {
        let state = history.state().unwrap_or(JsValue::NULL);
        // If the browser refuses the address, it stays unchanged.
        drop(history.replace_state_with_url(&state, "", Some(&here(&address))));
    }
}

fn query() -> String {
    window().location().search().unwrap_or_default()
}

fn key() -> Option<String> {
    window()
        .location()
        .href()
        .ok()
        .map(|href| format!("place {href}"))
}
