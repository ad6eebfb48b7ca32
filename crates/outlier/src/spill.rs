use bson::{DateTime, Document, doc};

use crate::item::documents;
use crate::snapshot::{Terms, together};
use crate::state::{State, int};
use crate::{Item, OrderBy, OverflowList, Owner};
use document::{Error, Result, Update};

/// What a push adds, and what is written with it.
#[derive(Debug, Default)]
pub(crate) struct Push<'t> {
    /// The items as they stand in a head.
    pub items: Vec<Document>,
    pub terms: Option<&'t Terms>,
}

impl Push<'_> {
    /// The change together with what is written with it.
    pub fn with(&self, change: Document) -> Document {
        match self.terms {
            Some(terms) => terms.with(change),
            None => change,
        }
    }
}

impl OverflowList<'_> {
    /// Moves the oldest chunk of a full head into the next page, and adds items to what stays, all of them newer than
    /// the chunk. This takes two writes: the page, which no reader sees yet, and the owner, which at the same moment
    /// makes the page visible, drops its items from the head and adds the new ones.
    ///
    /// Returns the new count, or `None` if another operation was faster; the caller then reads the list again.
    pub(crate) async fn spill(
        &self,
        owner: &Owner,
        seen: &State,
        chunk: &[Item],
        adding: &Push<'_>,
        now: DateTime,
    ) -> Result<Option<u64>> {
        if !self.write_page(owner, seen, seen.pages, chunk, now).await? {
            let Some(page) = self.page(owner, &seen.born, seen.pages).await? else {
                return Ok(None);
            };
            if page.rev != seen.rev || page.items != chunk {
                // A page that this head did not write: it is left from a spill that was interrupted under other
                // limits, or from tidying an empty page. A newer revision allows it to be replaced.
                self.advance_rev(owner, seen, page.rev.max(seen.rev) + 1).await?;
                return Ok(None);
            }
        }
        self.commit(owner, seen, chunk, adding).await
    }

    /// Writes a page that is not committed, if it is absent or left from an older revision of the head. Returns false
    /// if there is one already, of this revision or a newer one.
    ///
    /// The page stays as it is until the commit: only a newer revision may replace it, and then the commit's guard
    /// fails. It need not be on disk before the commit, because it means nothing without it.
    pub(crate) async fn write_page(
        &self,
        owner: &Owner,
        seen: &State,
        number: u32,
        chunk: &[Item],
        now: DateTime,
    ) -> Result<bool> {
        let mut absent_or_older = self.page_of(owner, &seen.born, number);
        absent_or_older.insert("rev", doc! { "$lt": seen.rev });
        let mut page = page_fields(chunk, self.spec().order.by, now);
        page.insert("rev", seen.rev);
        let id = owner.page_id(self.field(), &seen.born, number);
        let write = Update::one(
            absent_or_older,
            doc! { "$set": page, "$setOnInsert": { "_id": id } },
        );
        match self
            .engine
            .update(self.pages(), write.or_insert().unjournaled())
            .await
        {
            Ok(_) => Ok(true),
            Err(Error::DuplicateKey { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The guards make sure that the head is what was read, so that `$slice` drops exactly the chunk: the page holds
    /// it, and everything that is added sorts above it.
    async fn commit(
        &self,
        owner: &Owner,
        seen: &State,
        chunk: &[Item],
        adding: &Push<'_>,
    ) -> Result<Option<u64>> {
        let Some(floor) = seen.floor_above(chunk) else {
            return Ok(None);
        };
        let stay = seen.head.len();
        let mut guard = self.at_rev(owner, seen);
        guard.insert(self.path("head"), doc! { "$size": int(stay + chunk.len()) });
        let change = doc! {
            "$push": { self.path("head"): {
                "$each": &adding.items, "$sort": self.newest_on_top(), "$slice": int(stay + adding.items.len()),
            } },
            "$inc": {
                self.path("count"): int(adding.items.len()), self.path("pages"): 1_i64, self.path("spilled"): int(chunk.len()),
            },
            "$set": { self.path("hasOverflow"): true, self.path("floor"): self.spec().order.by.value(floor) },
        };
        let change = if adding.items.is_empty() {
            change
        } else {
            together(change, (self.kind.also)(&adding.items))
        };
        let committed = self.change_owner(guard, adding.with(change)).await?;
        if committed.is_some() {
            self.kind.work.spilled();
            if !adding.items.is_empty() {
                self.kind.work.pushed(adding.items.len());
            }
        }
        Ok(committed)
    }

    /// Raises the revision to at least this one. It needs no guard, since `$max` never lowers it.
    pub(crate) async fn advance_rev(&self, owner: &Owner, seen: &State, rev: i64) -> Result<()> {
        let this = doc! { "_id": owner.id(), "born": &seen.born };
        let change = doc! { "$max": { self.path("rev"): rev } };
        let advance = Update::one(this, change).unjournaled();
        self.engine.update(self.owners(), advance).await.map(drop)
    }

    /// Selects the owner only if there was no removal and no spill since it was read.
    pub(crate) fn at_rev(&self, owner: &Owner, seen: &State) -> Document {
        doc! {
            "_id": owner.id(),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("rev"): seen.rev,
        }
    }
}

/// The fields in which a page describes its items: none is newer than `first` or older than `last`. They are those
/// of its newest and oldest item when it is written; a removal leaves them as they are.
pub(crate) fn page_fields(chunk: &[Item], by: OrderBy, now: DateTime) -> Document {
    let mut fields = doc! { "count": int(chunk.len()), "createdAt": now };
    if let (Some(newest), Some(oldest)) = (chunk.first(), chunk.last()) {
        fields.insert("first", by.value(newest.at));
        fields.insert("last", by.value(oldest.at));
    }
    fields.insert("items", documents(chunk));
    fields
}
