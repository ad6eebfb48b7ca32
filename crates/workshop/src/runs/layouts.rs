//! The workshop's layout race: one at a time on a server, for everybody to watch.

use crate::layouts::Course;
use model::{Handle, Kind, LayoutRace, Problem};

use super::Workshop;

impl Workshop {
    /// The current race, or the last one since the server started.
    pub fn layout_race(&self) -> LayoutRace {
        self.races.shown()
    }

    /// Starts a race in the background. It works on lists of its own, in memory.
    pub fn start_layout_race(&self, by: &Handle, course: Course) -> Result<LayoutRace, Problem> {
        let race = self.races.start(course, by.clone()).map_err(|other| {
            let who = other
                .by
                .map_or_else(|| "Somebody".to_owned(), |by| format!("@{by}"));
            Problem::new(
                Kind::Conflict,
                format!("{who} has started a race that is still running. Watch it, or stop it first."),
            )
        })?;
        tokio::spawn(async move {
            if let Err(error) = race.await {
                tracing::error!(%error, "the race of the layouts failed");
            }
        });
        Ok(self.layout_race())
    }

    /// Stops the race, if one is running.
    pub async fn stop_layout_race(&self) -> LayoutRace {
        self.races.stop().await;
        self.layout_race()
    }
}
