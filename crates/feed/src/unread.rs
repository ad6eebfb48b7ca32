//! How many unread notifications a reader is shown. The store counts all of them; one about something that is gone, such as
//! a like that was taken back, or about somebody whom the reader does not see, is not in the reader's list.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Handle, Problem, Timestamp, Topic};
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

/// What was found last, by reader.
#[derive(Default)]
pub(super) struct HiddenNotifications(Mutex<Known>);

#[derive(Default)]
struct Known {
    readers: HashMap<Handle, Hidden>,
    /// How often something has changed for somebody.
    changes: u64,
    /// Up to which change everything was forgotten.
    forgotten: u64,
}

/// How many unread notifications of a reader are not shown.
struct Hidden {
    /// The stored numbers with which it was found, the answer, and when; `None` if it may have changed since then.
    found: Option<(Unread, u64, Timestamp)>,
    /// The last change for this reader.
    changed: u64,
}

/// The changes that a look at a reader's list has seen.
#[derive(Clone, Copy)]
pub(super) struct Look(u64);

impl HiddenNotifications {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called before a reader's list is looked at.
    pub(super) fn look(&self) -> Look {
        Look(self.known().changes)
    }

    fn found(&self, reader: &Handle, stored: Unread, now: Timestamp) -> Option<u64> {
        let all = self.known();
        let (of, hidden, at) = all.readers.get(reader)?.found?;
        let is_fresh = (0..KEPT).contains(&(now.millis() - at.millis()));
        (of == stored && is_fresh).then_some(hidden)
    }

    /// Whether all of a reader's unread notifications were shown at the last look.
    fn shows_all(&self, reader: &Handle) -> bool {
        let all = self.known();
        let found = all.readers.get(reader).and_then(|hidden| hidden.found);
        found.is_some_and(|(_, hidden, _)| hidden == 0)
    }

    /// To be called when a reader's list is opened, which shows what is there now.
    pub(super) fn drop_found(&self, reader: &Handle) {
        if let Some(hidden) = self.known().readers.get_mut(reader) {
            hidden.found = None;
        }
    }

    /// To be called when it may have changed for a reader.
    fn forget(&self, reader: &Handle) {
        let mut all = self.known();
        all.changes += 1;
        let changed = all.changes;
        all.insert(reader, Hidden { found: None, changed });
    }

    /// The same for all readers.
    fn forget_all(&self) {
        let mut all = self.known();
        all.changes += 1;
        all.forgotten = all.changes;
        all.readers.clear();
    }

    /// Keeps an answer, unless something has changed since the look at the list began.
    fn keep(&self, reader: &Handle, (stored, hidden): (Unread, u64), look: Look, now: Timestamp) {
        let mut all = self.known();
        let changed = all.readers.get(reader).map_or(0, |hidden| hidden.changed);
        if look.0 >= changed.max(all.forgotten) {
            all.insert(
                reader,
                Hidden {
                    found: Some((stored, hidden, now)),
                    changed,
                },
            );
        }
    }
}

impl Known {
    fn insert(&mut self, reader: &Handle, hidden: Hidden) {
        if self.readers.len() >= READERS {
            self.readers.clear();
            self.forgotten = self.changes;
        }
        self.readers.insert(reader.clone(), hidden);
    }
}

impl Feed {
    /// To be called when somebody did again what a reader was told of. Pages of the reader that are open show it, if it
    /// was not shown before.
    pub(super) fn is_shown_again(&self, reader: &Handle) {
        if !self.hidden_notifications.shows_all(reader) {
            self.unread_changed([reader]);
        }
    }

    /// To be called when the unread notifications of these readers may have changed. Pages of them that are open show it.
    pub(super) fn unread_changed<'h>(&self, readers: impl IntoIterator<Item = &'h Handle>) {
        for reader in readers {
            self.hidden_notifications.forget(reader);
            self.events
                .changed(&ChangedOwner::One(Topic::User(reader.clone())));
        }
    }

    /// The same for all readers: somebody's likes, comments and follows are gone, and it is not known whom they concerned.
    pub(super) fn unread_of_anybody_changed(&self) {
        self.hidden_notifications.forget_all();
        self.events.changed(&ChangedOwner::Any);
    }

    /// The same for the owner of a list from which an item was removed. Nobody waits for it, and nothing is read if
    /// nobody has a page open.
    pub(super) fn is_removed_from(&self, owner: Topic) {
        if !self.events.somebody_watches_themselves() {
            self.hidden_notifications.forget_all();
            return;
        }
        let feed = self.clone();
        tokio::spawn(async move {
            match feed.author_of(&owner).await {
                Ok(author) => feed.unread_changed([&author]),
                Err(error) => {
                    tracing::debug!(%owner, %error, "a number of notifications is shown later");
                    feed.hidden_notifications.forget_all();
                }
            }
        });
    }

    /// How many unread notifications a reader sees. It may be as old as [`KEPT`]; if the store cannot be read, it is the
    /// stored number.
    pub(super) async fn shown_unread(&self, reader: &Handle, stored: Unread) -> u64 {
        let hidden = self.hidden_unread(reader, stored).await;
        stored.unread.saturating_sub(hidden.unwrap_or(0))
    }

    /// How many of the unread ones are not shown.
    pub(super) async fn hidden_unread(&self, reader: &Handle, stored: Unread) -> Result<u64, Problem> {
        if stored.unread == 0 {
            return Ok(0);
        }
        let (known, now) = (&self.hidden_notifications, self.now());
        if let Some(hidden) = known.found(reader, stored, now) {
            return Ok(hidden);
        }
        let look = known.look();
        let mut paging = Paging {
            limit: AT_A_TIME,
            ..Paging::default()
        };
        let mut hidden = 0;
        for _ in 0..MOST_TIMES {
            // Many requests wait for this, and seldom for long.
            let (told, unread) = Box::pin(self.lists(Some(reader)).told(reader, paging)).await?;
            hidden += unread.hidden;
            paging.after = told.next.and_then(|next| next.parse().ok());
            if unread.unread < AT_A_TIME as u64 || paging.after.is_none() {
                break;
            }
        }
        known.keep(reader, (stored, hidden), look, now);
        Ok(hidden)
    }

    /// Keeps how many of a reader's unread notifications are not shown, where the reader's list was just read.
    pub(super) fn keep_hidden(&self, reader: &Handle, found: (Unread, u64), look: Look) {
        self.hidden_notifications.keep(reader, found, look, self.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: Unread = Unread { unread: 3, read: 0 };

    #[test]
    fn an_answer_is_kept_unless_something_has_changed_since_the_look_began() {
        let (known, now) = (HiddenNotifications::default(), Timestamp::from_millis(0));
        let [ada, bob] = ["ada", "bob"].map(|handle| handle.parse::<Handle>().unwrap());
        let look = known.look();
        known.forget(&bob);
        known.keep(&ada, (STORED, 0), look, now);
        assert_eq!(
            (known.found(&ada, STORED, now), known.shows_all(&ada)),
            (Some(0), true)
        );
        assert_eq!(known.found(&ada, STORED, Timestamp::from_millis(KEPT)), None);
        known.keep(&bob, (STORED, 1), look, now);
        assert_eq!(known.found(&bob, STORED, now), None);
        known.keep(&bob, (STORED, 1), known.look(), now);
        assert_eq!(
            (known.found(&bob, STORED, now), known.shows_all(&bob)),
            (Some(1), false)
        );

        let look = known.look();
        known.forget_all();
        known.keep(&ada, (STORED, 0), look, now);
        assert_eq!(known.found(&ada, STORED, now), None);
    }
}
