//! Opening the store that the command line names. The only place that knows an engine by name.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store::embedded::Embedded;
use store::port::Engine;
use store::{Error, Store};

use crate::cli::{DataOptions, StoreAddress};
use crate::fault::Fault;

/// How often to try again to open a store that is in use, and after which pause.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// The store with its lists limited as asked.
pub async fn open(options: &DataOptions) -> Result<Store, Fault> {
    let settings = options.limits.settings().map_err(|problem| {
        Fault::usage(
            "The limits of the lists do not fit",
            "`spillway --help` tells their bounds.",
        )
        .caused_by(&problem)
    })?;
    let StoreAddress::Embedded(folder) = &options.store;
    let engine = embedded(folder).await?;
    Store::open(engine, settings)
        .await
        .map_err(|error| unusable(folder, &error))
}

/// Opening reads from the disk, so it happens away from the async threads. A process that is just ending gets a moment
/// to let go of the store.
async fn embedded(folder: &Path) -> Result<Engine, Fault> {
    let mut attempts = 0;
    loop {
        let at = folder.to_path_buf();
        match tokio::task::spawn_blocking(move || Embedded::open(&at)).await {
            Ok(Ok(engine)) => return Ok(Arc::new(engine)),
            Ok(Err(Error::Unavailable(_))) if attempts < ATTEMPTS => attempts += 1,
            Ok(Err(error)) => return Err(unusable(folder, &error)),
            Err(panicked) => return Err(unusable(folder, &panicked)),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn unusable(folder: &Path, error: &dyn std::error::Error) -> Fault {
    let what = format!("The store in {} cannot be opened", folder.display());
    let next = "Only one process can have it open: stop the other one, or name another folder with \
                SPILLWAY_STORE=embedded:<folder>. Otherwise look at the folder's permissions and free space.";
    Fault::failed(what, next).caused_by(error)
}
