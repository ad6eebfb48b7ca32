//! Watching owners: subscribers are notified when a change to an owner's lists was committed, by any server.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::{Handle, Kind, Overflow, Problem, Relation, Topic, View};
use store::changes::{ChangeSource, ChangedOwner};
use store::notifications::Unread;
use tokio::sync::{Notify, watch};

use super::fair_queue::Peer;
use super::places::{Full, Place, Places};
use super::problems::to_problem;
use super::{Feed, Live, Storage};

/// The shortest time between two changes of one topic: at most 10 a second.
const QUIET: Duration = Duration::from_millis(100);

/// The longest time between two attempts to read an owner while the store is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The maximum number of event streams. Each takes about thirty kilobytes with its connection.
const MOST_STREAMS: usize = 6_000;

/// The maximum number of one peer's event streams: a school behind one address, with some tabs for everybody.
const MOST_STREAMS_OF_A_PEER: usize = 1_000;

/// The maximum number of topics on all of them together. A page has twenty and a few; the busy ones have the same.
const MOST_SUBSCRIPTIONS: usize = 160_000;

/// The maximum number of topics on one peer's event streams.
const MOST_SUBSCRIPTIONS_OF_A_PEER: usize = 16_000;

/// The maximum number of different topics that are watched, each in the views of its readers. Each takes about four
/// kilobytes.
const MOST_WATCHED: usize = 24_000;

/// When to try again to open one that was refused.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// How an owner's lists are stored after a change.
#[derive(Debug, Clone)]
pub struct Change {
    /// The owner.
    pub topic: Topic,
    /// Counts the changes of this topic that were sent since it was first watched.
    pub sequence: u64,
    /// All its lists that the watcher may see.
    pub overflow: Arc<Overflow>,
}

/// The owners that somebody watches, by what each reader may see of them.
type AllWatched = HashMap<View, HashMap<Topic, Arc<Watched>>>;

/// The topics that are being watched, by the view that their watchers have. Each has one task, which reads the owner
/// once per change, whatever the number of watchers.
pub struct Events {
    watched: Mutex<AllWatched>,
    /// Changes when all data is replaced and every watch has to end.
    reset: watch::Sender<()>,
    streams: Arc<Places>,
    subscriptions: Arc<Places>,
}

/// An open event stream: its place, and those of its topics.
pub struct OpenStream {
    _stream: Place,
    _subscriptions: Place,
}

struct Watched {
    changed: Notify,
    latest: watch::Sender<Option<Change>>,
}

impl Events {
    pub(super) fn new() -> Self {
        Self {
            watched: Mutex::default(),
            reset: watch::Sender::default(),
            streams: Places::new(MOST_STREAMS, MOST_STREAMS_OF_A_PEER),
            subscriptions: Places::new(MOST_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS_OF_A_PEER),
        }
    }

    /// Notifies the watchers of what was committed. Costs nothing when nobody watches it.
    pub(super) fn changed(&self, changed: &ChangedOwner) {
        let all = self.all();
        match changed {
            ChangedOwner::One(topic) => {
                let watched = all.values().filter_map(|topics| topics.get(topic));
                watched.for_each(|watched| watched.changed.notify_one());
            }
            ChangedOwner::Any => {
                let watched = all.values().flat_map(HashMap::values);
                watched.for_each(|watched| watched.changed.notify_one());
            }
        }
    }

    fn all(&self) -> MutexGuard<'_, AllWatched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn topics(&self) -> Vec<Topic> {
        let all = self.all();
        let topics: HashSet<&Topic> = all.values().flat_map(HashMap::keys).collect();
        topics.into_iter().cloned().collect()
    }

    /// Whether somebody watches what only they may see of themselves.
    pub(super) fn somebody_watches_themselves(&self) -> bool {
        self.all()
            .get(&View::Own)
            .is_some_and(|topics| !topics.is_empty())
    }
}

impl Feed {
    /// The changes of a topic; nothing if too many others are watched.
    fn subscribe(&self, topic: &Topic, view: View) -> Option<watch::Receiver<Option<Change>>> {
        let mut all = self.events.all();
        let known = all.get(&view).and_then(|topics| topics.get(topic));
        if let Some(watched) = known {
            if view == View::Own {
                // Another server may have changed what the number of unread notifications depends on.
                watched.changed.notify_one();
            }
            return Some(watched.latest.subscribe());
        }
        if all.values().map(HashMap::len).sum::<usize>() >= MOST_WATCHED {
            return None;
        }
        let all = all.entry(view).or_default();
        let (latest, receiver) = watch::channel(None);
        let watched = Arc::new(Watched {
            changed: Notify::new(),
            latest,
        });
        all.insert(topic.clone(), Arc::clone(&watched));
        tokio::spawn(self.clone().follow(topic.clone(), view, watched));
        Some(receiver)
    }

    /// Reads the owner after every change and sends it on if it is different, until nobody watches or the owner is
    /// gone.
    async fn follow(self, topic: Topic, view: View, watched: Arc<Watched>) {
        let mut sequence = 0;
        let mut pause = QUIET;
        loop {
            match self.overflow_in(&topic, view).await {
                Ok(overflow) => {
                    pause = QUIET;
                    watched.latest.send_if_modified(|latest| {
                        if latest.as_ref().is_some_and(|latest| *latest.overflow == overflow) {
                            return false;
                        }
                        sequence += 1;
                        *latest = Some(Change {
                            topic: topic.clone(),
                            sequence,
                            overflow: Arc::new(overflow),
                        });
                        true
                    });
                }
                Err(document::Error::NoOwner(_)) => break,
                Err(error) => {
                    if pause == QUIET {
                        tracing::warn!(%error, %topic, "could not read a watched owner; trying again");
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    watched.changed.notify_one();
                }
            }
            tokio::time::sleep(pause).await;
            tokio::select! {
                biased;
                () = watched.latest.closed() => {
                    // Under the lock nobody can subscribe between the check and the removal.
                    let mut all = self.events.all();
                    if watched.latest.is_closed() {
                        all.entry(view).or_default().remove(&topic);
                        return;
                    }
                }
                () = watched.changed.notified() => {}
            }
        }
        self.events.all().entry(view).or_default().remove(&topic);
    }

    /// How an owner's lists are stored, and how many notifications the owner is shown as unread.
    async fn overflow_in(&self, topic: &Topic, view: View) -> document::Result<Overflow> {
        let mut overflow = self.store.overflow_in(topic, view).await?;
        if let Topic::User(reader) = topic
            && let Some(list) = overflow.get_mut(&Relation::Notifications)
            && let Some(unread) = list.unread
        {
            let read = list.count.saturating_sub(unread);
            let hidden = self.hidden_unread(reader, Unread { unread, read }).await;
            let hidden = hidden.map_err(|problem| document::Error::Unavailable(problem.message))?;
            list.unread = Some(unread.saturating_sub(hidden));
        }
        Ok(overflow)
    }
}

impl Live<'_> {
    /// Notifies watchers of every change that is committed to the store, for as long as the process lives. Without it,
    /// they see only the state at the beginning.
    pub async fn follow_store(self) -> Result<ChangeSource, document::Error> {
        let (events, watched) = (Arc::clone(&self.0.events), Arc::clone(&self.0.events));
        let (source, mut changes) = self.0.store.changes(Arc::new(move || watched.topics())).await?;
        tokio::spawn(async move {
            while let Some(changed) = changes.next().await {
                events.changed(&changed);
            }
        });
        Ok(source)
    }

    /// Ends all streams. Watchers reconnect and read the current state.
    pub fn reset(self) {
        self.0.events.reset.send_replace(());
    }

    /// Completes when the open streams have to end because all data was reset.
    pub fn wait_for_reset(self) -> impl Future<Output = ()> + use<> {
        let mut reset = self.0.events.reset.subscribe();
        async move {
            if reset.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Opens an event stream with so many topics for a peer, for as long as the answer is held.
    ///
    /// # Errors
    /// [`Kind::TooMany`] when the peer has too many, and [`Kind::Unavailable`] when there are too many in all.
    pub fn open_stream(self, peer: Peer, topics: usize) -> Result<OpenStream, Problem> {
        let Events {
            streams,
            subscriptions,
            ..
        } = &*self.0.events;
        Ok(OpenStream {
            _stream: streams.take(peer).map_err(refusal)?,
            _subscriptions: subscriptions.take_many(peer, topics).map_err(refusal)?,
        })
    }

    /// How many event streams are open.
    pub fn open_streams(self) -> usize {
        self.0.events.streams.taken()
    }

    /// The current state of every topic, then each change of it, as far as the reader may see it. A topic whose owner
    /// is gone sends nothing more.
    ///
    /// # Errors
    /// [`Kind::Unavailable`] when too many other topics are watched.
    pub fn watch(
        self,
        topics: &[Topic],
        reader: Option<&Handle>,
    ) -> Result<BoxStream<'static, Change>, Problem> {
        let each = topics.iter().map(|topic| {
            let receiver = self.0.subscribe(topic, View::of(topic, reader));
            let mut receiver = receiver.ok_or_else(|| refusal(Full::ForAll))?;
            receiver.mark_changed();
            let changes = stream::unfold(receiver, |mut receiver| async move {
                loop {
                    receiver.changed().await.ok()?;
                    let change = receiver.borrow_and_update().clone();
                    if let Some(change) = change {
                        return Some((change, receiver));
                    }
                }
            });
            Ok(changes.boxed())
        });
        let each: Vec<_> = each.collect::<Result<_, Problem>>()?;
        Ok(stream::select_all(each).boxed())
    }
}

/// Why no further event stream is opened.
fn refusal(full: Full) -> Problem {
    let problem = match full {
        Full::ForAll => Problem::new(
            Kind::Unavailable,
            "Many pages are live right now. Load the page again later to see changes.",
        ),
        Full::ForOne => Problem::new(
            Kind::TooMany,
            "Your address has too many live pages open. Close some of them.",
        ),
    };
    problem.for_now(RETRY_AFTER)
}

impl Storage<'_> {
    /// How an owner's lists are stored now.
    pub async fn overflow(self, topic: &Topic) -> Result<Overflow, Problem> {
        match topic {
            Topic::Post(_) => self.0.require_visible(topic, self.1).await?,
            // A page of somebody who is blocked is live, too.
            Topic::User(_) => self.0.require_shown(topic).await?,
        }
        let overflow = self.0.overflow_in(topic, self.view(topic)).await;
        overflow.map_err(to_problem)
    }
}

impl Feed {
    /// Completes when the store can be read. A ping would not do: the router of a cluster answers it by itself.
    pub async fn ready(&self) -> Result<(), Problem> {
        self.store.town().await.map(drop).map_err(to_problem)
    }
}
