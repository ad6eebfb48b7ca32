//! Sandboxes: places in the application's own store where the workshop can lay out lists as large as the town's,
//! without touching the town's.
//!
//! The places are numbered, and there are [`MOST`] of them. The collections of the third begin with `lab_3_`,
//! and a document of the collection [`REGISTRY`] records its holder, the time when it was taken and the purpose. A
//! caller that wants a place inserts that document, which can exist only once; so two servers on one store never
//! have the same place.
//!
//! Nothing stays behind. Closing a sandbox empties its collections before the registration is removed; a crash
//! leaves a registration that nobody renews, or documents at a place that nobody holds, and [`Sandboxes::sweep`]
//! looks for both. The number of collections does not grow, because the places are always the same. Each is
//! emptied once more when it is taken. A registration that cannot be read holds its place until the next sweep,
//! which removes it.

use std::collections::BTreeSet;

use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Error, Find, Prefixed, Update};
use model::Timestamp;
use store::overflow::uuid_bson;
use store::{Settings, Store};
use uuid::Uuid;

/// The collection of registrations, one a place.
pub const REGISTRY: &str = "lab_sandboxes";

/// How many sandboxes there can be at once in one store.
pub const MOST: u32 = 8;

/// How many items one of them may hold in all its lists.
pub const MOST_ITEMS: u64 = 1_000_000;

/// How long an unused one is kept, in milliseconds.
pub const IDLE: i64 = 10 * 60 * 1_000;

/// The prefix of every collection of a sandbox.
const PREFIX: &str = "lab_";

/// The reason why there is no sandbox, or no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// All places are taken. An unused one is freed after [`IDLE`].
    #[error("all {MOST} sandboxes are in use")]
    Full,
    /// It would hold more than [`MOST_ITEMS`].
    #[error("a sandbox holds at most {MOST_ITEMS} items, and {0} more do not fit")]
    TooManyItems(u64),
    /// It was unused for so long that it was removed.
    #[error("the sandbox was not used for a while and is gone")]
    Gone,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// The sandboxes of a store.
#[derive(Clone)]
pub struct Sandboxes {
    engine: Engine,
}

/// One place, from when it was taken until it is closed. It must be used at least every [`IDLE`], which
/// [`Sandbox::touch`] records. If it is dropped, the sweep removes it.
pub struct Sandbox {
    registry: Engine,
    engine: Engine,
    place: u32,
    lease: Uuid,
}

/// The registry's entry for a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The place's number.
    pub place: u32,
    /// Its purpose.
    pub purpose: String,
    /// When it was taken.
    pub at: Timestamp,
    /// When it was last used.
    pub used: Timestamp,
    /// The number of items that are reserved for it.
    pub items: u64,
    lease: Bson,
}

impl Sandboxes {
    /// The sandboxes of the application's store.
    pub fn of(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
        }
    }

    /// Takes a free place, and empties it. `lease` is a fresh id that distinguishes this holder from later ones.
    ///
    /// # Errors
    /// [`SandboxError::Full`] when all places are taken.
    pub async fn open(&self, purpose: &str, lease: Uuid, now: Timestamp) -> Result<Sandbox, SandboxError> {
        let taken: BTreeSet<u32> = self.all().await?.into_iter().map(|one| one.place).collect();
        for place in (1..=MOST).filter(|place| !taken.contains(place)) {
            if let Some(sandbox) = self.claim(place, purpose, lease, now).await? {
                sandbox.empty().await?;
                return Ok(sandbox);
            }
        }
        Err(SandboxError::Full)
    }

    /// The holders of the places, as far as their registrations can be read.
    pub async fn all(&self) -> Result<Vec<Registered>, Error> {
        let found = self.registrations().await?;
        Ok(found.iter().filter_map(Registered::read).collect())
    }

    async fn registrations(&self) -> Result<Vec<Document>, Error> {
        let find = Find::default().sort(doc! { "_id": 1 });
        self.engine.find(REGISTRY, find).await
    }

    /// Removes sandboxes that were unused for a while, and documents at places that nobody holds. Returns the
    /// number of removed sandboxes. It may be interrupted anywhere, and several servers may run it at once.
    pub async fn sweep(&self, lease: Uuid, now: Timestamp) -> Result<usize, Error> {
        self.remove_unreadable().await?;
        let all = self.all().await?;
        let mut cleared = 0;
        for one in all.iter().filter(|one| now.millis() - one.used.millis() > IDLE) {
            if let Some(sandbox) = self.take_over(one, lease, now).await? {
                sandbox.close().await?;
                cleared += 1;
            }
        }
        let taken: BTreeSet<u32> = all.iter().map(|one| one.place).collect();
        let names = self.engine.collections().await?;
        let places: BTreeSet<u32> = names.iter().filter_map(|name| place_of(name)).collect();
        for place in places.difference(&taken) {
            if self.is_empty(*place).await? {
                continue;
            }
            // A holder that is about to take this place is detected by the registration, as everywhere.
            if let Some(sandbox) = self.claim(*place, "sweep", lease, now).await? {
                sandbox.close().await?;
                cleared += 1;
            }
        }
        Ok(cleared)
    }

    /// Removes registrations that cannot be read, each only if it is unchanged since it was read. If one has a
    /// holder, that one gets [`SandboxError::Gone`].
    async fn remove_unreadable(&self) -> Result<(), Error> {
        let found = self.registrations().await?;
        for odd in found.into_iter().filter(|one| Registered::read(one).is_none()) {
            tracing::warn!(registration = %odd, "a registration of {REGISTRY} cannot be read and is removed");
            self.engine.delete(REGISTRY, odd, false).await?;
        }
        Ok(())
    }

    /// Registers a place; `None` when it is taken.
    async fn claim(
        &self,
        place: u32,
        purpose: &str,
        lease: Uuid,
        now: Timestamp,
    ) -> Result<Option<Sandbox>, Error> {
        let registration = doc! {
            "_id": i64::from(place),
            "purpose": purpose,
            "lease": uuid_bson(lease),
            "at": date(now),
            "used": date(now),
            "items": 0_i64,
        };
        match self.engine.insert(REGISTRY, vec![registration]).await {
            Ok(()) => Ok(Some(self.sandbox(place, lease))),
            Err(Error::DuplicateKey { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Becomes the holder of a place if it was not used since it was read.
    async fn take_over(
        &self,
        one: &Registered,
        lease: Uuid,
        now: Timestamp,
    ) -> Result<Option<Sandbox>, Error> {
        let unused = doc! { "_id": i64::from(one.place), "lease": &one.lease, "used": date(one.used) };
        let ours = doc! { "$set": { "purpose": "sweep", "lease": uuid_bson(lease), "used": date(now) } };
        let taken = self.engine.update(REGISTRY, Update::one(unused, ours)).await?;
        Ok((taken.matched == 1).then(|| self.sandbox(one.place, lease)))
    }

    fn sandbox(&self, place: u32, lease: Uuid) -> Sandbox {
        Sandbox {
            registry: self.engine.clone(),
            engine: self.engine_at(place),
            place,
            lease,
        }
    }

    fn engine_at(&self, place: u32) -> Engine {
        Prefixed::new(self.engine.clone(), format!("{PREFIX}{place}_"))
    }

    async fn is_empty(&self, place: u32) -> Result<bool, Error> {
        let engine = self.engine_at(place);
        for collection in engine.collections().await? {
            let any = Find::default().project(doc! { "_id": 1 }).limit(1);
            if !engine.find(&collection, any).await?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Sandbox {
    /// The place's number.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// The application's engine, with every collection mapped into this sandbox.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A store of the feed's own collections in this sandbox.
    pub async fn store(&self, settings: Settings) -> Result<Store, Error> {
        Store::open(self.engine.clone(), settings.without_notifications()).await
    }

    /// Reserves room for this many more items. To be called before they are written.
    ///
    /// # Errors
    /// [`SandboxError::TooManyItems`] past the quota, [`SandboxError::Gone`] when the place has another holder.
    pub async fn reserve(&self, items: u64, now: Timestamp) -> Result<(), SandboxError> {
        let room = MOST_ITEMS
            .checked_sub(items)
            .ok_or(SandboxError::TooManyItems(items))?;
        let mut fits = self.registration_filter();
        fits.insert("items", doc! { "$lte": signed(room) });
        let more = doc! { "$inc": { "items": signed(items) }, "$set": { "used": date(now) } };
        if self
            .registry
            .update(REGISTRY, Update::one(fits, more))
            .await?
            .matched
            == 1
        {
            return Ok(());
        }
        match self.registry.count(REGISTRY, self.registration_filter()).await? {
            0 => Err(SandboxError::Gone),
            _ => Err(SandboxError::TooManyItems(items)),
        }
    }

    /// The same for a fresh sandbox, whose place is freed at once if they do not fit.
    pub async fn reserved(self, items: u64, now: Timestamp) -> Result<Self, SandboxError> {
        match self.reserve(items, now).await {
            Ok(()) => Ok(self),
            Err(error) => {
                self.close().await?;
                Err(error)
            }
        }
    }

    /// Records that the sandbox is still used.
    ///
    /// # Errors
    /// [`SandboxError::Gone`] when the place has another holder; the caller must then stop writing to it.
    pub async fn touch(&self, now: Timestamp) -> Result<(), SandboxError> {
        let used = Update::one(self.registration_filter(), doc! { "$set": { "used": date(now) } });
        match self.registry.update(REGISTRY, used).await?.matched {
            0 => Err(SandboxError::Gone),
            _ => Ok(()),
        }
    }

    /// Removes everything in it and frees the place; does nothing if another holder has taken it.
    pub async fn close(self) -> Result<(), Error> {
        if self.registry.count(REGISTRY, self.registration_filter()).await? == 0 {
            return Ok(());
        }
        self.empty().await?;
        // Last, so that a crash in between leaves something that the sweep finds.
        self.registry
            .delete(REGISTRY, self.registration_filter(), false)
            .await
            .map(drop)
    }

    async fn empty(&self) -> Result<(), Error> {
        for collection in self.engine.collections().await? {
            self.engine.delete(&collection, Document::new(), true).await?;
        }
        Ok(())
    }

    /// The registration, as long as it is this holder's.
    fn registration_filter(&self) -> Document {
        doc! { "_id": i64::from(self.place), "lease": uuid_bson(self.lease) }
    }
}

impl Registered {
    /// A registration; `None` for an invalid document.
    fn read(document: &Document) -> Option<Self> {
        let date = |field| {
            let date = document.get_datetime(field).ok()?;
            Some(Timestamp::from_millis(date.timestamp_millis()))
        };
        Some(Self {
            place: u32::try_from(document.get_i64("_id").ok()?).ok()?,
            purpose: document.get_str("purpose").ok()?.to_owned(),
            at: date("at")?,
            used: date("used")?,
            items: u64::try_from(document.get_i64("items").ok()?).ok()?,
            lease: document.get("lease")?.clone(),
        })
    }
}

/// The place that a collection belongs to; `None` for the town's collections and for the registry.
fn place_of(collection: &str) -> Option<u32> {
    let (place, _) = collection.strip_prefix(PREFIX)?.split_once('_')?;
    place.parse().ok()
}

fn date(at: Timestamp) -> DateTime {
    DateTime::from_millis(at.millis())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
