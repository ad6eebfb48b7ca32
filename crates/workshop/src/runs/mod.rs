//! What the stations do on a server: in its store, or in the background, for everybody to watch.

mod jobs;
mod sizes;
mod tune;

use std::sync::Arc;

use feed::Feed;
use tokio::sync::Semaphore;

use crate::class::Classroom;
use crate::layouts::Races;
use crate::migration::Migrations;
use crate::sandbox::{Sandbox, SandboxError, Sandboxes};
use crate::storm::Storms;
use crate::tune::Tuner;

pub use tune::{MeasuredItems, Tuned, USUAL};

/// The workshop of a server, over its feed. It works in sandboxes or in memory, never in the town.
#[derive(Clone)]
pub struct Workshop {
    pub(crate) feed: Feed,
    storms: Arc<Storms>,
    races: Races,
    migrations: Migrations,
    tuner: Tuner,
    /// Room for what runs in the background.
    places: Arc<Semaphore>,
    measured: sizes::Measured,
    pub(crate) classroom: Option<Arc<Classroom>>,
    #[cfg(feature = "pages")]
    consoles: crate::console::Consoles,
}

impl Workshop {
    /// The workshop over a feed. Where a class meets, its students find this server at the address `classroom`.
    pub fn new(feed: Feed, classroom: Option<String>) -> Self {
        Self {
            feed,
            storms: Arc::default(),
            races: Races::default(),
            migrations: Migrations::default(),
            tuner: Tuner::default(),
            places: Arc::new(Semaphore::new(jobs::KINDS)),
            measured: sizes::Measured::default(),
            classroom: classroom.map(|address| Arc::new(Classroom::at(address))),
            #[cfg(feature = "pages")]
            consoles: crate::console::Consoles::default(),
        }
    }

    /// The same workshop, where a storm, a race, a migration and a tuned list do not run side by side: they would take
    /// the cores that the feed needs, and anybody may start them.
    #[must_use]
    pub fn one_job_at_a_time(self) -> Self {
        Self {
            places: Arc::new(Semaphore::new(1)),
            ..self
        }
    }

    /// The feed that it works for.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Everybody's consoles.
    #[cfg(feature = "pages")]
    pub(crate) fn consoles(&self) -> &crate::console::Consoles {
        &self.consoles
    }

    /// Takes a sandbox for one of the jobs.
    async fn open_sandbox(&self, purpose: &str) -> Result<Sandbox, SandboxError> {
        let now = self.feed.now();
        let lease = self.feed.fresh_id(now);
        Sandboxes::of(self.feed.store().engine())
            .open(purpose, lease, now)
            .await
    }
}

/// Removes unused sandboxes from a feed's store; returns how many there were.
pub async fn sweep_sandboxes(feed: &Feed) -> document::Result<usize> {
    let now = feed.now();
    Sandboxes::of(feed.store().engine())
        .sweep(feed.fresh_id(now), now)
        .await
}
