use async_recursion::async_recursion as boxed;
use std::collections::HashSet;

use bson::{Bson, Document, doc};

use crate::item::documents;
use crate::spec::take_at;
use crate::spill::page_fields;
use crate::state::{Born, Head, State, int};
use crate::{Item, OverflowList, Owner, empty, value_at};
use document::{Attempts, Error, Find, Result, Update};

/// How many pages are written or read back at once.
const BATCH: usize = 64;

impl OverflowList<'_> {
    /// Turns a list that is one unbounded array into head and pages while other operations use it. Continues a
    /// conversion that was begun and not finished.
    ///
    /// One update makes the array the head of a list that is marked as `adopting`. From then on, pushes to the plain
    /// array are refused, and every operation that changes the list helps with the conversion. Then the pages are
    /// written, which no reader sees yet, and one more update commits them all and leaves the newest items in the
    /// head. If two items have the same key, the first one stays.
    ///
    /// # Errors
    /// [`Error::Refused`] when an item of the array lacks the fields that identify and order it; nothing is changed then.
    #[boxed]
    pub async fn adopt(&self, owner: &Owner) -> Result<()> {
        let _turn = self.kind.adoptions.of(owner).await;
        if !self.is_list(owner).await? {
            self.check_items(owner).await?;
            let rev = self.unused_rev(owner).await?;
            self.make_list(owner, rev).await?;
        }
        let mut paged_for = None;
        let adopted = self.adopt_list(owner, &mut paged_for).await;
        let lives = |born: &Born| adopted.as_ref().is_ok_and(|adopted| adopted == born);
        if paged_for.is_some_and(|born| !lives(&born)) {
            self.sweep_after_failure(owner).await;
        }
        adopted.map(drop)
    }

    /// Returns the incarnation whose list was adopted. Stores the first one for which pages may have been written in
    /// `paged_for`.
    async fn adopt_list(&self, owner: &Owner, paged_for: &mut Option<Born>) -> Result<Born> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let seen = self.state_of_list(owner, Head::Whole).await?;
            if !seen.adopting {
                return Ok(seen.born);
            }
            paged_for.get_or_insert_with(|| seen.born.clone());
            if self.finish_adoption(owner, &seen).await? {
                return Ok(seen.born);
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// Whether the owner has the list as head and pages, finished or not.
    async fn is_list(&self, owner: &Owner) -> Result<bool> {
        let document = self.owner_document(owner, Head::None).await?;
        let document = document.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        Ok(matches!(
            value_at(&document, self.field()),
            Some(Bson::Document(_))
        ))
    }

    async fn check_items(&self, owner: &Owner) -> Result<()> {
        let find = Find::matching(doc! { "_id": owner.id() })
            .project(doc! { self.field(): 1 })
            .limit(1);
        let found = self.engine.find(self.owners(), find).await?;
        let Some(Bson::Array(items)) = found
            .into_iter()
            .next()
            .and_then(|mut owner| take_at(&mut owner, self.field()))
        else {
            return Ok(());
        };
        for (place, item) in items.into_iter().enumerate() {
            if let Err(error) = self.spec().element(item) {
                return Err(Error::refused(
                    2,
                    format!(
                        "{owner}: `{}.{place}` is not an item `{}`: {error}. Bring the array into this form first.",
                        self.field(),
                        self.spec().form(),
                    ),
                ));
            }
        }
        Ok(())
    }

    /// A revision that is above those of all pages that are left of an earlier list: somebody may be about to
    /// [delete](Self::restore) these, by their revisions.
    pub(crate) async fn unused_rev(&self, owner: &Owner) -> Result<i64> {
        let find = Find::matching(doc! { "owner": owner.id(), "relation": self.field() })
            .sort(doc! { "rev": -1 })
            .project(doc! { "rev": 1 })
            .limit(1);
        let left = self.engine.find(self.pages(), find).await?;
        let newest = left.first().and_then(|page| page.get_i64("rev").ok());
        Ok(newest.map_or(0, |rev| rev + 1))
    }

    /// Makes the array the head of a list with this revision, in one update.
    async fn make_list(&self, owner: &Owner, rev: i64) -> Result<()> {
        let array = format!("${}", self.field());
        let items = doc! { "$ifNull": [array, []] };
        let mut list = empty();
        list.insert("count", doc! { "$size": items.clone() });
        list.insert(
            "head",
            doc! { "$sortArray": { "input": items, "sortBy": self.newest_on_top() } },
        );
        list.insert("rev", rev);
        list.insert("adopting", true);
        // Merged into nothing, because `$set` would set the fields of a document in each element of the array.
        let change = vec![doc! { "$set": { self.field(): { "$mergeObjects": [list] } } }];
        let still_array = doc! { "_id": owner.id(), self.path("rev"): { "$exists": false } };
        let make = Update::one(still_array, change).unjournaled();
        self.engine.update(self.owners(), make).await.map(drop)
    }

    /// Writes the pages of an adopted array and commits them. Returns false if another operation got in between.
    async fn finish_adoption(&self, owner: &Owner, seen: &State) -> Result<bool> {
        let (chunks, head) = self.divide(&seen.head)?;
        for (number, batch) in chunks.chunks(BATCH).enumerate() {
            if let Some(other) = self.write_pages(owner, seen, number * BATCH, batch).await? {
                self.advance_rev(owner, seen, other.max(seen.rev) + 1).await?;
                return Ok(false);
            }
        }
        let spilled: usize = chunks.iter().map(Vec::len).sum();
        let mut set = doc! {
            self.path("count"): int(spilled + head.len()),
            self.path("spilled"): int(spilled),
            self.path("pages"): int(chunks.len()),
            self.path("hasOverflow"): !chunks.is_empty(),
            self.path("head"): documents(&head),
        };
        if let Some(newest) = chunks.last().and_then(|chunk| chunk.first()) {
            set.insert(self.path("floor"), self.spec().order.by.value(newest.at));
        }
        let change = doc! {
            "$set": set, "$inc": { self.path("rev"): 1_i64 }, "$unset": { self.path("adopting"): "" },
        };
        let finish = Update::one(self.at_rev(owner, seen), change);
        let done = self.engine.update(self.owners(), finish).await?;
        Ok(done.matched == 1)
    }

    /// The pages that an array is split into, oldest first, and the head that stays; each is newest first.
    pub fn divide(&self, array: &[Item]) -> Result<(Vec<Vec<Item>>, Vec<Item>)> {
        let mut keys = HashSet::new();
        let mut items = Vec::with_capacity(array.len());
        for item in array.iter().rev() {
            if keys.insert(self.spec().key_of(item)?) {
                items.push(item.clone());
            }
        }
        let mut chunks = Vec::new();
        let mut rest = items.as_slice();
        loop {
            let (oldest, younger) = rest.split_at(self.spec().next_page(rest));
            if oldest.is_empty() {
                break;
            }
            chunks.push(oldest.iter().rev().cloned().collect());
            rest = younger;
        }
        Ok((chunks, rest.iter().rev().cloned().collect()))
    }

    /// Writes a batch of pages and reads them back. Returns the revision of a page that this head did not write, if
    /// any.
    pub(crate) async fn write_pages(
        &self,
        owner: &Owner,
        seen: &State,
        first: usize,
        chunks: &[Vec<Item>],
    ) -> Result<Option<i64>> {
        let numbers = first..first + chunks.len();
        let order = &self.spec().order;
        let array_end = order.moment(seen.head.first().map_or(0, |newest| newest.at));
        let pages: Vec<Document> = numbers
            .clone()
            .zip(chunks)
            .map(|(number, chunk)| {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                let mut page = self.page_of(owner, &seen.born, number);
                page.insert("_id", owner.page_id(self.field(), &seen.born, number));
                page.insert("rev", seen.rev);
                page.extend(page_fields(chunk, order.by, array_end));
                page
            })
            .collect();
        match self.engine.insert(self.pages(), pages).await {
            Ok(()) => {}
            Err(Error::DuplicateKey { .. }) => {
                for (number, chunk) in numbers.clone().zip(chunks) {
                    let number = u32::try_from(number).unwrap_or(u32::MAX);
                    self.write_page(owner, seen, number, chunk, array_end).await?;
                }
            }
            Err(error) => return Err(error),
        }
        for (number, chunk) in numbers.zip(chunks) {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            match self.page(owner, &seen.born, number).await? {
                Some(page) if page.rev == seen.rev && page.items == *chunk => {}
                other => return Ok(Some(other.map_or(seen.rev, |page| page.rev))),
            }
        }
        Ok(None)
    }
}
