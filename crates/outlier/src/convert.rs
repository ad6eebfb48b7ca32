use bson::{Bson, Document, doc};

use crate::item::documents;
use crate::state::{State, int};
use crate::{Item, OverflowList, Owner, empty, value_at};
use document::{Attempts, Error, Find, FindAndModify, Result, Update};

/// How many pages are written at once.
const BATCH: usize = 64;

/// What to do if the array has grown since it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Growth {
    /// Read it again.
    Refused,
    /// The server makes items of the new elements, as [`plain`](crate::plain) does.
    Plain,
}

/// An array that is being converted to head and pages.
struct Conversion {
    /// The revision of the pages. A later conversion has a higher one, and then ours cannot be committed.
    rev: i64,
    /// The pages that are written already, in that revision.
    written: Vec<Vec<Item>>,
}

impl OverflowList<'_> {
    /// Turns an array whose elements are not items yet into head and pages, while others push to it and pull from it.
    /// `items_of` reads the items from the owner document; for the same array it must always return the same items.
    ///
    /// The pages are written first, which no reader sees yet. One update then puts the list in the array's place,
    /// provided that the array is still, element for element, what the pages were computed from. If it has only grown,
    /// only the rest is computed again. Two conversions at once do not mix their pages: a counter in the owner says
    /// which began last.
    ///
    /// # Errors
    /// What `items_of` refuses, and [`Error::Contended`] when others write faster than this can follow.
    pub async fn convert(
        &self,
        owner: &Owner,
        items_of: &(dyn Fn(&Document) -> Result<Vec<Item>> + Sync),
    ) -> Result<()> {
        self.convert_as(owner, items_of, Growth::Refused).await
    }

    pub(crate) async fn convert_as(
        &self,
        owner: &Owner,
        items_of: &(dyn Fn(&Document) -> Result<Vec<Item>> + Sync),
        growth: Growth,
    ) -> Result<()> {
        let _turn = self.kind.adoptions.of(owner).await;
        let mut paged = false;
        let converted = self.convert_array(owner, items_of, growth, &mut paged).await;
        if paged && !matches!(converted, Ok(true)) {
            self.sweep_after_failure(owner).await;
        }
        converted.map(drop)
    }

    /// Returns whether it put the list in the array's place. Notes in `paged` that pages may have been written.
    async fn convert_array(
        &self,
        owner: &Owner,
        items_of: &(dyn Fn(&Document) -> Result<Vec<Item>> + Sync),
        growth: Growth,
        paged: &mut bool,
    ) -> Result<bool> {
        let mut conversion: Option<Conversion> = None;
        let mut advance = self.unused_rev(owner).await?.max(1);
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let document = match &conversion {
                Some(conversion) => self.array_at(owner, conversion.rev).await?,
                None => None,
            };
            let document = match document {
                Some(document) => document,
                None => match self.begin(owner, advance).await? {
                    Some((document, rev)) => {
                        conversion = Some(Conversion {
                            rev,
                            written: Vec::new(),
                        });
                        document
                    }
                    // Another conversion was faster, or the owner is gone.
                    None => return Ok(false),
                },
            };
            let Some(current) = &mut conversion else { continue };
            let mut items = items_of(&document)?;
            items.sort_unstable_by_key(|item| std::cmp::Reverse(item.order()));
            let (chunks, head) = self.divide(&items)?;
            if !chunks.starts_with(&current.written) {
                // Something was pulled out, which moves everything after it.
                conversion = None;
                continue;
            }
            let seen = Self::as_read(&document, current.rev, items);
            *paged |= !chunks.is_empty();
            if let Some(newer) = self.write_rest(owner, &seen, &chunks, current).await? {
                advance = newer.saturating_sub(current.rev).max(0) + 1;
                conversion = None;
                continue;
            }
            let list = self.list_of(&seen, &chunks, &head);
            let put = match growth {
                Growth::Refused => self.put(owner, &document, &seen, list),
                Growth::Plain => self.put_with_growth(owner, &document, &seen, list),
            };
            if self.engine.update(self.owners(), put).await?.matched == 1 {
                return Ok(true);
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// The field of the owner that counts how many conversions of the list were begun.
    pub(crate) fn counter(&self) -> String {
        format!("{}Conversion", self.field())
    }

    async fn begin(&self, owner: &Owner, advance: i64) -> Result<Option<(Document, i64)>> {
        let array = doc! { "_id": owner.id(), self.field(): { "$type": "array" } };
        let count = FindAndModify::after(array, doc! { "$inc": { self.counter(): advance } });
        let found = self.engine.find_and_modify(self.owners(), count).await?;
        Ok(found.map(|owner| {
            let rev = value_at(&owner, &self.counter())
                .and_then(Bson::as_i64)
                .unwrap_or_default();
            (owner, rev)
        }))
    }

    async fn array_at(&self, owner: &Owner, rev: i64) -> Result<Option<Document>> {
        let array = doc! {
            "_id": owner.id(), self.field(): { "$type": "array" }, self.counter(): rev,
        };
        let found = self
            .engine
            .find(self.owners(), Find::matching(array).limit(1))
            .await?;
        Ok(found.into_iter().next())
    }

    fn as_read(document: &Document, rev: i64, items: Vec<Item>) -> State {
        State {
            born: document.get("born").cloned().unwrap_or(Bson::Null),
            adopting: false,
            count: items.len() as u64,
            spilled: 0,
            pages: 0,
            rev,
            floor: None,
            pending: Vec::new(),
            head: items,
        }
    }

    /// Writes the missing pages. Returns the revision of a page that another conversion wrote, if any.
    async fn write_rest(
        &self,
        owner: &Owner,
        seen: &State,
        chunks: &[Vec<Item>],
        conversion: &mut Conversion,
    ) -> Result<Option<i64>> {
        while conversion.written.len() < chunks.len() {
            let first = conversion.written.len();
            let batch = &chunks[first..chunks.len().min(first + BATCH)];
            if let Some(newer) = self.write_pages(owner, seen, first, batch).await? {
                return Ok(Some(newer));
            }
            conversion.written.extend_from_slice(batch);
        }
        Ok(None)
    }

    /// The list that takes the array's place.
    fn list_of(&self, seen: &State, chunks: &[Vec<Item>], head: &[Item]) -> Document {
        let spilled: usize = chunks.iter().map(Vec::len).sum();
        let mut list = empty();
        list.insert("count", int(spilled + head.len()));
        list.insert("spilled", int(spilled));
        list.insert("pages", int(chunks.len()));
        list.insert("hasOverflow", !chunks.is_empty());
        list.insert("rev", seen.rev);
        if let Some(newest) = chunks.last().and_then(|chunk| chunk.first()) {
            list.insert("floor", self.spec().order.by.value(newest.at));
        }
        list.insert("head", documents(head));
        list
    }

    /// Replaces the array with the list, if it is still the array that the list was made from.
    fn put(&self, owner: &Owner, document: &Document, seen: &State, list: Document) -> Update {
        let mut guard = self.still_converting(owner, seen);
        guard.insert(
            self.field(),
            value_at(document, self.field()).cloned().unwrap_or(Bson::Null),
        );
        let change = doc! { "$set": { self.field(): list }, "$unset": { self.counter(): "" } };
        Update::one(guard, change)
    }

    /// Selects the owner only if no other conversion began since.
    pub(crate) fn still_converting(&self, owner: &Owner, seen: &State) -> Document {
        doc! { "_id": owner.id(), "born": &seen.born, self.counter(): seen.rev }
    }
}
