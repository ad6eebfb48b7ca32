//! The stations that run for a while: one run at a time of each on a server, for everybody to watch. Where limits apply,
//! it is one of all.

use std::sync::Arc;
use std::time::Duration;

use model::{Handle, Kind, Problem, Relation};
use tokio::sync::OwnedSemaphorePermit;

use super::{Tuned, Workshop};
use crate::JobError;
use crate::layouts::Course;
use crate::report::{LayoutRace, Migration, Progress, Storm, StormChoice, TunedList};
use crate::storm::Storms;
use crate::tune::TunedState;

/// How many kinds of runs there are, and so the most that run at a time.
pub(super) const KINDS: usize = 4;

/// When to look again whether a run is over: the longest storm takes this long.
const WAIT: Duration = Duration::from_mins(1);

impl Workshop {
    /// A place for one more run, which is free again when this is dropped.
    fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| {
            let message = match self.running() {
                Some((by, what, page)) => format!(
                    "@{by} has started {what} that is still running, and only one thing can run at a time. Watch it at \
                     {page}, stop it there, or try again in a minute."
                ),
                None => "Somebody’s work is still running. Try again in a minute.".to_owned(),
            };
            Problem::new(Kind::Conflict, message).for_now(WAIT)
        })
    }

    /// Who started something that is running, what it is, and its page.
    fn running(&self) -> Option<(Handle, &'static str, &'static str)> {
        let race = self.layout_race();
        let migration = self.migration();
        let storm = self.storm().filter(|storm| !storm.phase.is_final());
        let tuned = self.tuned_list().map(|tuned| tuned.list);
        let tuned = tuned.filter(|list| list.progress == Progress::Running);
        let found = [
            (storm.map(|storm| storm.by), "a storm", "/lab/storm"),
            (
                race.by.filter(|_| race.progress == Progress::Running),
                "a race",
                "/lab/layouts",
            ),
            (
                migration.by.filter(|_| migration.progress == Progress::Running),
                "a migration",
                "/lab/migrate",
            ),
            (tuned.map(|list| list.by), "a list", "/lab/tune"),
        ];
        found
            .into_iter()
            .find_map(|(by, what, page)| by.map(|by| (by, what, page)))
    }

    /// The current race of the layouts, or the last one since the server started.
    pub fn layout_race(&self) -> LayoutRace {
        self.races.shown()
    }

    /// Starts a race in the background. It works on lists of its own, in memory.
    pub fn start_layout_race(&self, by: &Handle, course: Course) -> Result<LayoutRace, Problem> {
        let place = self.place()?;
        let race = self.races.start(course, by.clone()).map_err(|other| {
            JobError::Busy(other.by).problem("a race", |who| {
                format!("{who} has started a race that is still running. Watch it, or stop it first.")
            })
        })?;
        in_background("the race of the layouts", race, place);
        Ok(self.layout_race())
    }

    /// Stops the race, if one is running.
    pub async fn stop_layout_race(&self) -> LayoutRace {
        self.races.stop().await;
        self.layout_race()
    }

    /// The current migration under load, or the last one since the server started.
    pub fn migration(&self) -> Migration {
        self.migrations.shown()
    }

    /// Starts a migration of an array of this many likes, in a sandbox. It continues after the answer.
    ///
    /// # Errors
    /// [`model::Kind::Invalid`] for an unknown size, [`model::Kind::Conflict`] while another migration is running.
    pub async fn start_migration(&self, by: Handle, items: u64) -> Result<Migration, Problem> {
        let items = Migration::size(items)?;
        let place = self.place()?;
        let begun = self.migrations.begin(
            (items, by),
            self.feed.now(),
            self.feed.store().settings().clone(),
            self.open_sandbox("migration"),
        );
        let work = begun.await.map_err(|none| {
            none.problem("a migration", |who| {
                format!("{who} has started a migration that is still running. Watch it at /lab/migrate, or stop it there.")
            })
        })?;
        in_background("a migration of the workshop", work, place);
        Ok(self.migration())
    }

    /// Ends the likes of the migration early, if one is running, and waits for its verdict.
    pub async fn stop_migration(&self) {
        self.migrations.stop().await;
    }

    /// The current storm of this server, or its last one.
    pub fn storm(&self) -> Option<Storm> {
        self.storms.last()
    }

    /// Starts a storm. It continues after the answer.
    ///
    /// # Errors
    /// [`model::Kind::Invalid`] for more than a laptop can handle, [`model::Kind::Conflict`] while another storm is
    /// running.
    pub async fn start_storm(&self, by: Handle, choice: StormChoice) -> Result<Storm, Problem> {
        let choice = choice.checked()?;
        let place = self.place()?;
        let size = Storms::size_for(choice.target, self.feed.store()).await;
        let begun = self.storms.begin(
            choice,
            by,
            self.feed.now(),
            self.feed.store().settings().clone(),
            size.map_err(feed::to_problem)?,
            self.open_sandbox("storm"),
        );
        let begun = begun.await.map_err(|none| {
            none.problem("a storm", |who| {
                format!("A storm of {who} is running, and only one can run at a time. Watch it at /lab/storm, or stop it there.")
            })
        })?;
        let storms = Arc::clone(&self.storms);
        tokio::spawn(async move {
            storms.over().await;
            drop(place);
        });
        Ok(begun)
    }

    /// Ends the storm early. Does nothing without one.
    pub fn stop_storm(&self) {
        self.storms.stop();
    }

    /// The tuner's list that is being laid out, or the last one since the server started.
    pub fn tuned_list(&self) -> Option<TunedState> {
        self.tuner.shown()
    }

    /// Lays out a list in a sandbox with the limits that follow from a budget in KB. It continues after the
    /// answer.
    ///
    /// # Errors
    /// [`model::Kind::Invalid`] for a budget that is out of bounds, [`model::Kind::Conflict`] while another list is
    /// laid out.
    pub async fn lay_out(&self, by: Handle, relation: Relation, kb: &str) -> Result<(), Problem> {
        let budget = TunedList::budget(kb)?;
        let place = self.place()?;
        let Tuned { tuning, .. } = self.measured_items(relation).await?.fitting(budget);
        let (from, at) = ((relation, budget), self.feed.now());
        let begun = self.tuner.begin(tuning, from, by, at, self.open_sandbox("tuner"));
        let work = begun.await.map_err(|none| {
            none.problem("a list", |who| {
                format!(
                    "{who}’s list is still being created, and only one can be created at a time. Try again in a moment."
                )
            })
        })?;
        in_background("a list of the workshop's tuner", work, place);
        Ok(())
    }
}

/// Does work that nobody waits for, in its place.
fn in_background<E: std::fmt::Display>(
    what: &'static str,
    work: impl Future<Output = Result<(), E>> + Send + 'static,
    place: OwnedSemaphorePermit,
) {
    tokio::spawn(async move {
        if let Err(error) = work.await {
            tracing::error!(%error, "{what} failed");
        }
        drop(place);
    });
}

#[cfg(test)]
mod tests {
    use embedded::Embedded;
    use feed::{Environment, Feed};
    use store::{Settings, Store};

    use super::*;

    #[tokio::test]
    async fn where_limits_apply_one_thing_runs_at_a_time_and_the_next_is_told_when_to_come() {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        let store = Store::open(engine, Settings::default()).await.unwrap();
        let feed = Feed::new(store, Environment::system(false));
        let workshop = Workshop::new(feed, None).one_job_at_a_time();
        let [ada, bob]: [Handle; 2] = ["ada", "bob"].map(|handle| handle.parse().unwrap());
        let course = Course::new(100_000, 62).unwrap();
        workshop.start_layout_race(&ada, course).unwrap();

        let other = workshop.start_migration(bob.clone(), 1_000).await.unwrap_err();
        let same = workshop.start_layout_race(&bob, course).unwrap_err();
        for refused in [other, same] {
            assert_eq!(refused.kind, Kind::Conflict, "{refused:?}");
            assert!(refused.message.contains("@ada has started a race"), "{refused:?}");
            assert_eq!(refused.retry_after(), Some(60), "{refused:?}");
        }
        workshop.stop_layout_race().await;
        // The place is free a moment after the race is over.
        while let Err(refused) = workshop.start_migration(bob.clone(), 1_000).await {
            assert_eq!(refused.kind, Kind::Conflict, "{refused:?}");
            tokio::task::yield_now().await;
        }
        workshop.stop_migration().await;
    }
}
