//! Deleting an owner with its pages.

use async_recursion::async_recursion as boxed;
use bson::{Bson, Document, doc};

use crate::Owner;
use document::{Engine, Find, Result, session_of};

/// Deletes an owner document and the pages of its lists. The document goes first: from then on no reader reaches the
/// pages. Repeating it finishes an interrupted deletion. An owner that does not meet `guard` stays, and so do its pages.
/// Returns whether it deleted one.
pub async fn delete_owner(
    engine: &Engine,
    owners: &str,
    pages: &str,
    owner: &Owner,
    mut guard: Document,
) -> Result<bool> {
    // In one session, because the sweep must see every page that was written before the owner was deleted.
    let engine = &session_of(engine);
    guard.insert("_id", owner.id());
    let deleted = engine.delete(owners, guard, false).await;
    // Also if it is unknown whether the owner is gone, because nobody may repeat it.
    let swept = sweep(engine, owners, pages, owner).await;
    let deleted = deleted?;
    swept?;
    Ok(deleted > 0)
}

/// Deletes the pages of deleted owners of this name; an owner that exists keeps its pages. Returns how many it
/// deleted.
#[boxed]
pub async fn sweep(engine: &Engine, owners: &str, pages: &str, owner: &Owner) -> Result<u64> {
    // In this order, and in one session: an incarnation that had pages before the owner was read, and is not the owner
    // then, never comes back. A read that is older than the pages could mistake the existing owner's for dead ones.
    let engine = session_of(engine);
    let mut dead = engine
        .distinct(pages, "born", doc! { "owner": owner.id() })
        .await?;
    if engine
        .count(pages, doc! { "owner": owner.id(), "born": Bson::Null })
        .await?
        > 0
    {
        dead.push(Bson::Null);
    }
    if dead.is_empty() {
        return Ok(0);
    }
    let find = Find::matching(doc! { "_id": owner.id() })
        .project(doc! { "born": 1 })
        .limit(1);
    if let Some(living) = engine.find(owners, find).await?.first() {
        let living = living.get("born").cloned().unwrap_or(Bson::Null);
        dead.retain(|born| *born != living);
    }
    engine
        .delete(pages, doc! { "owner": owner.id(), "born": { "$in": dead } }, true)
        .await
}
