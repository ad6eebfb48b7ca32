//! What the workshop does in the application's own store: in sandboxes, never in the town.

use lab::sandbox::{Sandbox, SandboxError, Sandboxes};

use super::Feed;

impl Feed {
    /// Takes a sandbox for something that the workshop does.
    pub async fn open_sandbox(&self, purpose: &str) -> Result<Sandbox, SandboxError> {
        let now = self.environment.now();
        let lease = self.environment.ids.uuid(now);
        Sandboxes::of(self.store.engine()).open(purpose, lease, now).await
    }

    /// Clears away what nobody uses any more; tells how many sandboxes that were.
    pub async fn sweep_sandboxes(&self) -> store::Result<usize> {
        let now = self.environment.now();
        let lease = self.environment.ids.uuid(now);
        Sandboxes::of(self.store.engine()).sweep(lease, now).await
    }
}
