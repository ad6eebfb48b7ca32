//! A part of a page that its own links change, without leaving the page; and that follows an owner, where it names one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::{document, window};
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, EventTarget, FocusOptions, HtmlElement, HtmlFormElement, MouseEvent};

use super::dom::{all, around, attribute, empty, find, listen, number, pause, set, set_text, unset};
use super::list::here;
use super::live::watch;
use super::send::send_once;
use super::stretch::fetch_page;

/// The shortest time between two looks at what changed.
const QUIET: Duration = Duration::from_millis(400);

/// How often to look whether what was pressed was let go.
const PRESS: Duration = Duration::from_millis(50);

/// What can be folded, what can be scrolled, and where the keyboard stops.
const FOLDS: &str = "details";
const SCROLLED: &str = "[tabindex]";
const STOPS: &str = "a, button, summary, [tabindex]";

struct Pane {
    root: Element,
    /// How often something was asked for; only the last answer counts.
    asked: Cell<u32>,
    /// The query of what is shown.
    shown: RefCell<String>,
    /// Whether there is news that is not shown yet.
    stale: Cell<bool>,
    /// Whether news is being waited for or fetched.
    following: Cell<bool>,
    /// Whether it is decided when to look again.
    looking: Cell<bool>,
    /// Whether a pointer or a key is down in it.
    pressed: Cell<bool>,
}

/// Takes over the links that lead to another query, Back and Forward between them, and the forms that stay on the page.
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
    // The part around the pane stays when the pane is emptied.
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
        // Until the answer is there, the link still says what it said before.
        if attribute(&clicked.root, "aria-busy").as_deref() != Some("true") {
            clicked.show(href, true);
        }
    })
    .for_good();
    for (what, pressed) in [
        ("pointerdown", true),
        ("keydown", true),
        ("pointerup", false),
        ("pointercancel", false),
        ("keyup", false),
    ] {
        let pane = Rc::clone(&pane);
        // It may be let go elsewhere.
        let place: &EventTarget = if pressed { root } else { &document() };
        listen(place, what, move |_| pane.pressed.set(pressed)).for_good();
    }
    pane.look_again();
    let sent = Rc::clone(&pane);
    listen(root, "submit", move |event| {
        let form = event.target().and_then(|target| target.dyn_into().ok());
        if let Some(form) = form.filter(|form: &HtmlFormElement| form.has_attribute("data-stay")) {
            event.prevent_default();
            sent.send(form);
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
            if let Some(focused) = pane.put(&new.inner_html()) {
                drop(focused.focus());
            }
            pane.say();
            pane.look_again();
        });
    }

    /// Where the contents have an element with `data-again`, looks once more after so many milliseconds; not while nobody
    /// sees the page.
    fn look_again(self: &Rc<Self>) {
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

    /// Sends a form, once, and shows what it changed. When it is refused, the browser sends it: the page that comes says why.
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

    /// Shows what is news, and what is news by then, until there is none: a few times a second at most.
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
            pane.look_again();
        });
    }

    /// Fetches what is shown once more. Nothing else changes: what was folded stays folded, what was scrolled stays where it
    /// was. When it does not come, the next news will.
    async fn again(&self) {
        if attribute(&self.root, "aria-busy").as_deref() == Some("true") {
            return;
        }
        let asked = self.asked.get();
        let fetched = fetch_page(&here(&query())).await;
        let Some(new) = fetched.and_then(|page| page.query_selector(".pane").ok()?) else {
            return;
        };
        // What is pressed now must be there when it is let go.
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
        self.say_what_is_new();
    }

    /// Puts new contents into the pane. Answers the link that somebody was at, or what stands in its place.
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

    /// Tells who listens what is shown now.
    fn say(&self) {
        if let (Some(said), Some(status)) = (self.said("[data-said]"), status()) {
            set_text(&status, &said);
        }
    }

    /// The same after a change that nobody here asked for, if the contents are of those that change by themselves, and if it was
    /// not told before.
    fn say_what_is_new(&self) {
        if let (Some(said), Some(status)) = (self.said("[data-again][data-said]"), status())
            && status.text_content().as_deref() != Some(&said)
        {
            set_text(&status, &said);
        }
    }

    fn said(&self, part: &str) -> Option<String> {
        attribute(&find(&self.root, part)?, "data-said")
    }
}

/// Where screen readers are told.
fn status() -> Option<Element> {
    document().get_element_by_id("said")
}
