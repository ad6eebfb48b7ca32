//! The workshop's storm: one at a time on a server, for everybody to watch.

use crate::sandbox::SandboxError;
use crate::storm::{StormError, Storms};
use feed::to_problem;
use model::{Handle, Kind, Problem, Storm, StormChoice};

use super::Workshop;

impl Workshop {
    /// The current storm of this server, or its last one.
    pub fn storm(&self) -> Option<Storm> {
        self.storms.last()
    }

    /// Starts a storm. It continues after the answer.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for more than a laptop can handle, [`Kind::Conflict`] while another storm is running.
    pub async fn start_storm(&self, by: Handle, choice: StormChoice) -> Result<Storm, Problem> {
        let choice = choice.checked()?;
        let size = Storms::size_for(choice.target, self.feed.store())
            .await
            .map_err(to_problem)?;
        let settings = self.feed.store().settings().clone();
        let begun = self.storms.begin(
            choice,
            by,
            self.feed.now(),
            settings,
            size,
            self.open_sandbox("storm"),
        );
        begun.await.map_err(|none| match none {
            StormError::Busy(other) => Problem::new(
                Kind::Conflict,
                format!(
                    "A storm of @{} is running, and only one can run at a time. Watch it at /lab/storm, or stop it there.",
                    other.by
                ),
            ),
            StormError::Sandbox(SandboxError::Store(error)) => to_problem(error),
            StormError::Sandbox(error) => Problem::new(
                Kind::Conflict,
                format!("There is no room for a storm: {error}. Try again in ten minutes."),
            ),
        })
    }

    /// Ends the storm early. Does nothing without one.
    pub fn stop_storm(&self) {
        self.storms.stop();
    }
}
