//! The second part of a check: pages that belong to no list.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use model::Relation;

use super::Checking;
use crate::overflow::{Owner, PAGES, number, owner_collection, owner_id};
use crate::upkeep::finding::{Outcome, Violation};
use crate::upkeep::list_state::Shape;
use crate::upkeep::owners::{COLLECTIONS, owner_of};
use document::{Find, Result, Update};

/// How many pages to read at once, without their items.
const BATCH: u64 = 512;

/// A page without its items.
#[derive(Debug, Clone)]
struct Stray {
    id: Bson,
    owner: Owner,
    relation: Relation,
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

impl Checking<'_> {
    pub(super) async fn pages(&mut self) -> Result<()> {
        let mut last = None;
        loop {
            let filter = last.map_or_else(Document::new, |last: Bson| doc! { "_id": { "$gt": last } });
            let find = Find::matching(filter)
                .project(summary())
                .sort(doc! { "_id": 1 })
                .limit(BATCH);
            let batch = self.store.engine().find(PAGES, find).await?;
            let Some(end) = batch.last() else { break };
            last = end.get("_id").cloned();
            self.checked.pages += batch.len() as u64;
            self.advance(batch.len());
            let mut pages = Vec::new();
            for page in batch {
                if let Some(page) = Stray::read(&page) {
                    pages.push(page);
                } else {
                    let id = page.get("_id").cloned().unwrap_or(Bson::Null);
                    let what = "a page without an owner, a relation or a number".to_owned();
                    let violation = Violation::Malformed { what };
                    let outcome = Outcome::Unrepairable("delete it by hand once its items are elsewhere");
                    let outcome = if self.options.repair {
                        outcome
                    } else {
                        Outcome::Found
                    };
                    self.report(format!("{PAGES}/{id}"), None, violation, outcome);
                }
            }
            let suspects = self.suspects(pages).await?;
            if suspects.is_empty() {
                continue;
            }
            self.wait().await;
            for (page, standing) in self.again(suspects).await? {
                self.stray(&page, standing).await?;
            }
        }
        Ok(())
    }

    /// The pages that are not committed. The owners are read after the pages, in one session: an owner that is gone then
    /// never comes back, since one that is made again is another incarnation.
    async fn suspects(&self, pages: Vec<Stray>) -> Result<Vec<(Stray, PageState)>> {
        let mut owners = HashMap::new();
        for collection in COLLECTIONS {
            let mut ids: Vec<Bson> = Vec::new();
            for page in pages
                .iter()
                .filter(|page| owner_collection(&page.owner) == collection)
            {
                let id = owner_id(&page.owner);
                // Pages of one owner are next to each other.
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
            }
            if ids.is_empty() {
                continue;
            }
            let mut fields = doc! { "born": 1 };
            for relation in Relation::ALL {
                for field in ["count", "pages", "spilled", "rev", "adopting"] {
                    fields.insert(format!("{relation}.{field}"), 1);
                }
            }
            let find = Find::matching(doc! { "_id": { "$in": ids } }).project(fields);
            for owner in self.store.engine().find(collection, find).await? {
                let id = owner.get("_id").and_then(|id| owner_of(collection, id));
                owners.extend(id.map(|id| (id, owner)));
            }
        }
        let standing = |page: &Stray| match owners.get(&page.owner) {
            None => PageState::Orphan,
            Some(owner) if owner.get("born").unwrap_or(&Bson::Null) != &page.born => PageState::Orphan,
            Some(owner) => match Shape::of(owner, page.relation) {
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
    async fn again(&self, before: Vec<(Stray, PageState)>) -> Result<Vec<(Stray, PageState)>> {
        let ids: Vec<Bson> = before.iter().map(|(page, _)| page.id.clone()).collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(summary());
        let found = self.store.engine().find(PAGES, find).await?;
        let now = self
            .suspects(found.iter().filter_map(Stray::read).collect())
            .await?;
        let same = |(page, standing): &(Stray, PageState)| {
            before
                .iter()
                .any(|(earlier, was)| earlier.stored == page.stored && was == standing)
        };
        Ok(now.into_iter().filter(same).collect())
    }

    async fn stray(&mut self, page: &Stray, standing: PageState) -> Result<()> {
        let number = page.page;
        let (violation, gone) = if standing == PageState::Orphan {
            let gone = self.options.repair && self.delete_orphan(page).await?;
            (Violation::OrphanPage { page: number }, gone)
        } else {
            let gone = self.options.repair
                && !self.doubtful.contains(&(page.owner.clone(), page.relation))
                && self.delete_uncommitted(page).await?;
            (Violation::UncommittedPage { page: number }, gone)
        };
        let outcome = match (self.options.repair, gone) {
            (true, true) => Outcome::Repaired,
            (true, false) => Outcome::Unrepairable(violation.unrepairable()),
            (false, _) => Outcome::Found,
        };
        self.report(page.owner.to_string(), Some(page.relation), violation, outcome);
        Ok(())
    }

    async fn delete_orphan(&self, page: &Stray) -> Result<bool> {
        let mut this = self.key(page);
        this.insert("rev", page.rev);
        Ok(self.store.engine().delete(PAGES, this, false).await? > 0)
    }

    /// First the owner's revision is raised above the page's: a spill that wrote the page and was about to commit it
    /// fails then, and one that begins now writes a page of a later revision. Then the page is deleted, if it still
    /// has the earlier revision.
    async fn delete_uncommitted(&self, page: &Stray) -> Result<bool> {
        let engine = self.store.engine();
        let collection = owner_collection(&page.owner);
        let find = Find::matching(doc! { "_id": owner_id(&page.owner) }).limit(1);
        let Some(owner) = engine.find(collection, find).await?.into_iter().next() else {
            return Ok(false);
        };
        let relation = page.relation;
        let Shape::List(seen) = Shape::of(&owner, relation) else {
            // Pages that wait for the adoption of an unbounded array.
            return Ok(false);
        };
        if seen.adopting || page.page < seen.pages || seen.born != page.born {
            return Ok(false);
        }
        let next = seen.rev.max(page.rev).saturating_add(1);
        let change = doc! { "$set": { format!("{relation}.rev"): next } };
        let raised = engine
            .update(collection, Update::one(seen.guard(&page.owner, relation), change))
            .await?;
        if raised.matched == 0 {
            return Ok(false);
        }
        let mut this = self.key(page);
        this.insert("rev", doc! { "$lt": next });
        Ok(engine.delete(PAGES, this, false).await? > 0)
    }

    /// Selects a page by its shard key, and by its `_id` where the page has another one than usual.
    fn key(&self, page: &Stray) -> Document {
        let list = self.store.list(page.relation);
        let mut key = list.page_of(&page.owner, &page.born, page.page);
        key.insert("_id", &page.id);
        key
    }
}

impl Stray {
    fn read(page: &Document) -> Option<Self> {
        let relation = page.get_str("relation").ok()?.parse::<Relation>().ok()?;
        let collection = crate::overflow::owners_of(relation);
        Some(Self {
            id: page.get("_id")?.clone(),
            owner: owner_of(collection, page.get("owner")?)?,
            relation,
            born: page.get("born").cloned().unwrap_or(Bson::Null),
            page: u32::try_from(number(page, "page").ok()?).ok()?,
            rev: i64::try_from(number(page, "rev").ok()?).ok()?,
            stored: page.clone(),
        })
    }
}

fn summary() -> Document {
    doc! { "owner": 1, "relation": 1, "born": 1, "page": 1, "rev": 1, "count": 1 }
}
