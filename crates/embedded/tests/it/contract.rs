//! The embedded engine satisfies the contract, in memory and on disk.
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

    document::contract_tests!(make);
}

mod on_disk {
    use super::{Arc, Embedded, Engine};

    /// The folder's name is removed at once; the open file exists as long as the engine.
    pub(super) async fn make() -> Engine {
        let dir = tempfile::tempdir().unwrap();
        Arc::new(Embedded::open(dir.path()).unwrap())
    }

    document::contract_tests!(make);
}

#[tokio::test]
async fn the_whole_contract_runs_in_one_line_too() {
    document::contract::engine(in_memory::make).await;
}
