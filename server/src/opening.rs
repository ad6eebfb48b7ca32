//! Opens the store that the command line names. The only place that names the engines.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bson::DateTime;
use document::{Engine, Error};
use embedded::Embedded;
use feed::{Clock, StoreClock, SystemClock};
use mongo::{ConnectError, Mongo};
use store::{Store, transfer};

use crate::cli::{DataOptions, StoreAddress};
use crate::error::CliError;

/// How often to retry opening a store that is in use, and the pause between attempts.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);
/// How often recurring work is done.
const MINUTE: Duration = Duration::from_mins(1);

/// A store, and its engine where the engine can do more than the port.
pub struct Opened {
    /// The store.
    pub store: Store,
    /// The engine, when it is the embedded one.
    pub embedded: Option<Embedded>,
}

/// The store with the requested limits for its lists.
pub async fn open(options: &DataOptions) -> Result<Store, CliError> {
    open_with_engine(options).await.map(|opened| opened.store)
}

/// The same, with its engine.
///
/// A store with an import that was begun but not finished is refused: owners may lack documents that belong to
/// them.
pub async fn open_with_engine(options: &DataOptions) -> Result<Opened, CliError> {
    let opened = open_to_import(options).await?;
    match transfer::is_under_way(&opened.store).await {
        Ok(false) => Ok(opened),
        Ok(true) => Err(CliError::failed(
            format!("An import into {} was started but not finished", options.store),
            "Run `spillway import` with the same export again to continue. Or delete the store's folder or database.",
        )),
        Err(error) => {
            let next = "Check the store's folder and disk, or its server, and run it again.";
            Err(
                CliError::failed(format!("The store in {} cannot be read", options.store), next)
                    .caused_by(&error),
            )
        }
    }
}

/// The same, even if an import was not finished.
pub async fn open_to_import(options: &DataOptions) -> Result<Opened, CliError> {
    let settings = options.limits.settings();
    let (engine, embedded): (Engine, _) = match &options.store {
        StoreAddress::Embedded(folder) => {
            let engine = embedded(folder).await?;
            (Arc::new(engine.clone()), Some(engine))
        }
        StoreAddress::MongoDb(address) => (Arc::new(connect(address).await?), None),
    };
    let store = Store::open(engine, settings)
        .await
        .map_err(|error| match &options.store {
            StoreAddress::Embedded(folder) => unusable(folder, &error),
            StoreAddress::MongoDb(_) => {
                let next =
                    "Check that the user in the address may read and write this database and create indexes.";
                CliError::failed(format!("The store in {} cannot be opened", options.store), next)
                    .caused_by(&error)
            }
        })?;
    Ok(Opened { store, embedded })
}

/// Whether a store exists at an address, without creating one.
pub async fn is_there(address: &StoreAddress) -> Result<bool, CliError> {
    match address {
        StoreAddress::Embedded(folder) => {
            Ok(std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()))
        }
        StoreAddress::MongoDb(address) => {
            let engine = connect(address).await?;
            let has_people = Store::has_people(&engine).await;
            has_people.map_err(|error| unreachable_server(&error))
        }
    }
}

/// Connects to the server at an address.
pub async fn connect(address: &str) -> Result<Mongo, CliError> {
    Mongo::connect(address)
        .await
        .map_err(|error| connect_error(&error))
}

/// The reason why an address cannot be used or does not answer.
pub fn connect_error(error: &ConnectError) -> CliError {
    match error {
        ConnectError::Address(_) | ConnectError::Unsafe { .. } => {
            let next = "Correct SPILLWAY_STORE or MONGODB_URI as the line above says.";
            CliError::usage("The address of the store cannot be used", next).caused_by(error)
        }
        error => unreachable_server(error),
    }
}

fn unreachable_server(error: &dyn std::error::Error) -> CliError {
    let next = "Start the server or correct SPILLWAY_STORE (or MONGODB_URI). SPILLWAY_STORE=embedded:./data needs no server.";
    CliError::failed("The store's MongoDB server cannot be used", next).caused_by(error)
}

/// Opening reads from the disk, so it runs outside the async threads. A process that is just ending gets a moment
/// to release the store.
async fn embedded(folder: &Path) -> Result<Embedded, CliError> {
    let mut attempts = 0;
    loop {
        let at = folder.to_path_buf();
        match tokio::task::spawn_blocking(move || Embedded::open(&at)).await {
            Ok(Ok(engine)) => return Ok(engine),
            Ok(Err(Error::Unavailable(_))) if attempts < ATTEMPTS => attempts += 1,
            Ok(Err(error)) => return Err(unusable(folder, &error)),
            Err(panicked) => return Err(unusable(folder, &panicked)),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The clock that a store's items are dated by.
pub async fn clock_of(store: &Store) -> Result<Arc<StoreClock>, CliError> {
    let clock = StoreClock::read_from(Arc::clone(store.engine()), Arc::new(SystemClock)).await;
    clock.map_err(|error| unreachable_server(&error))
}

/// Starts the work that recurs: what a MongoDB server does by itself, reading the store's clock again, and finishing
/// what was interrupted.
pub fn tidy_every_minute(store: &Store, embedded: Option<&Embedded>, clock: &Arc<StoreClock>) {
    if let Some(engine) = embedded.cloned() {
        let clock = Arc::clone(clock);
        // This keeps the engine open.
        every_minute("removing expired documents", move || {
            let engine = engine.clone();
            let now = DateTime::from_millis(clock.now().millis());
            async move {
                let gone = engine.expire(now).await?;
                tracing::debug!(gone, "documents expired");
                Ok(0)
            }
        });
    }
    let read = Arc::clone(clock);
    every_minute("reading the store's clock", move || {
        let clock = Arc::clone(&read);
        async move { clock.read_again().await.map(|()| 0) }
    });
    let delivered = store.clone();
    every_minute("finishing interrupted deliveries of posts", move || {
        let store = delivered.clone();
        async move { store.timelines().deliver_all().await }
    });
    let (reacted, clock) = (store.clone(), Arc::clone(clock));
    every_minute("finishing interrupted reactions and follows", move || {
        let (store, now) = (reacted.clone(), clock.now());
        async move { store.reactions().finish_all(now).await }
    });
    let untold = store.clone();
    every_minute("telling people what an interruption left untold", move || {
        let store = untold.clone();
        async move { store.notifications().tell_all().await }
    });
    let changed = store.clone();
    every_minute("finishing interrupted removals from pages", move || {
        let store = changed.clone();
        async move { store::upkeep::finish_removals(&store).await }
    });
    let earlier = store.clone();
    every_minute("indexing earlier posts and people for search", move || {
        let store = earlier.clone();
        async move { store.search().index_earlier().await }
    });
}

/// Starts to do something at once and about once a minute. The log says how much of it there was.
pub fn every_minute<W>(what: &'static str, mut work: impl FnMut() -> W + Send + 'static)
where
    W: Future<Output = document::Result<usize>> + Send,
{
    tokio::spawn(async move {
        let mut minute = tokio::time::interval(MINUTE);
        loop {
            minute.tick().await;
            match work().await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "{what}: done"),
                Err(error) => tracing::warn!(%error, "{what}: failed"),
            }
        }
    });
}

fn unusable(folder: &Path, error: &dyn std::error::Error) -> CliError {
    let what = format!("The store in {} cannot be opened", folder.display());
    let next = "Only one process can open it: stop the other one, or name another folder with \
                SPILLWAY_STORE=embedded:<folder>. Otherwise check the folder's permissions and free space.";
    CliError::failed(what, next).caused_by(error)
}
