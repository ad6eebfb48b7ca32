//! What changes elsewhere, as it happens. All islands of a tab share one event connection: each names the owner it
//! shows, the connection watches all of them, and each hears of its own.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use js_sys::{JSON, Reflect};
use leptos::prelude::{document, set_timeout};
use model::Meter;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{EventSource, MessageEvent, VisibilityState};

use super::dom::listen;
use super::send::count;

/// The server watches at most this many owners on one connection: the ones that came into the page last.
const MOST_TOPICS: usize = 100;
/// Islands wake one after the other; this is how long the connection waits for the rest of them.
const SETTLE: Duration = Duration::from_millis(120);
/// The wait before the first new attempt after the server refused; it doubles up to 32 s.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How an owner's lists are stored: `model::Overflow` as it came over the wire.
pub struct News(JsValue);

impl News {
    /// What a meter shows of one list.
    pub fn of(&self, relation: &str) -> Option<Meter> {
        let list = Reflect::get(&self.0, &relation.into()).ok()?;
        Some(Meter {
            count: count(&list, "count")?,
            head: count(&list, "head")?,
            threshold: count(&list, "threshold")?,
            pages: count(&list, "pages")?,
        })
    }
}

type Heard = Rc<dyn Fn(&News)>;

#[derive(Default)]
struct Hub {
    /// In the order in which they came into the page.
    watched: Vec<(String, Heard)>,
    connection: Option<(EventSource, Vec<String>)>,
    settling: bool,
    refusals: u32,
}

thread_local! {
    static HUB: RefCell<Hub> = RefCell::default();
}

/// Hears of every change to an owner's lists, for as long as the page lives.
pub fn watch(topic: String, heard: impl Fn(&News) + 'static) {
    let first = HUB.with_borrow_mut(|hub| {
        hub.watched.push((topic, Rc::new(heard)));
        hub.watched.len() == 1
    });
    if first {
        // A hidden tab needs no news; and a page without an open connection can be kept for the Back button.
        listen(&document(), "visibilitychange", |_| reconsider());
    }
    settle();
}

/// Reconsiders the connection once the page has settled.
fn settle() {
    if !HUB.with_borrow_mut(|hub| std::mem::replace(&mut hub.settling, true)) {
        set_timeout(reconsider, SETTLE);
    }
}

fn reconsider() {
    let hidden = document().visibility_state() == VisibilityState::Hidden;
    HUB.with_borrow_mut(|hub| {
        hub.settling = false;
        let topics = if hidden { Vec::new() } else { hub.newest_topics() };
        let connected = hub.connection.as_ref().map_or(&[][..], |(_, topics)| topics);
        if connected != topics {
            hub.disconnect();
            hub.connection = open(&topics).map(|source| (source, topics));
        }
    });
}

fn open(topics: &[String]) -> Option<EventSource> {
    if topics.is_empty() {
        return None;
    }
    let query: Vec<_> = topics.iter().map(|topic| format!("topic={topic}")).collect();
    let source = EventSource::new(&format!("/api/v1/events?{}", query.join("&"))).ok()?;
    listen(&source, "overflow", |event| {
        if let Some(event) = event.dyn_ref::<MessageEvent>() {
            heard(event);
        }
    });
    listen(&source, "error", |_| refused());
    Some(source)
}

/// The event's id is `{topic}@{n}`.
fn heard(event: &MessageEvent) {
    let id = event.last_event_id();
    let Some((topic, _)) = id.rsplit_once('@') else {
        return;
    };
    let listeners: Vec<Heard> = HUB.with_borrow_mut(|hub| {
        hub.refusals = 0;
        hub.watched
            .iter()
            .filter(|(watched, _)| watched == topic)
            .map(|(_, heard)| Rc::clone(heard))
            .collect()
    });
    let news = event
        .data()
        .as_string()
        .and_then(|data| JSON::parse(&data).ok())
        .map(News);
    for listener in listeners {
        if let Some(news) = &news {
            listener(news);
        }
    }
}

/// The browser tries again by itself when a connection breaks, but not when the server answers with an error.
fn refused() {
    let wait = HUB.with_borrow_mut(|hub| {
        let (source, _) = hub.connection.as_ref()?;
        if source.ready_state() != EventSource::CLOSED {
            return None;
        }
        hub.connection = None;
        hub.refusals += 1;
        Some(FIRST_WAIT * 2_u32.pow(hub.refusals.min(6) - 1))
    });
    if let Some(wait) = wait {
        set_timeout(reconsider, wait);
    }
}

impl Hub {
    fn newest_topics(&self) -> Vec<String> {
        let mut topics: Vec<String> = Vec::new();
        for (topic, _) in self.watched.iter().rev() {
            if topics.len() < MOST_TOPICS && !topics.contains(topic) {
                topics.push(topic.clone());
            }
        }
        topics
    }

    fn disconnect(&mut self) {
        if let Some((source, _)) = self.connection.take() {
            source.close();
        }
    }
}
