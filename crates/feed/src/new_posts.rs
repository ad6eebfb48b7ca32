//! Tells readers that there are newer posts and shares than those on their page. However many readers wait, a server
//! asks its store for the newest of both at most once a second; only when one changes does it count each list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::{Cursor, Handle, PostId, Problem};
use store::Store;
use store::posts::{Order, StoredPost};
use store::restrictions::Restricted;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use super::Live;
use super::posts::{Hides, in_a_feed, is_above, on_a_profile, people_of};
use super::problems::to_problem;
use super::restrictions::restricted_of;

/// The time between two polls while somebody waits.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a new post is announced: when it is first seen, it may not have reached the timelines of its author's
/// followers yet.
const ANNOUNCEMENTS: u32 = 3;

/// The highest count of new posts and shares.
const MOST: usize = 100;

/// How many lists are counted at once. Every open page waits for a count after every new post, so without a bound they
/// would keep all cores busy.
const AT_ONCE: usize = 2;

/// A list of posts, newest first, that a reader may watch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PostList {
    /// Posts by the people whom the reader follows; everybody's for a reader who is not signed in.
    Home,
    /// What one person wrote and shared.
    By(Handle),
}

impl std::str::FromStr for PostList {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        if input == "home" {
            return Ok(Self::Home);
        }
        let handle = input
            .parse()
            .map_err(|_| Problem::invalid("posts", "The posts to watch are home or somebody's handle."))?;
        Ok(Self::By(handle))
    }
}

/// The newest post and share, polled for as long as somebody waits for it to change.
pub struct NewPosts {
    store: Store,
    newest: watch::Sender<Newest>,
    polling: Mutex<bool>,
    counting: Semaphore,
}

/// An announcement: the newest post and share, and the lists that were read because of it.
#[derive(Default)]
struct Newest {
    of_all: (Option<PostId>, Option<Uuid>),
    lists: Arc<Lists>,
}

/// The places in time of the newest posts and shares of lists, as a reader sees them. Each list is read once, however many pages
/// wait.
type Lists = Mutex<HashMap<(PostList, Option<Handle>), Arc<[(i64, Uuid)]>>>;

impl NewPosts {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            newest: watch::Sender::default(),
            polling: Mutex::default(),
            counting: Semaphore::new(AT_ONCE),
        }
    }

    fn subscribe(self: &Arc<Self>) -> watch::Receiver<Newest> {
        let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.newest.subscribe();
        if !std::mem::replace(&mut polling, true) {
            tokio::spawn(Arc::clone(self).poll());
        }
        receiver
    }

    async fn poll(self: Arc<Self>) {
        let mut left = 0;
        loop {
            let (posts, shares) = (self.store.posts(), self.store.shared_posts());
            match futures::try_join!(posts.newest(), shares.newest()) {
                Ok(newest) => {
                    self.newest.send_if_modified(|known| {
                        // Somebody may have been suspended, or a post hidden.
                        known.lists = Arc::default();
                        if known.of_all != newest {
                            known.of_all = newest;
                            left = ANNOUNCEMENTS;
                        }
                        if left == 0 {
                            return false;
                        }
                        left -= 1;
                        true
                    });
                }
                // The outage is reported elsewhere; nothing is announced until the store is back.
                Err(error) => tracing::debug!(%error, "could not ask for the newest post and share"),
            }
            tokio::time::sleep(PAUSE).await;
            // Under the lock nobody can subscribe between the check and the end.
            let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
            if self.newest.receiver_count() == 0 {
                *polling = false;
                self.newest.send_modify(|known| known.lists = Arc::default());
                return;
            }
        }
    }

    /// The places of the newest posts of a list, as far as its reader sees them.
    async fn places(
        &self,
        list: PostList,
        reader: Option<Handle>,
        lists: &Lists,
    ) -> document::Result<Arc<[(i64, Uuid)]>> {
        let known = || lists.lock().unwrap_or_else(PoisonError::into_inner);
        let list = (list, reader);
        if let Some(places) = known().get(&list) {
            return Ok(Arc::clone(places));
        }
        let (stored, shared_posts) = (self.store.posts(), self.store.shared_posts());
        let (posts, hides): (_, Hides) = match &list {
            (PostList::By(author), _) => {
                let author = std::slice::from_ref(author);
                let (written, shared) = futures::try_join!(
                    stored.list(Some(author), Order::Newest, None, MOST),
                    shared_posts.list(author, None, MOST)
                )?;
                ([written, shared].concat(), on_a_profile)
            }
            (PostList::Home, None) => {
                let posts = stored.list(None, Order::Newest, None, MOST).await?;
                (posts, in_a_feed)
            }
            (PostList::Home, Some(reader)) => {
                let home = self.store.timelines().home(reader, None, MOST).await?;
                (home.posts, in_a_feed)
            }
        };
        let names = self
            .store
            .people()
            .named(posts.iter().flat_map(people_of))
            .await?;
        let restricted = match &list.1 {
            Some(reader) => restricted_of(&self.store, reader, posts.iter()).await?,
            None => Restricted::default(),
        };
        let is_there = |by: &Handle| names.contains_key(by);
        let is_shown = |post: &&StoredPost| {
            !post.withheld
                && is_there(&post.author)
                && post.share.as_ref().is_none_or(|share| is_there(&share.by))
                && !hides(&restricted, post)
                && !is_above(post, &restricted, is_there)
        };
        let shown = posts.iter().filter(is_shown).map(StoredPost::place);
        let places: Arc<[_]> = shown.map(|(at, id)| (at.millis(), id)).collect();
        known().insert(list, Arc::clone(&places));
        Ok(places)
    }

    /// Forgets what was read, because somebody sees others' posts now.
    pub(super) fn forget(&self) {
        self.newest.send_if_modified(|known| {
            known.lists = Arc::default();
            false
        });
    }

    async fn newer(
        &self,
        list: PostList,
        reader: Option<Handle>,
        since: Option<Cursor>,
        lists: &Lists,
    ) -> Result<u64, Problem> {
        let _one_of_few = self.counting.acquire().await;
        let places = self.places(list, reader, lists).await.map_err(to_problem)?;
        let newer = |place: &&(i64, Uuid)| since.is_none_or(|cursor| **place > (cursor.key, cursor.id));
        Ok(places.iter().filter(newer).count().min(MOST) as u64)
    }
}

impl Live<'_> {
    /// How many posts of a list are newer than a cursor: now, and after each change.
    pub fn watch_posts(
        self,
        list: PostList,
        reader: Option<Handle>,
        since: Option<Cursor>,
    ) -> BoxStream<'static, u64> {
        let mut newest = self.0.new_posts.subscribe();
        newest.mark_changed();
        let (new_posts, sent) = (Arc::clone(&self.0.new_posts), None);
        stream::unfold((new_posts, newest, sent), move |(new_posts, mut newest, sent)| {
            let (list, reader) = (list.clone(), reader.clone());
            async move {
                loop {
                    newest.changed().await.ok()?;
                    let lists = Arc::clone(&newest.borrow_and_update().lists);
                    // In a task of its own: a client that reads nothing must not keep a place while it waits.
                    let (counting, list, reader) = (Arc::clone(&new_posts), list.clone(), reader.clone());
                    let counted =
                        tokio::spawn(async move { counting.newer(list, reader, since, &lists).await });
                    match counted.await.ok()? {
                        Ok(count) if Some(count) != sent => {
                            return Some((count, (new_posts, newest, Some(count))));
                        }
                        Ok(_) => {}
                        Err(problem) => tracing::debug!(%problem, "could not count new posts"),
                    }
                }
            }
        })
        .boxed()
    }
}
