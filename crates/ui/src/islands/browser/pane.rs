//! A part of a page that its own links change without leaving the page. If it names an owner, it also follows that
//! owner's changes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, EventTarget, FocusOptions, HtmlElement, HtmlFormElement, MouseEvent};

use super::dom::{
    all, around, attribute, document, empty, find, listen, number, pause, set, set_text, unset, window,
};
use super::list::here;
use super::live::watch;
use super::send::send_once;
use super::stretch::fetch_page;

/// The shortest time between two fetches after changes.
const QUIET: Duration = Duration::from_millis(400);

/// How often to check whether a pressed pointer or key was released.
const PRESS: Duration = Duration::from_millis(50);

/// Elements that can be folded, scrolled or focused.
const FOLDS: &str = "details";
const SCROLLED: &str = "[tabindex]";
const STOPS: &str = "a, button, summary, [tabindex]";

struct Pane {
    root: Element,
    /// Counts the requests; only the last answer is used.
    asked: Cell<u32>,
    /// The query of the current contents.
    shown: RefCell<String>,
    /// Whether there is a change that is not shown yet.
    stale: Cell<bool>,
    /// Whether a change is being waited for or fetched.
    following: Cell<bool>,
    /// Whether the next fetch is scheduled.
    looking: Cell<bool>,
    /// Whether a pointer or a key is pressed in it.
    pressed: Cell<bool>,
}

/// Takes over the links that lead to another query, Back and Forward between them, and the forms that stay on the
/// page.
pub fn bind(root: &Element) {
    let pane = Rc::new(Pane {
        root: root.clone(),
        asked: Cell::new(0),
        shown: RefCell::new(query()),
        stale: Cell::new(false),
        following: Cell::new(false),
        looking: Cell::new(false),
        pressed: Cell::new(false),
    });
    let topic = find(root, "[data-topic]").and_then(|part| attribute(&part, "data-topic"));
    // The element around the pane stays when the pane is emptied.
    if let (Some(topic), Some(around)) = (topic, root.parent_element()) {
        let followed = Rc::clone(&pane);
        watch(&around, topic, move |_| followed.follow());
    }
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
        // As when a browser is still loading a page, the last link that was followed counts.
        clicked.show(href, true);
    })
    .forever();
    for (what, pressed) in [
        ("pointerdown", true),
        ("keydown", true),
        ("pointerup", false),
        ("pointercancel", false),
        ("keyup", false),
    ] {
        let pane = Rc::clone(&pane);
        // It may be released elsewhere.
        let place: &EventTarget = if pressed { root } else { &document() };
        listen(place, what, move |_| pane.pressed.set(pressed)).forever();
    }
    pane.poll();
    let sent = Rc::clone(&pane);
    listen(root, "submit", move |event| {
        let form = event.target().and_then(|target| target.dyn_into().ok());
        if let Some(form) = form.filter(|form: &HtmlFormElement| form.has_attribute("data-stay")) {
            event.prevent_default();
            sent.send(form);
        }
    })
    .forever();
    listen(&window(), "popstate", move |_| {
        let query = query();
        // A link within the page triggers this event, too.
        if *pane.shown.borrow() != query {
            pane.show(query, false);
        }
    })
    .forever();
}

fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Whether a click is a plain one: it does not ask for a new tab, for example.
fn is_plain(event: &web_sys::Event) -> bool {
    event.dyn_ref::<MouseEvent>().is_none_or(|click| {
        click.button() == 0 && !(click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key())
    })
}

impl Pane {
    /// Shows the page's pane for another query. If the fetch fails, the browser navigates to that page, which
    /// shows the reason.
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
            if let Some(focused) = pane.put(&new.inner_html()) {
                drop(focused.focus());
            }
            pane.announce();
            pane.poll();
        });
    }

    /// If the contents have an element with `data-again`, fetches them again after that many milliseconds; not
    /// while the page is hidden.
    fn poll(self: &Rc<Self>) {
        let part = find(&self.root, "[data-again]");
        let Some(wait) = part.and_then(|part| number(&part, "data-again")) else {
            return;
        };
        if self.looking.replace(true) {
            return;
        }
        let pane = Rc::clone(self);
        spawn_local(async move {
            pause(Duration::from_millis(wait)).await;
            while document().hidden() {
                pause(Duration::from_millis(wait)).await;
            }
            pane.looking.set(false);
            pane.follow();
        });
    }

    /// Sends a form, once, and shows what it changed. If it is refused, the browser sends it: the next page shows
    /// the reason.
    fn send(self: &Rc<Self>, form: HtmlFormElement) {
        let pane = Rc::clone(self);
        let sent = send_once(&form);
        spawn_local(async move {
            match (sent.await, form.is_connected()) {
                (Some(400..500), true) => drop(form.submit()),
                (Some(400..500), false) => drop(window().location().reload()),
                _ => pane.follow(),
            }
        });
    }

    /// Shows pending changes, and those that arrive meanwhile, until there are none: a few times a second at most.
    fn follow(self: &Rc<Self>) {
        self.stale.set(true);
        if self.following.replace(true) {
            return;
        }
        let pane = Rc::clone(self);
        spawn_local(async move {
            while pane.stale.take() {
                pane.again().await;
                pause(QUIET).await;
            }
            pane.following.set(false);
            pane.poll();
        });
    }

    /// Fetches the current contents again. Nothing else changes: folded parts stay folded, and scrolled parts keep
    /// their position. If the fetch fails, the next change triggers another.
    async fn again(&self) {
        if attribute(&self.root, "aria-busy").as_deref() == Some("true") {
            return;
        }
        let asked = self.asked.get();
        let fetched = fetch_page(&here(&query())).await;
        let Some(new) = fetched.and_then(|page| page.query_selector(".pane").ok()?) else {
            return;
        };
        // The element that is pressed now must still be there when it is released.
        while self.pressed.get() {
            pause(PRESS).await;
        }
        let html = new.inner_html();
        if self.asked.get() != asked || self.root.inner_html() == html {
            return;
        }
        let parts = |of: &str| all(&self.root, of);
        let open: Vec<bool> = parts(FOLDS)
            .iter()
            .map(|fold| fold.has_attribute("open"))
            .collect();
        let place = |part: &Element| (part.scroll_top(), part.scroll_left());
        let scrolled: Vec<_> = parts(SCROLLED).iter().map(place).collect();
        if let Some(focused) = self.put(&html) {
            let where_it_is = FocusOptions::new();
            where_it_is.set_prevent_scroll(true);
            drop(focused.focus_with_options(&where_it_is));
        }
        for (fold, open) in parts(FOLDS).iter().zip(open) {
            if open {
                set(fold, "open", "");
            } else {
                unset(fold, "open");
            }
        }
        for (part, (top, left)) in parts(SCROLLED).iter().zip(scrolled) {
            part.set_scroll_top(top);
            part.set_scroll_left(left);
        }
        self.announce_changes();
    }

    /// Puts new contents into the pane. Returns the link that had the focus, or the element that replaced it.
    fn put(&self, html: &str) -> Option<HtmlElement> {
        let active = document().active_element();
        let focused = active.filter(|active| self.root.contains(Some(active)));
        let id = focused.as_ref().map(Element::id);
        let place =
            focused.and_then(|focused| all(&self.root, STOPS).iter().position(|stop| *stop == focused));
        empty(&self.root);
        self.root.set_inner_html(html);
        let same = match id {
            Some(id) if !id.is_empty() => document().get_element_by_id(&id),
            _ => all(&self.root, STOPS).into_iter().nth(place?),
        };
        same?.dyn_into().ok()
    }

    /// Announces the current contents to screen readers.
    fn announce(&self) {
        if let (Some(said), Some(status)) = (self.announcement("[data-said]"), status()) {
            set_text(&status, &said);
        }
    }

    /// Announces the contents after a change that the reader did not make, if they change by themselves and the
    /// text was not announced before.
    fn announce_changes(&self) {
        if let (Some(said), Some(status)) = (self.announcement("[data-again][data-said]"), status())
            && status.text_content().as_deref() != Some(&said)
        {
            set_text(&status, &said);
        }
    }

    fn announcement(&self, part: &str) -> Option<String> {
        attribute(&find(&self.root, part)?, "data-said")
    }
}

/// The live region for screen readers.
fn status() -> Option<Element> {
    document().get_element_by_id("said")
}
