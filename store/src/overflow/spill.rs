use bson::{Bson, DateTime, Document, doc};
use model::Timestamp;

use super::state::{State, int};
use super::{Item, OverflowList, Owner, PAGES, owner_id, page_id, uuid_bson};
use crate::error::{Error, Result};
use crate::port::Update;

impl OverflowList<'_> {
    /// Moves the oldest chunk of a full head into the next page. Two writes: the page, which nobody reads yet, and
    /// the owner, which makes it visible and takes its items out of the head at the same moment.
    ///
    /// It gives up quietly when somebody else got further; the caller looks again.
    pub(super) async fn spill(&self, owner: &Owner, seen: &State, now: Timestamp) -> Result<()> {
        let chunk = &seen.head[seen.head.len() - self.limits.chunk(seen.head.len())..];
        let Some(newest) = chunk.first() else {
            return Ok(());
        };
        self.write_page(owner, seen, seen.pages, chunk, now).await?;

        let Some(page) = self.page(owner, &seen.born, seen.pages).await? else {
            return Ok(());
        };
        if page.rev != seen.rev || page.items != chunk {
            // A page that this head did not write: an interrupted spill left it behind under other limits, or the
            // tidying of an empty one. A newer revision lets it be replaced. If somebody else wrote it for a newer
            // head, the guard fails.
            return self.advance_rev(owner, seen, page.rev.max(seen.rev) + 1).await;
        }
        self.commit(owner, seen, chunk, newest.at).await
    }

    /// Writes a page that is not committed, where it is absent or was left behind by an older revision of the head.
    pub(super) async fn write_page(
        &self,
        owner: &Owner,
        seen: &State,
        number: u32,
        chunk: &[Item],
        now: Timestamp,
    ) -> Result<()> {
        let mut absent_or_older = self.page_of(owner, &seen.born, number);
        absent_or_older.insert("rev", doc! { "$lt": seen.rev });
        let mut page = page_fields(chunk, now);
        page.insert("rev", seen.rev);
        let id = page_id(owner, self.relation, &seen.born, number);
        let write = Update::one(
            absent_or_older,
            doc! { "$set": page, "$setOnInsert": { "_id": id } },
        );
        match self.engine.update(PAGES, write.or_insert()).await {
            // The page stands already, at this revision or a newer one.
            Ok(_) | Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn commit(&self, owner: &Owner, seen: &State, chunk: &[Item], newest: Timestamp) -> Result<()> {
        let ids: Vec<Bson> = chunk.iter().map(|item| uuid_bson(item.id)).collect();
        let mut guard = self.at_rev(owner, seen);
        guard.insert(self.path("head"), doc! { "$size": int(seen.head.len()) });
        let change = doc! {
            "$pull": { self.path("head"): { "id": { "$in": &ids } } },
            "$inc": { self.path("pages"): 1_i64, self.path("spilled"): int(ids.len()) },
            "$set": { self.path("hasOverflow"): true, self.path("floor"): DateTime::from_millis(newest.millis()) },
        };
        let updated = self
            .engine
            .update(self.owners(), Update::one(guard, change))
            .await?;
        if updated.matched > 0 {
            self.queues.work.spilled(self.relation);
        }
        Ok(())
    }

    pub(super) async fn advance_rev(&self, owner: &Owner, seen: &State, rev: i64) -> Result<()> {
        let change = doc! { "$set": { self.path("rev"): rev } };
        self.engine
            .update(self.owners(), Update::one(self.at_rev(owner, seen), change))
            .await
            .map(drop)
    }

    /// Selects the owner only while no removal and no spill has come between.
    pub(super) fn at_rev(&self, owner: &Owner, seen: &State) -> Document {
        doc! {
            "_id": owner_id(owner),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("rev"): seen.rev,
        }
    }
}

/// What a page says about its items: none is newer than `first` or older than `last`. They are the times of its newest
/// and oldest item when it is written; a removal leaves them as they are.
pub(super) fn page_fields(chunk: &[Item], now: Timestamp) -> Document {
    let items: Vec<Document> = chunk.iter().map(Item::to_document).collect();
    let mut fields = doc! { "count": int(items.len()), "createdAt": DateTime::from_millis(now.millis()) };
    if let (Some(newest), Some(oldest)) = (chunk.first(), chunk.last()) {
        fields.insert("first", DateTime::from_millis(newest.at.millis()));
        fields.insert("last", DateTime::from_millis(oldest.at.millis()));
    }
    fields.insert("items", items);
    fields
}
