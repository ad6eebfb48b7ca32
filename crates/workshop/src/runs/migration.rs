//! The workshop's migration under load: one at a time on a server, for everybody to watch.

use crate::migration::MigrationError;
use crate::sandbox::SandboxError;
use feed::to_problem;
use model::{Handle, Kind, Migration, Problem};

use super::Workshop;

impl Workshop {
    /// The current migration, or the last one since the server started.
    pub fn migration(&self) -> Migration {
        self.migrations.shown()
    }

    /// Starts a migration of an array of this many likes, in a sandbox. It continues after the answer.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for an unknown size, [`Kind::Conflict`] while another migration is running.
    pub async fn start_migration(&self, by: Handle, items: u64) -> Result<Migration, Problem> {
        let items = Migration::size(items)?;
        let begun = self.migrations.begin(
            (items, by),
            self.feed.now(),
            self.feed.store().settings().clone(),
            self.open_sandbox("migration"),
        );
        let work = begun.await.map_err(|none| match none {
            MigrationError::Busy(other) => {
                let who = other.map_or_else(|| "Somebody".to_owned(), |by| format!("@{by}"));
                Problem::new(
                    Kind::Conflict,
                    format!(
                        "{who} has started a migration that is still running. Watch it at /lab/migrate, or stop it there."
                    ),
                )
            }
            MigrationError::Sandbox(SandboxError::Store(error)) => to_problem(error),
            MigrationError::Sandbox(error) => Problem::new(
                Kind::Conflict,
                format!("There is no room for a migration: {error}. Try again in ten minutes."),
            ),
        })?;
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::error!(%error, "a migration of the workshop failed");
            }
        });
        Ok(self.migration())
    }

    /// Ends the likes of the migration early, if one is running, and waits for its verdict.
    pub async fn stop_migration(&self) {
        self.migrations.stop().await;
    }
}
