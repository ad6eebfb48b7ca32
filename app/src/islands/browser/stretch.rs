//! Putting more of a list into the page: another page of ours is fetched, and what its list holds moves over, awake.

use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Document, DomParser, Element, Response, SupportedType};

use super::dom::{all, attribute, find};

/// A list in the page.
pub struct List {
    feed: Element,
}

impl List {
    /// The list that an element belongs to.
    pub fn around(element: &Element) -> Option<Self> {
        Some(Self {
            feed: find(&element.closest(".list").ok()??, ".feed")?,
        })
    }

    /// Puts what a stretch holds at the end.
    pub async fn append(&self, stretch: &Stretch) {
        for item in stretch.items() {
            if self.feed.append_child(&item).is_ok() {
                wake(&item).await;
            }
        }
    }

    /// Puts those items of a stretch in front that are not in the page yet.
    pub async fn prepend_new(&self, stretch: &Stretch) {
        let first = self.feed.first_child();
        for item in stretch.items() {
            let is_new = !item.id().is_empty() && document().get_element_by_id(&item.id()).is_none();
            if is_new && self.feed.insert_before(&item, first.as_ref()).is_ok() {
                wake(&item).await;
            }
        }
    }
}

/// The list of another page.
pub struct Stretch {
    page: Document,
}

impl Stretch {
    /// Fetches a page; nothing when the server does not answer with one that has a list.
    pub async fn fetch(href: &str) -> Option<Self> {
        let response: Response = JsFuture::from(window().fetch_with_str(href))
            .await
            .ok()?
            .dyn_into()
            .ok()?;
        if !response.ok() {
            return None;
        }
        let html = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
        let page = DomParser::new()
            .ok()?
            .parse_from_string(&html, SupportedType::TextHtml)
            .ok()?;
        page.query_selector(".list .feed").ok()??;
        Some(Self { page })
    }

    /// Replaces the end of a list by this one's: the link to what comes next, or the end.
    pub fn put_end_into(&self, end: &Element) {
        if let Ok(Some(more)) = self.page.query_selector(".list .feed-more") {
            end.set_inner_html(&more.inner_html());
        }
    }

    fn items(&self) -> Vec<Element> {
        self.page
            .document_element()
            .map_or_else(Vec::new, |page| all(&page, ".list .feed > *"))
    }
}

/// Wakes the islands in an element that has come into the page, as the page's start-up script does for those that
/// were there from the beginning.
async fn wake(element: &Element) {
    let hydrate = js_sys::Reflect::get(&window(), &JsValue::from_str("__hydrateIsland"));
    let Some(hydrate) = hydrate
        .ok()
        .and_then(|hydrate| hydrate.dyn_into::<js_sys::Function>().ok())
    else {
        return;
    };
    for island in all(element, "leptos-island") {
        let id = attribute(&island, "data-component").unwrap_or_default();
        let woken = hydrate.call2(&JsValue::NULL, &island, &JsValue::from_str(&id));
        if let Some(waking) = woken
            .ok()
            .and_then(|woken| woken.dyn_into::<js_sys::Promise>().ok())
            && JsFuture::from(waking).await.is_err()
        {
            leptos::logging::error!("an island did not wake");
        }
    }
}
