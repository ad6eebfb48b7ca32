//! Tells readers that there are newer posts than those on their page. However many readers wait, a server asks its
//! store for the newest post at most once a second; only when that changes does it count each list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::{Cursor, Handle, PostId, Problem};
use store::Store;
use store::posts::StoredPost;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use super::Live;
use super::posts::{in_a_feed, is_above};
use super::problems::to_problem;
use super::restrictions::restricted_of;

/// The time between two polls while somebody waits.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a new post is announced: when it is first seen, it may not have reached the timelines of its author's
/// followers yet.
const ANNOUNCEMENTS: u32 = 3;

/// The highest count of new posts.
const MOST: usize = 100;

/// How many lists are counted at once. Every open page waits for a count after every new post, so without a bound they
/// would keep all cores busy.
const AT_ONCE: usize = 2;

/// A list of posts, newest first, that a reader may watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostList {
    /// Posts by the people whom the reader follows; everybody's for a reader who is not signed in.
    Home,
    /// One person's posts.
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

/// The newest post, polled for as long as somebody waits for it to change.
pub struct NewPosts {
    store: Store,
    newest: watch::Sender<Newest>,
    polling: Mutex<bool>,
    counting: Semaphore,
}

/// An announcement: the newest post, and the homes that were read because of it.
#[derive(Default)]
struct Newest {
    post: Option<PostId>,
    homes: Arc<Homes>,
}

/// The places in time of the newest posts of people's homes, each read once however many of their pages wait.
type Homes = Mutex<HashMap<Handle, Arc<[(i64, Uuid)]>>>;

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
            match self.store.posts().newest().await {
                Ok(newest) => {
                    self.newest.send_if_modified(|known| {
                        if known.post != newest {
                            known.post = newest;
                            left = ANNOUNCEMENTS;
                        }
                        if left == 0 {
                            return false;
                        }
                        left -= 1;
                        known.homes = Arc::default();
                        true
                    });
                }
                // The outage is reported elsewhere; nothing is announced until the store is back.
                Err(error) => tracing::debug!(%error, "could not ask for the newest post"),
            }
            tokio::time::sleep(PAUSE).await;
            // Under the lock nobody can subscribe between the check and the end.
            let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
            if self.newest.receiver_count() == 0 {
                *polling = false;
                self.newest.send_modify(|known| known.homes = Arc::default());
                return;
            }
        }
    }

    /// The places of the newest posts of a reader's home, as far as they see them.
    async fn home(&self, reader: &Handle, homes: &Homes) -> Result<Arc<[(i64, Uuid)]>, Problem> {
        let known = || homes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = known().get(reader) {
            return Ok(Arc::clone(places));
        }
        let home = self.store.timelines().home(reader, None, MOST).await;
        let posts = home.map_err(to_problem)?.posts;
        let restricted = restricted_of(&self.store, reader, posts.iter())
            .await
            .map_err(to_problem)?;
        let places: Arc<[_]> = posts
            .iter()
            .filter(|post| !in_a_feed(&restricted, post) && !is_above(post, &restricted, |_| true))
            .map(StoredPost::place)
            .map(|(at, id)| (at.millis(), id))
            .collect();
        known().insert(reader.clone(), Arc::clone(&places));
        Ok(places)
    }

    /// Forgets what was read of a reader's home, because they see others' posts now.
    pub(super) fn forget(&self, reader: &Handle) {
        let newest = self.newest.borrow();
        let mut homes = newest.homes.lock().unwrap_or_else(PoisonError::into_inner);
        homes.remove(reader);
    }

    async fn newer(
        &self,
        list: &PostList,
        reader: Option<&Handle>,
        since: Option<Cursor>,
        homes: &Homes,
    ) -> Result<u64, Problem> {
        let _one_of_few = self.counting.acquire().await;
        let posts = self.store.posts();
        let count = match (list, reader) {
            (PostList::By(author), _) => posts.newer(Some(std::slice::from_ref(author)), since, MOST).await,
            (PostList::Home, None) => posts.newer(None, since, MOST).await,
            (PostList::Home, Some(reader)) => {
                let posts = self.home(reader, homes).await?;
                let newer =
                    |place: &&(i64, Uuid)| since.is_none_or(|cursor| **place > (cursor.key, cursor.id));
                Ok(posts.iter().filter(newer).count())
            }
        };
        Ok(count.map_err(to_problem)? as u64)
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
                    let homes = Arc::clone(&newest.borrow_and_update().homes);
                    // In a task of its own: a client that reads nothing must not keep a place while it waits.
                    let (counting, list, reader) = (Arc::clone(&new_posts), list.clone(), reader.clone());
                    let counted =
                        tokio::spawn(
                            async move { counting.newer(&list, reader.as_ref(), since, &homes).await },
                        );
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
