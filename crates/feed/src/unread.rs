//! How many unread notifications a reader is shown. The store counts all of them; one about something that is gone, such as
//! a like that was taken back, or about somebody whom the reader does not see, is not in the reader's list.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::{Handle, Timestamp};

use super::{Feed, Paging, Unread};

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

    /// To be called when there may be more to show.
    pub(super) fn forget(&self, reader: &Handle) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(reader);
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
    /// The numbers of a reader's notifications as the reader sees them. They may be as old as [`KEPT`]; if the store
    /// cannot be read, they are the stored ones.
    pub(super) async fn shown_unread(&self, reader: &Handle, stored: Unread) -> Unread {
        if stored.unread == 0 {
            return stored;
        }
        let Some(hidden) = self.hidden_among_unread(reader, stored).await else {
            return stored;
        };
        Unread {
            unread: stored.unread.saturating_sub(hidden),
            read: stored.read + hidden.min(stored.unread),
        }
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
