//! How many unread notifications a reader is shown. The store counts all of them; one about something that is gone, such as
//! a like that was taken back, or about somebody whom the reader does not see, is not in the reader's list.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::{Handle, Timestamp, Topic};
use store::changes::ChangedOwner;
use store::notifications::Unread;

use super::{Feed, Paging};

/// How many unread notifications are looked at, from the latest: so many at a time, and so often. Older ones count as shown.
const AT_A_TIME: usize = 20;
const MOST_TIMES: usize = 5;
/// How long the answer for a reader is kept, in milliseconds.
const KEPT: i64 = 5_000;
/// For how many readers.
const READERS: usize = 10_000;

/// What was found last, by reader: the stored numbers, how many of the unread ones are not shown, and when.
#[derive(Default)]
pub(super) struct HiddenNotifications(Mutex<HashMap<Handle, (Unread, u64, Timestamp)>>);

impl HiddenNotifications {
    fn known(&self, reader: &Handle, stored: Unread, now: Timestamp) -> Option<u64> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, hidden, at) = all.get(reader)?;
        let is_fresh = (0..KEPT).contains(&(now.millis() - at.millis()));
        (*of == stored && is_fresh).then_some(*hidden)
    }

    /// To be called when it may have changed. Returns how many were not shown when the list was looked at last.
    pub(super) fn forget(&self, reader: &Handle) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(reader).map(|(_, hidden, _)| hidden)
    }

    fn keep(&self, reader: &Handle, stored: Unread, hidden: u64, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= READERS {
            all.retain(|_, (_, _, at)| now.millis() - at.millis() < KEPT);
        }
        if all.len() < READERS {
            all.insert(reader.clone(), (stored, hidden, now));
        }
    }
}

impl Feed {
    /// To be called when somebody did again what a reader was told of. Pages of the reader that are open show it, if it
    /// was not shown before.
    pub(super) fn is_shown_again(&self, reader: &Handle) {
        if self.hidden_notifications.forget(reader) != Some(0) {
            self.events
                .changed(&ChangedOwner::One(Topic::User(reader.clone())));
        }
    }

    /// To be called when what these readers were told of may be gone. Pages of them that are open show it.
    pub(super) fn is_gone_for<'h>(&self, readers: impl IntoIterator<Item = &'h Handle>) {
        for reader in readers {
            self.hidden_notifications.forget(reader);
            self.events
                .changed(&ChangedOwner::One(Topic::User(reader.clone())));
        }
    }

    /// The same for the owner of a list from which an item was removed. Nobody waits for it, and nothing is read if
    /// nobody has a page open.
    pub(super) fn is_removed_from(&self, owner: Topic) {
        if !self.events.somebody_watches_themselves() {
            return;
        }
        let feed = self.clone();
        tokio::spawn(async move {
            match feed.author_of(&owner).await {
                Ok(author) => feed.is_gone_for([&author]),
                Err(error) => tracing::debug!(%owner, %error, "a number of notifications is shown later"),
            }
        });
    }

    /// How many unread notifications a reader sees. It may be as old as [`KEPT`]; if the store cannot be read, it is the
    /// stored number.
    pub(super) async fn shown_unread(&self, reader: &Handle, stored: Unread) -> u64 {
        if stored.unread == 0 {
            return 0;
        }
        let hidden = self.hidden_among_unread(reader, stored).await;
        stored.unread.saturating_sub(hidden.unwrap_or(0))
    }

    /// Keeps how many of a reader's unread notifications are not shown, where the reader's list was just read.
    pub(super) fn keep_hidden(&self, reader: &Handle, stored: Unread, hidden: u64) {
        self.hidden_notifications.keep(reader, stored, hidden, self.now());
    }

    /// How many of the unread ones are not shown; `None` if the store cannot be read.
    async fn hidden_among_unread(&self, reader: &Handle, stored: Unread) -> Option<u64> {
        let now = self.now();
        if let Some(hidden) = self.hidden_notifications.known(reader, stored, now) {
            return Some(hidden);
        }
        let mut paging = Paging {
            limit: AT_A_TIME,
            ..Paging::default()
        };
        let mut hidden = 0;
        for _ in 0..MOST_TIMES {
            // Many requests wait for this, and seldom for long.
            let told = Box::pin(self.lists(Some(reader)).told(reader, paging)).await;
            let (told, seen) = told.ok()?;
            hidden += seen.hidden;
            paging.after = told.next.and_then(|next| next.parse().ok());
            if seen.unread < AT_A_TIME as u64 || paging.after.is_none() {
                break;
            }
        }
        self.hidden_notifications.keep(reader, stored, hidden, now);
        Some(hidden)
    }
}
