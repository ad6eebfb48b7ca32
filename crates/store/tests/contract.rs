//! Lists satisfy their contract on the embedded engine, in memory and on disk.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(
    clippy::unused_async,
    reason = "the contract lets the factory of an engine wait"
)]

use std::sync::Arc;

use document::Engine;
use embedded::Embedded;

mod in_memory {
    use super::{Arc, Embedded, Engine};

    pub(super) async fn make() -> Engine {
        Arc::new(Embedded::in_memory().unwrap())
    }

    store::contract_tests!(make);
}

mod on_disk {
    use super::{Arc, Embedded, Engine};

    /// The folder's name is removed at once; the open file exists as long as the engine.
    pub(super) async fn make() -> Engine {
        let dir = tempfile::tempdir().unwrap();
        Arc::new(Embedded::open(dir.path()).unwrap())
    }

    store::contract_tests!(make);
}
