//! Live updates. All islands of a tab share one event connection: each names the owners that it shows, the
//! connection watches all of them, and each island gets the events of its own.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use js_sys::{JSON, Math, Reflect};
use model::Meter;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, EventSource, MessageEvent, VisibilityState};

use super::dom::{Listening, attribute, document, hold, listen, set_text, set_timeout, window};
use super::send::count;

/// The server watches at most this many owners on one connection: the ones added to the page last.
const MOST_TOPICS: usize = 100;
/// Islands wake one after the other; the connection waits this long for the rest of them.
const SETTLE: Duration = Duration::from_millis(120);
/// The wait before the first reconnection; it doubles up to 32 s.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The number of failed attempts after which the reader is told, if nothing else told them: a restarting server is
/// back sooner.
const FAILURES_BEFORE_NOTICE: u32 = 2;
const NOT_CONNECTED: &str = "Not connected. Your changes are sent as soon as Spillway answers again.";

/// How an owner's lists are stored: `model::Overflow` as it came over the wire.
pub struct News(JsValue);

impl News {
    /// The number that a page shows of one list: of notifications, the unread ones.
    pub fn number(&self, relation: &str) -> Option<u64> {
        let list = Reflect::get(&self.0, &relation.into()).ok()?;
        count(&list, "unread").or_else(|| count(&list, "count"))
    }

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

type OnNews = Rc<dyn Fn(&News)>;
type OnNewPosts = Rc<dyn Fn(u64)>;

#[derive(Default)]
struct Hub {
    /// In the order in which they were added to the page.
    watched: Vec<(String, OnNews)>,
    /// The list of posts in the page, and the callback for newer ones.
    posts: Option<(Element, OnNewPosts)>,
    connection: Option<Connection>,
    settling: bool,
    failures: u32,
}

/// An event stream that is open or being opened.
struct Connection {
    source: EventSource,
    query: String,
    _listening: [Listening; 4],
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.source.close();
    }
}

thread_local! {
    static HUB: RefCell<Hub> = RefCell::default();
}

/// Subscribes to every change of an owner's lists, for as long as an element is in the page.
pub fn watch(part: &Element, topic: String, listener: impl Fn(&News) + 'static) {
    let listener: OnNews = Rc::new(listener);
    hold(part, Watching(Rc::clone(&listener)));
    HUB.with_borrow_mut(|hub| hub.watched.push((topic, listener)));
    settle();
}

/// Subscribes to the number of posts that are newer than the newest of a list in the page.
pub fn watch_posts(feed: Element, listener: impl Fn(u64) + 'static) {
    HUB.with_borrow_mut(|hub| hub.posts = Some((feed, Rc::new(listener))));
    settle();
}

/// Ends the subscription once its element is gone.
struct Watching(OnNews);

impl Drop for Watching {
    fn drop(&mut self) {
        HUB.with_borrow_mut(|hub| hub.watched.retain(|(_, listener)| !Rc::ptr_eq(listener, &self.0)));
        settle();
    }
}

/// Reconsiders the connection once the page has settled.
pub fn settle() {
    thread_local! {
        static TAB_LISTENERS: [Listening; 3] = {
            if !window().navigator().on_line() {
                show_status(NOT_CONNECTED);
            }
            [
                // A hidden tab needs no updates; and browsers can keep a page without an open connection for the
                // Back button.
                listen(&document(), "visibilitychange", |_| try_now()),
                listen(&window(), "offline", |_| show_status(NOT_CONNECTED)),
                listen(&window(), "online", |_| back_online()),
            ]
        };
    }
    TAB_LISTENERS.with(|_| {});
    if !HUB.with_borrow_mut(|hub| std::mem::replace(&mut hub.settling, true)) {
        set_timeout(reconsider, SETTLE);
    }
}

/// Records whether the server answered another request of the page. If it did not, the reader is told at once.
pub fn asked(answered: bool) {
    if !answered {
        show_status(NOT_CONNECTED);
    } else if is_saying() {
        clear_status();
        try_now();
    }
}

/// A connection that was open when the network went away may be dead without an error.
fn back_online() {
    HUB.with_borrow_mut(|hub| hub.connection = None);
    reconsider();
    if HUB.with_borrow(|hub| hub.connection.is_none()) {
        clear_status();
    }
}

/// A reader who returns to a tab does not wait for the next attempt.
fn try_now() {
    HUB.with_borrow_mut(|hub| {
        if hub.failures > 0 {
            hub.connection = None;
        }
    });
    reconsider();
}

fn reconsider() {
    let hidden = document().visibility_state() == VisibilityState::Hidden;
    let before = HUB.with_borrow_mut(|hub| {
        hub.settling = false;
        let query = if hidden { String::new() } else { hub.query() };
        if hub.connection.as_ref().map_or("", |connection| &connection.query) == query {
            return None;
        }
        let opened = (!query.is_empty()).then(|| open(query)).flatten();
        std::mem::replace(&mut hub.connection, opened)
    });
    drop(before);
}

fn open(query: String) -> Option<Connection> {
    let source = EventSource::new(&format!("/api/v1/events?{query}")).ok()?;
    Some(Connection {
        _listening: [
            listen(&source, "overflow", |event| {
                if let Some(event) = event.dyn_ref::<MessageEvent>() {
                    notify_of_owner(event);
                }
            }),
            listen(&source, "posts", |event| {
                if let Some(event) = event.dyn_ref::<MessageEvent>() {
                    notify_of_posts(event);
                }
            }),
            listen(&source, "open", |_| {
                HUB.with_borrow_mut(|hub| hub.failures = 0);
                clear_status();
            }),
            listen(&source, "error", |_| broken()),
        ],
        source,
        query,
    })
}

/// The event's id is `{topic}@{n}`.
fn notify_of_owner(event: &MessageEvent) {
    let id = event.last_event_id();
    let (Some((topic, _)), Some(data)) = (id.rsplit_once('@'), data(event)) else {
        return;
    };
    let listeners: Vec<OnNews> = HUB.with_borrow(|hub| {
        hub.watched
            .iter()
            .filter(|(watched, _)| watched == topic)
            .map(|(_, listener)| Rc::clone(listener))
            .collect()
    });
    let news = News(data);
    for listener in listeners {
        listener(&news);
    }
}

fn notify_of_posts(event: &MessageEvent) {
    let listener = HUB.with_borrow(|hub| hub.posts.as_ref().map(|(_, listener)| Rc::clone(listener)));
    let newer = data(event).and_then(|data| count(&data, "newer"));
    if let (Some(listener), Some(newer)) = (listener, newer) {
        listener(newer);
    }
}

fn data(event: &MessageEvent) -> Option<JsValue> {
    JSON::parse(&event.data().as_string()?).ok()
}

/// Reconnects, later each time and not at the same moment as all other tabs.
fn broken() {
    let failures = HUB.with_borrow_mut(|hub| {
        if let Some(connection) = &hub.connection {
            connection.source.close();
        }
        hub.failures += 1;
        hub.failures
    });
    if failures >= FAILURES_BEFORE_NOTICE {
        show_status(NOT_CONNECTED);
    }
    let wait = FIRST_WAIT * 2_u32.pow(failures.min(6) - 1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 1023"
    )]
    let scatter = Duration::from_millis((Math::random() * 1024.0) as u64);
    set_timeout(
        move || {
            // A newer attempt counts its own failures.
            if HUB.with_borrow(|hub| hub.failures == failures) {
                try_now();
            }
        },
        wait / 2 + scatter,
    );
}

/// In the corner that every page has for it.
fn show_status(message: &str) {
    if let Some(corner) = corner() {
        set_text(&corner, message);
    }
}

/// An answer that was on its way when the network went away does not mean that there is a network.
fn clear_status() {
    if window().navigator().on_line() {
        show_status("");
    }
}

fn is_saying() -> bool {
    corner().is_some_and(|corner| corner.text_content().is_some_and(|said| !said.is_empty()))
}

fn corner() -> Option<Element> {
    document().get_element_by_id("connection")
}

impl Hub {
    /// The query for what the connection should watch: `topic=…&topic=…&posts=…`.
    fn query(&self) -> String {
        let mut topics: Vec<&str> = Vec::new();
        for (topic, _) in self.watched.iter().rev() {
            if topics.len() < MOST_TOPICS && !topics.contains(&topic.as_str()) {
                topics.push(topic);
            }
        }
        let mut asked = String::new();
        for topic in topics {
            for part in ["topic=", topic, "&"] {
                asked += part;
            }
        }
        if let Some((feed, _)) = &self.posts
            && let (Some(list), Some(newest)) =
                (attribute(feed, "data-posts"), attribute(feed, "data-newest"))
        {
            for part in ["posts=", &list, "&since=", &newest] {
                asked += part;
            }
        }
        asked
    }
}
