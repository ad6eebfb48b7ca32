//! A part of a page that its own links change, without leaving the page.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::{document, window};
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, MouseEvent};

use super::dom::{around, attribute, empty, find, listen, set, set_text};
use super::list::here;
use super::stretch::fetch_page;

struct Pane {
    root: Element,
    /// How often something was asked for; only the last answer counts.
    asked: Cell<u32>,
    /// The query of what is shown.
    shown: RefCell<String>,
}

/// Takes over the links that lead to another query, and Back and Forward between them.
pub fn bind(root: &Element) {
    let pane = Rc::new(Pane {
        root: root.clone(),
        asked: Cell::new(0),
        shown: RefCell::new(query()),
    });
    let clicked = Rc::clone(&pane);
    listen(root, "click", move |event| {
        let link = event
            .target()
            .and_then(|target| target.dyn_into().ok())
            .and_then(|target: Element| around(&target, "a[href^='?']"));
        let Some(href) = link
            .filter(|_| is_plain(&event))
            .and_then(|link| attribute(&link, "href"))
        else {
            return;
        };
        event.prevent_default();
        // Until the answer is there, the link still says what it said before.
        if attribute(&clicked.root, "aria-busy").as_deref() != Some("true") {
            clicked.show(href, true);
        }
    })
    .for_good();
    listen(&window(), "popstate", move |_| {
        let query = query();
        // A link within the page comes here, too.
        if *pane.shown.borrow() != query {
            pane.show(query, false);
        }
    })
    .for_good();
}

fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Whether a click asks for nothing special, such as a tab of its own.
fn is_plain(event: &web_sys::Event) -> bool {
    event.dyn_ref::<MouseEvent>().is_none_or(|click| {
        click.button() == 0 && !(click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key())
    })
}

impl Pane {
    /// Shows the page's pane for another query. When it does not come, the browser goes to that page, which says why.
    fn show(self: &Rc<Self>, wanted: String, by_link: bool) {
        let pane = Rc::clone(self);
        let nth = pane.asked.get() + 1;
        pane.asked.set(nth);
        set(&pane.root, "aria-busy", "true");
        spawn_local(async move {
            let address = here(&wanted);
            let fetched = fetch_page(&address).await;
            if pane.asked.get() != nth {
                return;
            }
            set(&pane.root, "aria-busy", "false");
            let Some(new) = fetched.and_then(|page| page.query_selector(".pane").ok()?) else {
                drop(window().location().set_href(&address));
                return;
            };
            if by_link && let Ok(history) = window().history() {
                drop(history.push_state_with_url(&JsValue::NULL, "", Some(&address)));
            }
            pane.shown.replace(query());
            pane.put(&new.inner_html());
        });
    }

    /// Puts new contents into the pane. Who was at a link is at the same one again, or at what stands in its place.
    fn put(&self, html: &str) {
        let active = document().active_element();
        let id = active
            .filter(|active| self.root.contains(Some(active)))
            .map(|active| active.id());
        empty(&self.root);
        self.root.set_inner_html(html);
        if let Some(same) = id.and_then(|id| document().get_element_by_id(&id))
            && let Ok(same) = same.dyn_into::<HtmlElement>()
        {
            drop(same.focus());
        }
        let said = find(&self.root, "[data-said]").and_then(|part| attribute(&part, "data-said"));
        if let (Some(said), Some(status)) = (said, document().get_element_by_id("said")) {
            set_text(&status, &said);
        }
    }
}
