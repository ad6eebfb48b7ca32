//! What changes elsewhere, as it happens. All islands of a tab share one event connection: each names the owners it
//! shows, the connection watches all of them, and each hears of its own.

use std::sync::Arc;

use leptos::prelude::*;
use model::{Overflow, Topic};

/// How an owner's lists are stored, each time that changes; `None` until the first news, and always on the server.
///
/// The owner is watched until the reactive owner that asks is cleaned up.
pub fn overflow(topic: &Topic) -> Signal<Option<Arc<Overflow>>> {
    #[cfg(target_arch = "wasm32")]
    return hub::watch(topic.to_string());
    #[cfg(not(target_arch = "wasm32"))]
    {
        let _: &Topic = topic;
        Signal::stored(None)
    }
}

#[cfg(target_arch = "wasm32")]
mod hub {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    use leptos::prelude::*;
    use model::Overflow;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::Closure;
    use web_sys::{Event, EventSource, MessageEvent, VisibilityState};

    /// The server watches at most this many owners on one connection: the ones that came into the page last.
    const MOST_TOPICS: usize = 100;
    /// Islands wake one after the other; this is how long the connection waits for the rest of them.
    const SETTLE: Duration = Duration::from_millis(120);
    /// The wait before the first new attempt after the server refused; it doubles up to [`LONGEST_WAIT`].
    const FIRST_WAIT: Duration = Duration::from_secs(1);
    const LONGEST_WAIT: Duration = Duration::from_secs(30);

    type News = ArcRwSignal<Option<Arc<Overflow>>>;

    thread_local! {
        static HUB: RefCell<Hub> = RefCell::default();
    }

    #[derive(Default)]
    struct Hub {
        watched: BTreeMap<String, Watched>,
        arrivals: u64,
        connection: Option<Connection>,
        settling: bool,
        listening_to_visibility: bool,
        refusals: u32,
    }

    struct Watched {
        news: News,
        watchers: usize,
        arrival: u64,
    }

    struct Connection {
        source: EventSource,
        topics: Vec<String>,
        _overflow: Closure<dyn FnMut(MessageEvent)>,
        _error: Closure<dyn FnMut(Event)>,
    }

    impl Drop for Connection {
        fn drop(&mut self) {
            self.source.close();
        }
    }

    pub fn watch(topic: String) -> Signal<Option<Arc<Overflow>>> {
        let news = HUB.with_borrow_mut(|hub| {
            hub.arrivals += 1;
            let arrival = hub.arrivals;
            let watched = hub.watched.entry(topic.clone()).or_insert_with(|| Watched {
                news: ArcRwSignal::new(None),
                watchers: 0,
                arrival,
            });
            watched.watchers += 1;
            watched.news.clone()
        });
        settle();
        on_cleanup(move || {
            HUB.with_borrow_mut(|hub| {
                if let Some(watched) = hub.watched.get_mut(&topic) {
                    watched.watchers -= 1;
                    if watched.watchers == 0 {
                        hub.watched.remove(&topic);
                    }
                }
            });
            settle();
        });
        news.into()
    }

    /// Reconsiders the connection once the page has settled.
    fn settle() {
        let (first, listen) = HUB.with_borrow_mut(|hub| {
            let first = !std::mem::replace(&mut hub.settling, true);
            let listen = !std::mem::replace(&mut hub.listening_to_visibility, true);
            (first, listen)
        });
        if listen {
            // A hidden tab needs no news; and a page without an open connection can be kept for the Back button.
            let handle = window_event_listener_untyped("visibilitychange", |_| reconsider());
            std::mem::forget(handle);
        }
        if first {
            set_timeout(reconsider, SETTLE);
        }
    }

    fn reconsider() {
        let hidden = document().visibility_state() == VisibilityState::Hidden;
        HUB.with_borrow_mut(|hub| {
            hub.settling = false;
            let topics = if hidden { Vec::new() } else { hub.newest_topics() };
            let connected = hub
                .connection
                .as_ref()
                .map_or(&[][..], |connection| &connection.topics);
            if connected != topics {
                hub.connection = None;
                hub.connection = Connection::open(topics);
            }
        });
    }

    fn heard(event: &MessageEvent) {
        let id = event.last_event_id();
        let news = HUB.with_borrow_mut(|hub| {
            hub.refusals = 0;
            let (topic, _) = id.rsplit_once('@')?;
            hub.watched.get(topic).map(|watched| watched.news.clone())
        });
        let overflow = event
            .data()
            .as_string()
            .and_then(|data| serde_json::from_str::<Overflow>(&data).ok());
        if let (Some(news), Some(overflow)) = (news, overflow) {
            news.set(Some(Arc::new(overflow)));
        }
    }

    /// The browser tries again by itself when a connection breaks, but not when the server answers with an error.
    fn refused() {
        let wait = HUB.with_borrow_mut(|hub| {
            let closed = hub
                .connection
                .as_ref()
                .is_some_and(|connection| connection.source.ready_state() == EventSource::CLOSED);
            closed.then(|| {
                hub.connection = None;
                hub.refusals += 1;
                LONGEST_WAIT.min(FIRST_WAIT * 2_u32.pow(hub.refusals.min(6) - 1))
            })
        });
        if let Some(wait) = wait {
            set_timeout(reconsider, wait);
        }
    }

    impl Hub {
        fn newest_topics(&self) -> Vec<String> {
            let mut newest: Vec<_> = self
                .watched
                .iter()
                .map(|(topic, watched)| (watched.arrival, topic))
                .collect();
            newest.sort_unstable();
            newest
                .into_iter()
                .rev()
                .take(MOST_TOPICS)
                .map(|(_, topic)| topic.clone())
                .collect()
        }
    }

    impl Connection {
        fn open(topics: Vec<String>) -> Option<Self> {
            if topics.is_empty() {
                return None;
            }
            let query: Vec<_> = topics.iter().map(|topic| format!("topic={topic}")).collect();
            let source = EventSource::new(&format!("/api/v1/events?{}", query.join("&"))).ok()?;
            let overflow = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| heard(&event));
            let error = Closure::<dyn FnMut(Event)>::new(|_| {
                // Not at once: the connection must not be dropped from inside its own callback.
                set_timeout(refused, Duration::ZERO);
            });
            source
                .add_event_listener_with_callback("overflow", overflow.as_ref().unchecked_ref())
                .ok()?;
            source.set_onerror(Some(error.as_ref().unchecked_ref()));
            Some(Self {
                source,
                topics,
                _overflow: overflow,
                _error: error,
            })
        }
    }
}
