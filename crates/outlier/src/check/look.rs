//! A look at one list by itself.

use bson::{Document, doc};
use document::{Find, Result};

use super::repair::Repair;
use super::{Audit, Checking, Defect, List, Numbers, RepairedItems, Severity};
use crate::scan::{Committed, ListState, Paged, Shape, fields_of};
use crate::{Collection, ListSpec};

/// How often to read a list that keeps changing.
const LOOKS: usize = 10;
/// How many repairs one list gets in a row.
const REPAIRS: usize = 64;

/// One look at a list: what is wrong, and the repair of the first problem.
pub(super) struct ListCheck {
    pub found: Vec<Defect>,
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
    pub(super) async fn agreed(&mut self, list: &List<'_>) -> Result<Option<Vec<Defect>>> {
        let Some(first) = self.check_once(list).await? else {
            return Ok(None);
        };
        self.checked.items += first.items;
        if first.is_sound() {
            return Ok(Some(first.found));
        }
        self.wait().await;
        let Some(second) = self.check_once(list).await? else {
            return Ok(None);
        };
        let mut agreed = second.found;
        agreed.retain(|found| first.found.iter().any(|first| first.is_like(found)));
        Ok(Some(agreed))
    }

    /// Repairs one problem after the other, and returns what is left.
    pub(super) async fn repair(&self, list: &List<'_>) -> Result<Vec<Defect>> {
        let mut left = Vec::new();
        for _ in 0..REPAIRS {
            let Some(look) = self.check_once(list).await? else {
                return Ok(vec![Defect::Busy]);
            };
            left = look.found;
            match look.repair {
                Some(repair) => repair.apply(self.engine, list.lists, &list.owner).await?,
                None => return Ok(left),
            }
        }
        Ok(left)
    }

    /// A look at a list that did not change while it was read.
    async fn check_once(&self, list: &List<'_>) -> Result<Option<ListCheck>> {
        for attempt in 0..LOOKS {
            if attempt > 0 {
                tokio::time::sleep(self.options.pause / 10).await;
            }
            let before = match self.read(list, true).await? {
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
            let seen = Paged {
                owner: list.owner.clone(),
                lists: list.lists,
                state: before,
            };
            let before = &*seen.state;
            let mut first_bad: Option<(Document, RepairedItems)> = None;
            let mut audit = Audit::of(list.collection, list.lists.spec(), before);
            if before.pages > 0 {
                let mut pages = Committed::of(&**self.engine, std::slice::from_ref(&seen));
                loop {
                    let stretches = pages.next().await?;
                    if stretches.is_empty() {
                        break;
                    }
                    for page in stretches.into_iter().flat_map(|stretch| stretch.pages) {
                        if let Some(repaired) = audit.page(&page) {
                            // One page is repaired at a time; the rest is found again afterwards.
                            first_bad.get_or_insert((page, repaired));
                        }
                    }
                }
            }
            let head = audit.head();
            let numbers = audit.finish();
            match self.read(list, false).await? {
                Some(Shape::List(after)) if before.same_moment(&after) => {
                    return Ok(Some(list_check(before, numbers, head, first_bad)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// What an owner document stores for a list; `None` if there is no such owner.
    async fn read(&self, list: &List<'_>, head: bool) -> Result<Option<Shape>> {
        let path = &*list.lists.spec().path;
        let mut find = Find::matching(doc! { "_id": list.owner.id() }).limit(1);
        find.projection = if head {
            doc! { "born": 1, path: 1 }
        } else {
            numbers([path])
        };
        let found = self.engine.find(list.collection.name(), find).await?;
        Ok(found.first().map(|owner| Shape::of(owner, path)))
    }
}

/// The projection of lists without their items.
pub(super) fn numbers<'a>(paths: impl IntoIterator<Item = &'a str>) -> Document {
    let fields = [
        "count",
        "pages",
        "spilled",
        "rev",
        "floor",
        "pending",
        "adopting",
        "hasOverflow",
    ];
    fields_of(paths, &fields)
}

/// The result for a list without pages.
pub(super) fn conclude(collection: &Collection, spec: &ListSpec, list: &ListState) -> ListCheck {
    let mut audit = Audit::of(collection, spec, list);
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
        Shape::Unbounded(items) => (Defect::Unbounded { items }, items as u64),
        Shape::Malformed(what) => (Defect::Malformed { what }, 0),
        Shape::Missing | Shape::List(_) => (Defect::NoList, 0),
    };
    ListCheck {
        found: vec![violation],
        repair: None,
        items,
    }
}
