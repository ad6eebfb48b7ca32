//! The end of an owner.

use bson::{Bson, doc};

use super::{Owner, PAGES, owner_collection, owner_id};
use document::{Engine, Find, Result, session_of};

/// Deletes an owner document and the pages of its lists. The document goes first: from then on nobody reads the
/// pages. Doing it again finishes what was interrupted. Answers whether there was such an owner.
pub(crate) async fn delete_owner(engine: &Engine, owner: &Owner) -> Result<bool> {
    // In one session: the sweep must see every page that was written before the owner went.
    let engine = &session_of(engine);
    let deleted = engine
        .delete(owner_collection(owner), doc! { "_id": owner_id(owner) }, false)
        .await?;
    sweep(engine, owner).await?;
    Ok(deleted > 0)
}

/// Deletes the pages of owners of this name that are gone; one that lives keeps its own. Answers how many went.
pub(crate) async fn sweep(engine: &Engine, owner: &Owner) -> Result<u64> {
    // In this order, and in one session: an incarnation that had pages before the owner was looked at, and is not the
    // owner then, never comes back. A look that is older than the pages could take the living owner's for dead.
    let engine = session_of(engine);
    let mut dead = engine
        .distinct(PAGES, "born", doc! { "owner": owner_id(owner) })
        .await?;
    if engine
        .count(PAGES, doc! { "owner": owner_id(owner), "born": Bson::Null })
        .await?
        > 0
    {
        dead.push(Bson::Null);
    }
    if dead.is_empty() {
        return Ok(0);
    }
    let find = Find::matching(doc! { "_id": owner_id(owner) })
        .project(doc! { "born": 1 })
        .limit(1);
    if let Some(living) = engine.find(owner_collection(owner), find).await?.first() {
        let living = living.get("born").cloned().unwrap_or(Bson::Null);
        dead.retain(|born| *born != living);
    }
    engine
        .delete(
            PAGES,
            doc! { "owner": owner_id(owner), "born": { "$in": dead } },
            true,
        )
        .await
}
