//! The second part of a check: pages that belong to no list.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use document::{Find, Result, Update};

use super::{Checking, Defect, List, Outcome};
use crate::collection::lists_of;
use crate::fields::number;
use crate::scan::{Shape, fields_of};
use crate::{Collection, Owner};

/// How many pages to read at once, without their items.
const BATCH: u64 = 512;

/// A page without its items.
#[derive(Debug, Clone)]
struct Stray<'a> {
    id: Bson,
    list: List<'a>,
    born: Bson,
    page: u32,
    rev: i64,
    /// The fields of the page document, to detect changes.
    stored: Document,
}

/// The state of a page in relation to its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageState {
    Committed,
    Uncommitted,
    Orphan,
}

impl<'a> Checking<'a> {
    /// Checks the pages of one collection of pages.
    pub(super) async fn pages(&mut self, collection: &str) -> Result<()> {
        let mut last = None;
        loop {
            let filter = last.map_or_else(Document::new, |last: Bson| doc! { "_id": { "$gt": last } });
            let find = Find::matching(filter)
                .project(summary())
                .sort(doc! { "_id": 1 })
                .limit(BATCH);
            let batch = self.engine.find(collection, find).await?;
            let Some(end) = batch.last() else { break };
            last = end.get("_id").cloned();
            self.checked.pages += batch.len() as u64;
            self.advance();
            let mut pages = Vec::new();
            for page in batch {
                if let Some(page) = Stray::read(self.collections, collection, &page) {
                    pages.push(page);
                } else {
                    let id = page.get("_id").unwrap_or(&Bson::Null);
                    let what = "a page without an owner, a relation or a number".to_owned();
                    let outcome = if self.options.repair {
                        Outcome::Unrepairable("delete it by hand once its items are elsewhere")
                    } else {
                        Outcome::Found
                    };
                    self.report_of(
                        format!("{collection}/{id}"),
                        None,
                        Defect::Malformed { what },
                        outcome,
                    );
                }
            }
            let suspects = self.suspects(pages).await?;
            if suspects.is_empty() {
                continue;
            }
            self.wait().await;
            for (page, standing) in self.again(collection, suspects).await? {
                self.stray(&page, standing).await?;
            }
        }
        Ok(())
    }

    /// The pages that are not committed. The owners are read after the pages, in one session: an owner that is gone then
    /// never comes back, since one that is made again is another incarnation.
    async fn suspects(&self, pages: Vec<Stray<'a>>) -> Result<Vec<(Stray<'a>, PageState)>> {
        let mut owners = HashMap::new();
        for collection in self.collections {
            let mut ids: Vec<Bson> = Vec::new();
            for page in pages.iter().filter(|page| page.is_of(collection)) {
                let id = page.list.owner.id();
                // Pages of one owner are next to each other.
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
            }
            if ids.is_empty() {
                continue;
            }
            let paths = collection.lists().iter().map(|lists| &*lists.spec().path);
            let fields = fields_of(paths, &["count", "pages", "spilled", "rev", "adopting"]);
            let find = Find::matching(doc! { "_id": { "$in": ids } }).project(fields);
            for document in self.engine.find(collection.name(), find).await? {
                let owner = collection.owner_of(&document);
                owners.extend(owner.map(|owner| ((collection.name(), owner), document)));
            }
        }
        let standing = |page: &Stray<'_>| match owners.get(&page.owner()) {
            None => PageState::Orphan,
            Some(owner) if owner.get("born").unwrap_or(&Bson::Null) != &page.born => PageState::Orphan,
            Some(owner) => match Shape::of(owner, page.path()) {
                // An adoption is still writing them; malformed lists are reported separately.
                Shape::List(list) if list.adopting || page.page < list.pages => PageState::Committed,
                Shape::Malformed(_) => PageState::Committed,
                _ => PageState::Uncommitted,
            },
        };
        Ok(pages
            .into_iter()
            .map(|page| (page.clone(), standing(&page)))
            .filter(|(_, standing)| *standing != PageState::Committed)
            .collect())
    }

    /// Those suspects whose state has not changed.
    async fn again(
        &self,
        collection: &str,
        before: Vec<(Stray<'a>, PageState)>,
    ) -> Result<Vec<(Stray<'a>, PageState)>> {
        let ids: Vec<Bson> = before.iter().map(|(page, _)| page.id.clone()).collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(summary());
        let found = self.engine.find(collection, find).await?;
        let read = |page| Stray::read(self.collections, collection, page);
        let now = self.suspects(found.iter().filter_map(read).collect()).await?;
        let same = |(page, standing): &(Stray<'_>, PageState)| {
            before
                .iter()
                .any(|(earlier, was)| earlier.stored == page.stored && was == standing)
        };
        Ok(now.into_iter().filter(same).collect())
    }

    async fn stray(&mut self, page: &Stray<'a>, standing: PageState) -> Result<()> {
        let number = page.page;
        let (defect, gone) = if standing == PageState::Orphan {
            let gone = self.options.repair && self.delete_orphan(page).await?;
            (Defect::OrphanPage { page: number }, gone)
        } else {
            let gone = self.options.repair
                && !self.doubtful.contains(&page.list.key())
                && self.delete_uncommitted(page).await?;
            (Defect::UncommittedPage { page: number }, gone)
        };
        let outcome = match (self.options.repair, gone) {
            (true, true) => Outcome::Repaired,
            (true, false) => Outcome::Unrepairable(defect.unrepairable()),
            (false, _) => Outcome::Found,
        };
        self.report(&page.list, defect, outcome);
        Ok(())
    }

    async fn delete_orphan(&self, page: &Stray<'_>) -> Result<bool> {
        let mut this = self.key(page);
        this.insert("rev", page.rev);
        Ok(self.engine.delete(page.pages(), this, false).await? > 0)
    }

    /// First the owner's revision is raised above the page's: a spill that wrote the page and was about to commit it
    /// fails then, and one that begins now writes a page of a later revision. Then the page is deleted, if it still
    /// has the earlier revision.
    async fn delete_uncommitted(&self, page: &Stray<'_>) -> Result<bool> {
        let collection = page.list.collection.name();
        let find = Find::matching(doc! { "_id": page.list.owner.id() }).limit(1);
        let Some(owner) = self.engine.find(collection, find).await?.into_iter().next() else {
            return Ok(false);
        };
        let path = page.path();
        let Shape::List(seen) = Shape::of(&owner, path) else {
            // Pages that wait for the adoption of an unbounded array.
            return Ok(false);
        };
        if seen.adopting || page.page < seen.pages || seen.born != page.born {
            return Ok(false);
        }
        let next = seen.rev.max(page.rev).saturating_add(1);
        let change = doc! { "$set": { format!("{path}.rev"): next } };
        let guarded = Update::one(seen.guard(&page.list.owner, path), change);
        let raised = self.engine.update(collection, guarded).await?;
        if raised.matched == 0 {
            return Ok(false);
        }
        let mut this = self.key(page);
        this.insert("rev", doc! { "$lt": next });
        Ok(self.engine.delete(page.pages(), this, false).await? > 0)
    }

    /// Selects a page by its shard key, and by its `_id` where the page has another one than usual.
    fn key(&self, page: &Stray<'_>) -> Document {
        let list = page.list.lists.on(self.engine.clone());
        let mut key = list.page_of(&page.list.owner, &page.born, page.page);
        key.insert("_id", &page.id);
        key
    }
}

impl<'a> Stray<'a> {
    fn read(collections: &'a [Collection], pages: &str, page: &Document) -> Option<Self> {
        let (collection, lists) = lists_of(collections, pages, page)?;
        let list = List {
            collection,
            lists,
            owner: (collection.owner)(page.get("owner")?)?,
        };
        Some(Self {
            id: page.get("_id")?.clone(),
            list,
            born: page.get("born").cloned().unwrap_or(Bson::Null),
            page: u32::try_from(number(page, "page").ok()?).ok()?,
            rev: i64::try_from(number(page, "rev").ok()?).ok()?,
            stored: page.clone(),
        })
    }

    fn is_of(&self, collection: &Collection) -> bool {
        self.list.collection.name() == collection.name()
    }

    /// The collection and the owner.
    fn owner(&self) -> (&'a str, Owner) {
        (self.list.collection.name(), self.list.owner.clone())
    }

    /// The path of its list.
    fn path(&self) -> &'a str {
        &self.list.lists.spec().path
    }

    /// The collection that it is in.
    fn pages(&self) -> &'a str {
        &self.list.lists.spec().pages
    }
}

fn summary() -> Document {
    doc! { "owner": 1, "relation": 1, "born": 1, "page": 1, "rev": 1, "count": 1 }
}
