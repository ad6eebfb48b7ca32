//! The demo town of a store: whether there is one, and which process loads it. Of those that start at once on an empty
//! store, one does, or another when that one dies.

use std::time::Duration;

use bson::{Bson, Document, doc};
use model::{Handle, Timestamp};
use uuid::Uuid;

use crate::overflow::{PAGES, uuid_bson};
use crate::store::holds_any;
use crate::{Store, comments, people, posts, reports, sessions, shared_posts, timeline};
use document::{Error, Find, Result, Update};

/// The collection of facts about the store as a whole.
pub(crate) const META: &str = "meta";
/// The document in it that says whether a town is there: `{_id: "town", state, claim, beat, demo: [handle…],
/// recipe}`. While the state is `loading`, `claim` names the loader and `beat` increases as long as it lives; with
/// `anew`, the existing data is to be removed first.
const MARKER: &str = "town";

/// When a loader counts as dead. No two processes need synchronized clocks for this.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often the loader writes a heartbeat, and how often the others look.
    pub beat: Duration,
    /// The number of consecutive looks without a heartbeat.
    pub looks: u32,
}

impl Patience {
    /// For a store that several processes can open: ten seconds.
    pub const SHARED: Self = Self {
        beat: Duration::from_millis(500),
        looks: 20,
    };
    /// For a store that is open in this process alone: the previous loader is dead.
    pub const ALONE: Self = Self {
        looks: 0,
        ..Self::SHARED
    };
}

/// The right to load the town, until another process takes it away from a loader that seems dead.
pub struct Claim<'a> {
    store: &'a Store,
    id: Uuid,
    beat: Duration,
}

/// A whole town.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Town {
    /// Those of its people whom anybody may sign in as.
    pub demo: Vec<Handle>,
    /// What it was made from; empty if that is not known.
    pub recipe: Document,
}

impl Town {
    /// The moment at which the town ends: younger posts are by its visitors.
    pub fn ends(&self) -> Option<Timestamp> {
        let now = self.recipe.get_datetime("now").ok()?;
        Some(Timestamp::from_millis(now.timestamp_millis()))
    }
}

impl Store {
    /// The town, as far as it is known: while it is being loaded, nothing is.
    pub async fn town(&self) -> Result<Option<Town>> {
        Ok(marker(self).await?.map(|town| {
            let demo = town.get_array("demo").into_iter().flatten();
            Town {
                demo: demo.filter_map(|handle| handle.as_str()?.parse().ok()).collect(),
                recipe: town.get_document("recipe").cloned().unwrap_or_default(),
            }
        }))
    }
}

async fn marker(store: &Store) -> Result<Option<Document>> {
    let find = Find::matching(doc! { "_id": MARKER }).limit(1);
    let found = store.engine().find(META, find).await?;
    Ok(found.into_iter().next())
}

/// The contents of the marker.
#[derive(Debug, Clone, PartialEq)]
enum Marker {
    Absent,
    Complete,
    /// Either may be missing: older versions started a town without a marker.
    Loading {
        claim: Bson,
        beat: Option<i64>,
    },
}

/// Whether the store holds a whole town.
pub async fn is_loaded(store: &Store) -> Result<bool> {
    Ok(read(store).await? == Marker::Complete)
}

/// Whether a town is being loaded, or its loading was interrupted.
pub async fn is_half_loaded(store: &Store) -> Result<bool> {
    Ok(matches!(read(store).await?, Marker::Loading { .. }))
}

/// Claims an empty store, under a unique id. While another process loads, this waits, and takes over when that
/// process's heartbeat stops for too long: what it left is then removed. `None` when the town is there in the end.
///
/// # Errors
/// [`Error::Refused`] when the store holds people or posts that are not a half-loaded town, and nothing is written.
pub async fn claim(store: &Store, id: Uuid, patience: Patience) -> Result<Option<Claim<'_>>> {
    let beat = patience.beat;
    let mine = Claim { store, id, beat };
    let mut seen = Marker::Absent;
    let mut looks = 0;
    loop {
        let now = read(store).await?;
        match &now {
            Marker::Complete => return Ok(None),
            Marker::Absent => {
                if begin(store, id).await? {
                    return Ok(Some(mine));
                }
                continue;
            }
            Marker::Loading { claim, beat } => {
                if seen == Marker::Absent && patience.looks > 0 {
                    tracing::info!("another process is loading the demo town; waiting for it");
                }
                looks = if now == seen { looks + 1 } else { 0 };
                if looks >= patience.looks {
                    if take_over(store, id, claim, *beat).await? {
                        clear(store).await?;
                        return Ok(Some(mine));
                    }
                    continue;
                }
            }
        }
        seen = now;
        tokio::time::sleep(patience.beat).await;
    }
}

/// Claims a store that has a town, to load it again: everybody and everything in it is removed, including people who
/// signed up.
pub async fn claim_again(store: &Store, id: Uuid) -> Result<Claim<'_>> {
    mark_for_reload(store, id).await?;
    clear(store).await?;
    let beat = Patience::SHARED.beat;
    Ok(Claim { store, id, beat })
}

/// Records that the town will be loaded again. From here on, a process that finds it half-loaded continues.
pub async fn mark_for_reload(store: &Store, id: Uuid) -> Result<()> {
    let whole = doc! { "_id": MARKER, "state": "complete" };
    let change = doc! { "$set": { "state": "loading", "claim": uuid_bson(id), "beat": 0_i64, "anew": true } };
    let done = store.engine().update(META, Update::one(whole, change)).await?;
    if done.matched == 1 { Ok(()) } else { Err(lost()) }
}

impl Claim<'_> {
    /// What is claimed.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// Writes a heartbeat again and again. Ends only with an error, when another process took over.
    pub async fn beat(&self) -> Error {
        loop {
            tokio::time::sleep(self.beat).await;
            let again = Update::one(self.marker(), doc! { "$inc": { "beat": 1_i64 } });
            match self.store.engine().update(META, again).await {
                Ok(done) if done.matched == 0 => return lost(),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "the heartbeat of loading the town could not be stored");
                }
            }
        }
    }

    /// Records that the town is complete, which of its people one may sign in as, and what it was made from.
    pub async fn complete(&self, demo: Vec<&str>, recipe: Document) -> Result<()> {
        let facts = doc! {
            "$set": { "state": "complete", "demo": demo, "recipe": recipe },
            "$unset": { "claim": "", "beat": "", "anew": "" },
        };
        let done = self
            .store
            .engine()
            .update(META, Update::one(self.marker(), facts))
            .await?;
        if done.matched == 0 { Err(lost()) } else { Ok(()) }
    }

    fn marker(&self) -> Document {
        doc! { "_id": MARKER, "state": "loading", "claim": uuid_bson(self.id) }
    }
}

async fn read(store: &Store) -> Result<Marker> {
    let Some(marker) = marker(store).await? else {
        return Ok(Marker::Absent);
    };
    if marker.get_str("state").is_ok_and(|state| state == "complete") {
        return Ok(Marker::Complete);
    }
    Ok(Marker::Loading {
        claim: marker.get("claim").cloned().unwrap_or(Bson::Null),
        beat: marker.get("beat").and_then(Bson::as_i64),
    })
}

/// False when another process was faster.
async fn begin(store: &Store, id: Uuid) -> Result<bool> {
    for collection in [people::COLLECTION, posts::COLLECTION] {
        if holds_any(&**store.engine(), collection).await? {
            // The other process's documents may have arrived since the marker was looked for.
            if read(store).await? != Marker::Absent {
                return Ok(false);
            }
            return Err(Error::refused(
                2,
                "The store already holds people or posts; a town is only loaded into an empty one.",
            ));
        }
    }
    let marker = doc! { "_id": MARKER, "state": "loading", "claim": uuid_bson(id), "beat": 0_i64 };
    match store.engine().insert(META, vec![marker]).await {
        Ok(()) => Ok(true),
        Err(Error::DuplicateKey { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn take_over(store: &Store, id: Uuid, claim: &Bson, beat: Option<i64>) -> Result<bool> {
    let as_seen = doc! { "_id": MARKER, "state": "loading", "claim": claim, "beat": beat };
    let change = doc! { "$set": { "claim": uuid_bson(id), "beat": 0_i64 } };
    let done = store.engine().update(META, Update::one(as_seen, change)).await?;
    Ok(done.matched == 1)
}

/// Removes what an interrupted load left. Owners go first, so that no page is ever missing from a list.
async fn clear(store: &Store) -> Result<()> {
    // Nobody in the town has a password. A person with one signed up, while a server ran without the town.
    let members = doc! { "password": { "$type": "string" } };
    let reloading = doc! { "_id": MARKER, "anew": true };
    if store.engine().count(META, reloading).await? == 0
        && store.engine().count(people::COLLECTION, members).await? > 0
    {
        return Err(Error::refused(
            2,
            "People signed up while a town was half loaded, and removing it would remove them, too.",
        ));
    }
    // A class has lost its students and what they did.
    store.class().empty().await?;
    for collection in [
        people::COLLECTION,
        posts::COLLECTION,
        PAGES,
        timeline::COLLECTION,
        sessions::COLLECTION,
        reports::COLLECTION,
        comments::COLLECTION,
        shared_posts::COLLECTION,
    ] {
        store.engine().delete(collection, Document::new(), true).await?;
    }
    Ok(())
}

fn lost() -> Error {
    Error::Contended("the demo town, which another process loads now".to_owned())
}
