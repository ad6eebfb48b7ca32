//! The stations that run for a while: one run at a time of each on a server, for everybody to watch.

use model::{Handle, Problem, Relation};

use super::{Tuned, Workshop};
use crate::JobError;
use crate::layouts::Course;
use crate::report::{LayoutRace, Migration, Storm, StormChoice, TunedList};
use crate::storm::Storms;
use crate::tune::TunedState;

impl Workshop {
    /// The current race of the layouts, or the last one since the server started.
    pub fn layout_race(&self) -> LayoutRace {
        self.races.shown()
    }

    /// Starts a race in the background. It works on lists of its own, in memory.
    pub fn start_layout_race(&self, by: &Handle, course: Course) -> Result<LayoutRace, Problem> {
        let race = self.races.start(course, by.clone()).map_err(|other| {
            JobError::Busy(other.by).problem("a race", |who| {
                format!("{who} has started a race that is still running. Watch it, or stop it first.")
            })
        })?;
        in_background("the race of the layouts", race);
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
        in_background("a migration of the workshop", work);
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
        let size = Storms::size_for(choice.target, self.feed.store()).await;
        let begun = self.storms.begin(
            choice,
            by,
            self.feed.now(),
            self.feed.store().settings().clone(),
            size.map_err(feed::to_problem)?,
            self.open_sandbox("storm"),
        );
        begun.await.map_err(|none| {
            none.problem("a storm", |who| {
                format!("A storm of {who} is running, and only one can run at a time. Watch it at /lab/storm, or stop it there.")
            })
        })
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
        in_background("a list of the workshop's tuner", work);
        Ok(())
    }
}

/// Does work that nobody waits for.
fn in_background<E: std::fmt::Display>(
    what: &'static str,
    work: impl Future<Output = Result<(), E>> + Send + 'static,
) {
    tokio::spawn(async move {
        if let Err(error) = work.await {
            tracing::error!(%error, "{what} failed");
        }
    });
}
