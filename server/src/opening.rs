//! Opening the store that the command line names. The only place that knows an engine by name.

use std::path::Path;
use std::sync::Arc;

use store::Store;
use store::embedded::Embedded;
use store::port::Engine;

use crate::cli::{DataOptions, StoreAddress};
use crate::fault::Fault;

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

/// Opening reads from the disk, so it happens away from the async threads.
async fn embedded(folder: &Path) -> Result<Engine, Fault> {
    let at = folder.to_path_buf();
    match tokio::task::spawn_blocking(move || Embedded::open(&at)).await {
        Ok(Ok(engine)) => Ok(Arc::new(engine)),
        Ok(Err(error)) => Err(unusable(folder, &error)),
        Err(panicked) => Err(unusable(folder, &panicked)),
    }
}

fn unusable(folder: &Path, error: &dyn std::error::Error) -> Fault {
    let what = format!("The store in {} cannot be opened", folder.display());
    let next = "Only one process can have it open: stop the other one, or name another folder with \
                SPILLWAY_STORE=embedded:<folder>. Otherwise look at the folder's permissions and free space.";
    Fault::failed(what, next).caused_by(error)
}
