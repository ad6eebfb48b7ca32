//! Opening a store: its tables are redb's, in a file, in memory or on any other storage.

use std::path::Path;

pub(super) use ::redb;
use redb::backends::InMemoryBackend;
use redb::{Builder, Database, StorageBackend};

use super::{CACHE, Embedded, Limits, fault};
use document::{Error, Result};

/// The file inside the store's folder.
const FILE: &str = "spillway.redb";

impl Embedded {
    /// Opens the store in a folder, which is created if it does not exist. Only one process can have it open.
    pub fn open(dir: &Path) -> Result<Self> {
        let failed =
            |error: std::io::Error| Error::Unavailable(format!("cannot open {}: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(failed)?;
        let database = Builder::new()
            .set_cache_size(CACHE)
            .create(dir.join(FILE))
            .map_err(fault::open)?;
        // The folder's entry for a new file must survive a power failure as the file does.
        std::fs::File::open(dir)
            .and_then(|dir| dir.sync_all())
            .map_err(failed)?;
        Self::over(database, Limits::NONE)
    }

    /// A store on any storage.
    pub fn on(backend: impl StorageBackend) -> Result<Self> {
        Self::over(database_on(backend, CACHE)?, Limits::NONE)
    }
}

/// The tables of a new store in memory.
pub(super) fn in_memory(cache: usize) -> Result<Database> {
    database_on(InMemoryBackend::new(), cache)
}

fn database_on(backend: impl StorageBackend, cache: usize) -> Result<Database> {
    Builder::new()
        .set_cache_size(cache)
        .create_with_backend(backend)
        .map_err(fault::open)
}
