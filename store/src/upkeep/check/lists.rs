//! The first part of a check: every list by itself.

use bson::{Bson, Document, doc};
use model::Relation;

use super::documents::faults;
use super::{Audit, Checking, Mended, Numbers};
use crate::Store;
use crate::error::Result;
use crate::overflow::{Owner, PAGES, owner_collection, owner_id};
use crate::port::Find;
use crate::upkeep::finding::{Outcome, Severity, Violation};
use crate::upkeep::list_state::{ListState, Shape};
use crate::upkeep::owners::{COLLECTIONS, Owners, groups, owner_of, relations_of};
use crate::upkeep::repair::Repair;

/// How often to look at a list that keeps changing.
const LOOKS: usize = 10;
/// How many repairs one list gets in a row.
const REPAIRS: usize = 64;
/// How many pages to have in memory at once.
const PAGES_AT_ONCE: u64 = 4;

/// One look at a list: what is wrong, and what would mend the first of it.
pub(in crate::upkeep) struct Look {
    pub found: Vec<Violation>,
    pub repair: Option<Repair>,
    pub items: u64,
}

impl Checking<'_> {
    pub(super) async fn lists(&mut self) -> Result<()> {
        for collection in COLLECTIONS {
            let mut owners = Owners::of(&**self.store.engine(), collection);
            for id in owners.foreign().await? {
                let what = "its `_id` is not what an owner's is".to_owned();
                self.report(
                    format!("{collection}/{id}"),
                    None,
                    Violation::Malformed { what },
                    Outcome::Unrepairable("delete it by hand"),
                );
            }
            loop {
                let batch = owners.next().await?;
                if batch.is_empty() {
                    break;
                }
                for group in groups(collection, &batch) {
                    let find = Find::matching(doc! { "_id": { "$in": &group } });
                    for owner in self.store.engine().find(collection, find).await? {
                        self.owner(collection, &owner).await?;
                    }
                    self.checked.owners += group.len() as u64;
                    self.advance(group.len());
                }
            }
        }
        Ok(())
    }

    async fn owner(&mut self, collection: &'static str, document: &Document) -> Result<()> {
        let id = document.get("_id").cloned().unwrap_or(Bson::Null);
        let Some(owner) = owner_of(collection, &id) else {
            let violation = Violation::Malformed {
                what: "its `_id` is not what an owner's is".to_owned(),
            };
            let outcome = self.outcome_of_unrepaired(&violation);
            self.report(format!("{collection}/{id}"), None, violation, outcome);
            return Ok(());
        };
        for violation in faults(collection, document) {
            let outcome = self.outcome_of_unrepaired(&violation);
            self.report(owner.to_string(), None, violation, outcome);
        }
        for relation in relations_of(collection) {
            self.list(&owner, relation, document).await?;
        }
        Ok(())
    }

    /// A list without pages is one document, so the read that met it is a look. Any other is looked at anew.
    async fn list(&mut self, owner: &Owner, relation: Relation, document: &Document) -> Result<()> {
        if let Shape::List(list) = Shape::of(document, relation)
            && list.pages == 0
        {
            let look = conclude(relation, self.store, &list);
            if look.found.is_empty() {
                self.checked.items += look.items;
                return Ok(());
            }
        }
        let Some(found) = self.agreed(owner, relation).await? else {
            let violation = Violation::Busy;
            self.report(owner.to_string(), Some(relation), violation, Outcome::Found);
            return Ok(());
        };
        let mut rest = Vec::new();
        if self.options.repair && !found.is_empty() {
            rest = self.repair(owner, relation).await?;
        }
        for violation in found {
            let outcome = if !self.options.repair {
                Outcome::Found
            } else if rest.iter().any(|rest| rest.is_like(&violation)) {
                Outcome::Unrepairable(violation.unrepairable())
            } else {
                Outcome::Repaired
            };
            if outcome != Outcome::Repaired && violation.severity() == Severity::Broken {
                self.doubtful.insert((owner.clone(), relation));
            }
            self.report(owner.to_string(), Some(relation), violation, outcome);
        }
        Ok(())
    }

    fn outcome_of_unrepaired(&self, violation: &Violation) -> Outcome {
        if self.options.repair {
            Outcome::Unrepairable(violation.unrepairable())
        } else {
            Outcome::Found
        }
    }

    /// What two looks in a row agree on; `None` when the list does not hold still.
    async fn agreed(&mut self, owner: &Owner, relation: Relation) -> Result<Option<Vec<Violation>>> {
        let Some(first) = self.look(owner, relation).await? else {
            return Ok(None);
        };
        self.checked.items += first.items;
        if first
            .found
            .iter()
            .all(|found| found.severity() == Severity::Notice)
        {
            return Ok(Some(first.found));
        }
        self.wait().await;
        let Some(second) = self.look(owner, relation).await? else {
            return Ok(None);
        };
        let mut agreed = second.found;
        agreed.retain(|found| first.found.iter().any(|first| first.is_like(found)));
        Ok(Some(agreed))
    }

    /// Mends one thing after the other, and answers what is left.
    async fn repair(&self, owner: &Owner, relation: Relation) -> Result<Vec<Violation>> {
        let mut left = Vec::new();
        for _ in 0..REPAIRS {
            let Some(look) = self.look(owner, relation).await? else {
                return Ok(vec![Violation::Busy]);
            };
            left = look.found;
            match look.repair {
                Some(repair) => repair.apply(self.store, owner, relation).await?,
                None => return Ok(left),
            }
        }
        Ok(left)
    }

    /// A look at a list that held still for so long.
    async fn look(&self, owner: &Owner, relation: Relation) -> Result<Option<Look>> {
        for attempt in 0..LOOKS {
            if attempt > 0 {
                tokio::time::sleep(self.options.pause / 10).await;
            }
            let before = match self.read(owner, relation, true).await? {
                None => {
                    return Ok(Some(Look {
                        found: Vec::new(),
                        repair: None,
                        items: 0,
                    }));
                }
                Some(Shape::List(list)) => list,
                Some(other) => return Ok(Some(without_list(other))),
            };
            let (mut first_bad, mut last): (Option<(Document, Mended)>, Option<Bson>) = (None, None);
            let mut audit = Audit::of(relation, self.store.settings().of(relation), &before);
            while let Some(pages) = self.pages_after(owner, relation, &before, last.as_ref()).await? {
                for page in pages {
                    last = page.get("page").cloned();
                    if let Some(mended) = audit.page(&page) {
                        // One is mended at a time; the rest is found again afterwards.
                        first_bad.get_or_insert((page, mended));
                    }
                }
            }
            let head = audit.head();
            let numbers = audit.finish();
            match self.read(owner, relation, false).await? {
                Some(Shape::List(after)) if before.same_moment(&after) => {
                    return Ok(Some(look(&before, numbers, head, first_bad)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// What an owner says about a list; `None` when there is no such owner.
    async fn read(&self, owner: &Owner, relation: Relation, head: bool) -> Result<Option<Shape>> {
        let mut find = Find::matching(doc! { "_id": owner_id(owner) }).limit(1);
        find.projection = if head {
            doc! { "born": 1, relation.as_str(): 1 }
        } else {
            let mut fields = doc! { "born": 1 };
            for field in [
                "count",
                "pages",
                "spilled",
                "rev",
                "floor",
                "pending",
                "adopting",
                "hasOverflow",
            ] {
                fields.insert(format!("{relation}.{field}"), 1);
            }
            fields
        };
        let found = self.store.engine().find(owner_collection(owner), find).await?;
        Ok(found.first().map(|owner| Shape::of(owner, relation)))
    }

    async fn pages_after(
        &self,
        owner: &Owner,
        relation: Relation,
        list: &ListState,
        after: Option<&Bson>,
    ) -> Result<Option<Vec<Document>>> {
        if list.pages == 0 {
            return Ok(None);
        }
        let mut number = doc! { "$lt": i64::from(list.pages) };
        if let Some(after) = after {
            number.insert("$gt", after);
        }
        let filter = doc! {
            "owner": owner_id(owner), "relation": relation.as_str(), "born": &list.born, "page": number,
        };
        let find = Find::matching(filter)
            .sort(doc! { "page": 1 })
            .limit(PAGES_AT_ONCE);
        let pages = self.store.engine().find(PAGES, find).await?;
        Ok((!pages.is_empty()).then_some(pages))
    }
}

/// What a list without pages comes to.
fn conclude(relation: Relation, store: &Store, list: &ListState) -> Look {
    let mut audit = Audit::of(relation, store.settings().of(relation), list);
    let head = audit.head();
    let numbers = audit.finish();
    look(list, numbers, head, None)
}

fn look(list: &ListState, numbers: Numbers, head: Option<Mended>, page: Option<(Document, Mended)>) -> Look {
    Look {
        items: numbers.reachable,
        repair: Repair::of(list, &numbers, head, page),
        found: numbers.found,
    }
}

fn without_list(shape: Shape) -> Look {
    let (violation, items) = match shape {
        Shape::Unbounded(items) => (Violation::Unbounded { items }, items as u64),
        Shape::Malformed(what) => (Violation::Malformed { what }, 0),
        Shape::Missing | Shape::List(_) => (Violation::NoList, 0),
    };
    Look {
        found: vec![violation],
        repair: None,
        items,
    }
}
