use bson::{Bson, DateTime, Document, doc};
use model::Timestamp;

use super::item::{number, take_items};
use super::state::State;
use super::{Item, OverflowList, Owner, PAGES, owner_id, page_id, uuid_bson};
use crate::error::{Error, Result};
use crate::port::{Find, Update};

impl OverflowList<'_> {
    /// Moves the oldest chunk of a full head into the next page. Two writes: the page, which nobody reads yet, and
    /// the owner, which makes it visible and takes its items out of the head at the same moment.
    ///
    /// It gives up quietly when somebody else got further; the caller looks again.
    pub(super) async fn spill(&self, owner: &Owner, seen: State) -> Result<()> {
        if !seen.pending.is_empty() {
            return self.settle(owner, &seen.pending).await;
        }
        let chunk = &seen.head[seen.head.len() - self.limits.chunk(seen.head.len())..];
        let Some((newest, oldest)) = chunk.first().zip(chunk.last()) else {
            return Ok(());
        };
        self.write_page(owner, &seen, chunk, newest.at, oldest.at).await?;

        let Some((rev, items)) = self.read_page(owner, seen.pages).await? else {
            return Ok(());
        };
        if rev != seen.rev || items != chunk {
            // A page that this head did not write: an interrupted spill left it behind under other limits, or a deleted
            // owner of the same name did. A newer revision lets it be replaced. If somebody else wrote it for a newer
            // head, the guard fails.
            return self.advance_rev(owner, &seen, rev.max(seen.rev) + 1).await;
        }
        self.commit(owner, &seen, chunk, newest.at).await
    }

    /// Writes the next page where it is absent or was left behind by an older revision of the head.
    async fn write_page(
        &self,
        owner: &Owner,
        seen: &State,
        chunk: &[Item],
        newest: Timestamp,
        oldest: Timestamp,
    ) -> Result<()> {
        let mut absent_or_older = self.page_of(owner, seen.pages);
        absent_or_older.insert("rev", doc! { "$lt": seen.rev });
        let mut page = page_fields(chunk, newest, oldest);
        page.insert("rev", seen.rev);
        let write = Update::one(
            absent_or_older,
            doc! { "$set": page, "$setOnInsert": { "_id": page_id(owner, self.relation, seen.pages) } },
        );
        match self.engine.update(PAGES, write.or_insert()).await {
            // The page stands already, at this revision or a newer one.
            Ok(_) | Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn read_page(&self, owner: &Owner, page: u32) -> Result<Option<(i64, Vec<Item>)>> {
        let find = Find::matching(self.page_of(owner, page)).limit(1);
        let Some(mut page) = self.engine.find(PAGES, find).await?.into_iter().next() else {
            return Ok(None);
        };
        let rev = i64::try_from(number(&page, "rev")?).unwrap_or(i64::MAX);
        Ok(Some((rev, take_items(&mut page, "items")?)))
    }

    async fn commit(&self, owner: &Owner, seen: &State, chunk: &[Item], newest: Timestamp) -> Result<()> {
        let ids: Vec<Bson> = chunk.iter().map(|item| uuid_bson(item.id)).collect();
        let mut guard = self.at_rev(owner, seen);
        guard.insert(
            self.path("head"),
            doc! { "$size": i64::try_from(seen.head.len()).unwrap_or(i64::MAX) },
        );
        let change = doc! {
            "$pull": { self.path("head"): { "id": { "$in": &ids } } },
            "$inc": { self.path("pages"): 1_i64, self.path("spilled"): i64::try_from(ids.len()).unwrap_or(i64::MAX) },
            "$set": { self.path("hasOverflow"): true, self.path("floor"): DateTime::from_millis(newest.millis()) },
        };
        self.engine
            .update(self.owners(), Update::one(guard, change))
            .await
            .map(drop)
    }

    async fn advance_rev(&self, owner: &Owner, seen: &State, rev: i64) -> Result<()> {
        let change = doc! { "$set": { self.path("rev"): rev } };
        self.engine
            .update(self.owners(), Update::one(self.at_rev(owner, seen), change))
            .await
            .map(drop)
    }

    /// Selects the owner only while no removal and no spill has come between.
    fn at_rev(&self, owner: &Owner, seen: &State) -> Document {
        doc! {
            "_id": owner_id(owner),
            self.path("pages"): i64::from(seen.pages),
            self.path("rev"): seen.rev,
        }
    }
}

/// What a page says about its items: `first` is the newest `at`, `last` the oldest.
pub(super) fn page_fields(chunk: &[Item], newest: Timestamp, oldest: Timestamp) -> Document {
    let items: Vec<Bson> = chunk
        .iter()
        .map(|item| Bson::Document(item.to_document()))
        .collect();
    doc! {
        "count": i64::try_from(items.len()).unwrap_or(i64::MAX),
        "first": DateTime::from_millis(newest.millis()),
        "last": DateTime::from_millis(oldest.millis()),
        "items": items,
    }
}
