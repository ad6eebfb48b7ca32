//! A stretch of a list on another page of ours: fetched, to be inserted into this one.

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Document, DomParser, Element, Response, SupportedType};

use super::dom::{attribute, find, window};
use super::live;
use super::send::SERVICE_UNAVAILABLE;

/// The list of another page.
pub struct Stretch {
    page: Document,
    list: Element,
    /// The element that holds its items.
    pub part: Element,
}

impl Stretch {
    /// Fetches a page; nothing when the server does not answer with a page that has a list.
    pub async fn fetch(href: &str) -> Option<Self> {
        let page = fetch_page(href).await?;
        let list = page.query_selector(".list").ok()??;
        let part = find(&list, ".stretch")?;
        Some(Self { page, list, part })
    }

    /// The list's own element, which describes the list.
    pub fn feed(&self) -> Option<Element> {
        find(&self.list, ".feed")
    }

    /// Where the list continues after this stretch.
    pub fn next(&self) -> Option<String> {
        attribute(&find(&self.list, ".load-more")?, "href")
    }

    /// Replaces the end of a list by this stretch's end: the link to the next stretch, or the end of the list.
    pub fn put_end_into(&self, end: &Element) {
        if let Ok(Some(more)) = self.page.query_selector(".list .feed-more") {
            end.set_inner_html(&more.inner_html());
        }
    }
}

/// Fetches a page of ours.
pub async fn fetch_page(href: &str) -> Option<Document> {
    let answer = JsFuture::from(window().fetch_with_str(href)).await;
    let response: Option<Response> = answer.ok().and_then(|response| response.dyn_into().ok());
    live::asked(
        response
            .as_ref()
            .is_some_and(|response| response.status() != SERVICE_UNAVAILABLE),
    );
    let response = response?;
    if !response.ok() {
        return None;
    }
    let html = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
    DomParser::new()
        .ok()?
        .parse_from_string(&html, SupportedType::TextHtml)
        .ok()
}
