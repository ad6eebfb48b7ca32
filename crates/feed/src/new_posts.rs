//! Tells readers that there are newer posts than those on their page. However many readers wait, a server asks its
//! store for the newest post at most once a second; only when that changes does it count each list.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::{Cursor, Handle, PostId, Problem};
use store::Store;
use store::posts::StoredPost;
use tokio::sync::watch;

use super::problems::to_problem;
use super::{Feed, Live};

/// The time between two polls while somebody waits.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a new post is announced: when it is first seen, it may not have reached the timelines of its author's
/// followers yet.
const ANNOUNCEMENTS: u32 = 3;

/// The highest count of new posts.
const MOST: usize = 100;

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
    newest: watch::Sender<Option<PostId>>,
    polling: Mutex<bool>,
}

impl NewPosts {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            newest: watch::Sender::default(),
            polling: Mutex::default(),
        }
    }

    fn subscribe(self: &Arc<Self>) -> watch::Receiver<Option<PostId>> {
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
                        if *known != newest {
                            *known = newest;
                            left = ANNOUNCEMENTS;
                        }
                        let announce = left > 0;
                        left = left.saturating_sub(1);
                        announce
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
                return;
            }
        }
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
        let (feed, sent) = (self.0.clone(), None);
        stream::unfold((feed, newest, sent), move |(feed, mut newest, sent)| {
            let (list, reader) = (list.clone(), reader.clone());
            async move {
                loop {
                    newest.changed().await.ok()?;
                    newest.mark_unchanged();
                    match feed.newer_posts(&list, reader.as_ref(), since).await {
                        Ok(count) if Some(count) != sent => {
                            return Some((count, (feed, newest, Some(count))));
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

impl Feed {
    async fn newer_posts(
        &self,
        list: &PostList,
        reader: Option<&Handle>,
        since: Option<Cursor>,
    ) -> Result<u64, Problem> {
        let posts = self.store.posts();
        let count = match (list, reader) {
            (PostList::By(author), _) => posts.newer(Some(std::slice::from_ref(author)), since, MOST).await,
            (PostList::Home, None) => posts.newer(None, since, MOST).await,
            (PostList::Home, Some(reader)) => {
                let home = self.store.timelines().home(reader, None, MOST).await;
                home.map(|home| home.posts.iter().filter(|post| is_newer(post, since)).count())
            }
        };
        Ok(count.map_err(to_problem)? as u64)
    }
}

fn is_newer(post: &StoredPost, than: Option<Cursor>) -> bool {
    than.is_none_or(|cursor| (post.at.millis(), post.id.uuid()) > (cursor.key, cursor.id))
}
