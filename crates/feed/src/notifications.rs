//! What people are told of: telling it soon, marking it as read, and choosing the kinds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Handle, NotificationKind, NotificationSettings, Problem, Timestamp, Topic};
use tokio::sync::Notify;

use super::problems::{missing, to_problem};
use super::{Feed, Notifications, Paging};

/// The posts and people about whom somebody is being told. One task works for each, however many reactions it has.
#[derive(Default)]
pub(super) struct Telling {
    /// With each, whether there is more since the task has begun.
    underway: Mutex<HashMap<Topic, bool>>,
    idle: Notify,
}

impl Telling {
    fn underway(&self) -> MutexGuard<'_, HashMap<Topic, bool>> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Feed {
    /// Tells of what is new in an owner's lists, in the background. If it fails, the mark in the store stays, and the
    /// next telling of this owner, or the sweep once a minute, does it.
    pub(super) fn tell(&self, owner: Topic) {
        match self.telling.underway().entry(owner.clone()) {
            Entry::Occupied(mut more) => {
                more.insert(true);
                return;
            }
            Entry::Vacant(idle) => _ = idle.insert(false),
        }
        let feed = self.clone();
        tokio::spawn(async move {
            loop {
                let told = feed.store.notifications().tell(&owner).await;
                match &told {
                    Ok(people) => people.iter().for_each(|person| feed.is_shown_again(person)),
                    Err(error) => tracing::warn!(%owner, %error, "notifications are added later"),
                }
                let mut underway = feed.telling.underway();
                if told.is_ok() && underway.insert(owner.clone(), false) == Some(true) {
                    continue;
                }
                underway.remove(&owner);
                if underway.is_empty() {
                    feed.telling.idle.notify_waiters();
                }
                return;
            }
        });
    }
}

impl Notifications<'_> {
    /// Waits until nobody is being told of anything.
    pub async fn are_told(self) {
        loop {
            let idle = self.0.telling.idle.notified();
            if self.0.telling.underway().is_empty() {
                return;
            }
            idle.await;
        }
    }

    /// Marks the reader's notifications up to a time as read: the time of the latest that they have seen. Returns how
    /// many are unread then.
    pub async fn mark_read(self, reader: &Handle, until: Timestamp) -> Result<u64, Problem> {
        let unread = self.0.store.notifications().mark_read(reader, until).await;
        let unread = unread.map_err(to_problem)?.ok_or_else(|| gone(reader))?;
        self.0.unread_changed([reader]);
        if unread == 0 {
            return Ok(0);
        }
        let latest = Paging {
            limit: 1,
            ..Paging::default()
        };
        Ok(self
            .0
            .lists(Some(reader))
            .notifications(reader, latest)
            .await?
            .unread)
    }
}

impl Notifications<'_> {
    /// Of what the reader is told.
    pub async fn settings(self, reader: &Handle) -> Result<NotificationSettings, Problem> {
        let silenced = self.0.store.notifications().silenced(reader).await;
        let silenced = silenced.map_err(to_problem)?.ok_or_else(|| gone(reader))?;
        Ok(NotificationSettings {
            told: without(&silenced),
        })
    }

    /// Tells the reader of these kinds from now on, and of no others. Returns them in their order.
    pub async fn set(
        self,
        reader: &Handle,
        settings: &NotificationSettings,
    ) -> Result<NotificationSettings, Problem> {
        let silenced = without(&settings.told);
        let set = self.0.store.notifications().silence(reader, &silenced).await;
        if !set.map_err(to_problem)? {
            return Err(gone(reader));
        }
        Ok(NotificationSettings {
            told: without(&silenced),
        })
    }
}

/// All other kinds.
fn without(kinds: &[NotificationKind]) -> Vec<NotificationKind> {
    let others = NotificationKind::ALL.into_iter();
    others.filter(|kind| !kinds.contains(kind)).collect()
}

fn gone(reader: &Handle) -> Problem {
    missing(&Topic::User(reader.clone()).to_string())
}
