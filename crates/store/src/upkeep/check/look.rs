//! A look at one list by itself.

use bson::{Document, doc};
use model::Relation;

use super::committed::{Committed, Paged};
use super::{Audit, Checking, Numbers, RepairedItems};
use crate::Store;
use crate::overflow::{Owner, owner_collection, owner_id};
use crate::upkeep::finding::{Severity, Violation};
use crate::upkeep::list_state::{ListState, Shape};
use crate::upkeep::repair::Repair;
use document::{Find, Result};

/// How often to read a list that keeps changing.
const LOOKS: usize = 10;
/// How many repairs one list gets in a row.
const REPAIRS: usize = 64;

/// One look at a list: what is wrong, and the repair of the first problem.
pub(super) struct ListCheck {
    pub found: Vec<Violation>,
    pub repair: Option<Repair>,
    pub items: u64,
}

impl ListCheck {
    /// Whether nothing is wrong, except for notices.
    pub fn is_sound(&self) -> bool {
        self.found
            .iter()
            .all(|found| found.severity() == Severity::Notice)
    }
}

impl Checking<'_> {
    /// What two looks in a row agree on; `None` if the list keeps changing.
    pub(super) async fn agreed(
        &mut self,
        owner: &Owner,
        relation: Relation,
    ) -> Result<Option<Vec<Violation>>> {
        let Some(first) = self.check_once(owner, relation).await? else {
            return Ok(None);
        };
        self.checked.items += first.items;
        if first.is_sound() {
            return Ok(Some(first.found));
        }
        self.wait().await;
        let Some(second) = self.check_once(owner, relation).await? else {
            return Ok(None);
        };
        let mut agreed = second.found;
        agreed.retain(|found| first.found.iter().any(|first| first.is_like(found)));
        Ok(Some(agreed))
    }

    /// Repairs one problem after the other, and returns what is left.
    pub(super) async fn repair(&self, owner: &Owner, relation: Relation) -> Result<Vec<Violation>> {
        let mut left = Vec::new();
        for _ in 0..REPAIRS {
            let Some(look) = self.check_once(owner, relation).await? else {
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

    /// A look at a list that did not change while it was read.
    async fn check_once(&self, owner: &Owner, relation: Relation) -> Result<Option<ListCheck>> {
        for attempt in 0..LOOKS {
            if attempt > 0 {
                tokio::time::sleep(self.options.pause / 10).await;
            }
            let before = match self.read(owner, relation, true).await? {
                None => {
                    return Ok(Some(ListCheck {
                        found: Vec::new(),
                        repair: None,
                        items: 0,
                    }));
                }
                Some(Shape::List(list)) => list,
                Some(other) => return Ok(Some(without_list(other))),
            };
            let list = Paged {
                owner: owner.clone(),
                relation,
                state: before,
            };
            let before = &*list.state;
            let mut first_bad: Option<(Document, RepairedItems)> = None;
            let mut audit = Audit::of(relation, self.store.settings().of(relation), before);
            if before.pages > 0 {
                let mut pages = Committed::of(&**self.store.engine(), std::slice::from_ref(&list));
                loop {
                    let stretches = pages.next().await?;
                    if stretches.is_empty() {
                        break;
                    }
                    for page in stretches.into_iter().flat_map(|stretch| stretch.pages) {
                        if let Some(mended) = audit.page(&page) {
                            // One page is repaired at a time; the rest is found again afterwards.
                            first_bad.get_or_insert((page, mended));
                        }
                    }
                }
            }
            let head = audit.head();
            let numbers = audit.finish();
            match self.read(owner, relation, false).await? {
                Some(Shape::List(after)) if before.same_moment(&after) => {
                    return Ok(Some(list_check(before, numbers, head, first_bad)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// What an owner document stores for a relation; `None` if there is no such owner.
    async fn read(&self, owner: &Owner, relation: Relation, head: bool) -> Result<Option<Shape>> {
        let mut find = Find::matching(doc! { "_id": owner_id(owner) }).limit(1);
        find.projection = if head {
            doc! { "born": 1, relation.as_str(): 1 }
        } else {
            numbers(&[relation])
        };
        let found = self.store.engine().find(owner_collection(owner), find).await?;
        Ok(found.first().map(|owner| Shape::of(owner, relation)))
    }
}

/// The projection of lists without their items.
pub(super) fn numbers(relations: &[Relation]) -> Document {
    let mut fields = doc! { "born": 1 };
    for relation in relations {
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
    }
    fields
}

/// The result for a list without pages.
pub(super) fn conclude(relation: Relation, store: &Store, list: &ListState) -> ListCheck {
    let mut audit = Audit::of(relation, store.settings().of(relation), list);
    let head = audit.head();
    let numbers = audit.finish();
    list_check(list, numbers, head, None)
}

pub(super) fn list_check(
    list: &ListState,
    numbers: Numbers,
    head: Option<RepairedItems>,
    page: Option<(Document, RepairedItems)>,
) -> ListCheck {
    ListCheck {
        items: numbers.reachable,
        repair: Repair::of(list, &numbers, head, page),
        found: numbers.found,
    }
}

pub(super) fn without_list(shape: Shape) -> ListCheck {
    let (violation, items) = match shape {
        Shape::Unbounded(items) => (Violation::Unbounded { items }, items as u64),
        Shape::Malformed(what) => (Violation::Malformed { what }, 0),
        Shape::Missing | Shape::List(_) => (Violation::NoList, 0),
    };
    ListCheck {
        found: vec![violation],
        repair: None,
        items,
    }
}
