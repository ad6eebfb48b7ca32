//! Repairs a list, one guarded write at a time.

use bson::{Bson, Document, doc};
use document::{Engine, Result, Update};

use super::{Defect, Numbers, RepairedItems};
use crate::item::documents;
use crate::scan::ListState;
use crate::{Item, ListSpec, Lists, Owner};

/// The next step of repairing a list. If another operation changes the list first, the step does nothing, and the list
/// is read again.
#[derive(Debug)]
pub(super) enum Repair {
    /// Finish what operations began and did not end.
    Finish,
    /// Set fields of the list, only while it is as it was read. Its revision rises, so that no spill or removal that
    /// is under way builds on the wrong values.
    List { seen: ListState, set: Document },
    /// Rewrite a page; before that, subtract the dropped items from the list's counters.
    Page {
        seen: ListState,
        page: Document,
        repaired: RepairedItems,
    },
    /// Spill until the head is within its threshold again.
    Shorten,
}

impl Repair {
    /// The first step for what a look found; `None` if there is nothing to do or nothing can be done.
    pub fn of(
        list: &ListState,
        numbers: &Numbers,
        head: Option<RepairedItems>,
        page: Option<(Document, RepairedItems)>,
    ) -> Option<Self> {
        let found = |test: fn(&Defect) -> bool| numbers.found.iter().any(test);
        if found(|found| matches!(found, Defect::Adopting | Defect::Pending { .. })) {
            return Some(Self::Finish);
        }
        if found(|found| matches!(found, Defect::Malformed { .. })) {
            return None;
        }
        if let Some((page, repaired)) = page {
            let seen = list.clone();
            return Some(Self::Page { seen, page, repaired });
        }
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if let Some(RepairedItems { items, dropped }) = head {
            return Some(Self::List {
                seen: list.clone(),
                set: doc! { "head": documents(&items), "count": long(list.count.saturating_sub(dropped)) },
            });
        }
        let mut set = doc! {};
        if found(|found| matches!(found, Defect::OverflowFlag { .. })) {
            set.insert("hasOverflow", list.pages > 0);
        }
        if let (true, Some(floor)) = (
            found(|found| matches!(found, Defect::Floor { .. })),
            &numbers.floor,
        ) {
            set.insert("floor", floor);
        }
        let wrong = found(|found| matches!(found, Defect::Count { .. } | Defect::Spilled { .. }));
        if wrong && numbers.complete {
            set.insert("count", long(numbers.reachable));
            set.insert("spilled", long(numbers.in_pages));
        }
        if !set.is_empty() {
            let seen = list.clone();
            return Some(Self::List { seen, set });
        }
        found(|found| matches!(found, Defect::HeadOverCap { .. })).then_some(Self::Shorten)
    }

    pub async fn apply(self, engine: &Engine, lists: &Lists, owner: &Owner) -> Result<()> {
        let list = lists.on(engine.clone());
        let spec = lists.spec();
        match self {
            Self::Finish => list.finish(owner).await,
            Self::Shorten => list.shorten(owner).await,
            Self::List { seen, set } => change_list(engine, spec, owner, &seen, set).await.map(drop),
            Self::Page { seen, page, repaired } => {
                if repaired.dropped > 0 {
                    let less = |number: u64| {
                        i64::try_from(number.saturating_sub(repaired.dropped)).unwrap_or(i64::MAX)
                    };
                    let set = doc! { "count": less(seen.count), "spilled": less(seen.spilled) };
                    if !change_list(engine, spec, owner, &seen, set).await? {
                        return Ok(());
                    }
                }
                rewrite(engine, spec, &page, &repaired.items).await?;
                if repaired.items.is_empty() {
                    list.finish(owner).await?;
                }
                Ok(())
            }
        }
    }
}

async fn change_list(
    engine: &Engine,
    spec: &ListSpec,
    owner: &Owner,
    seen: &ListState,
    set: Document,
) -> Result<bool> {
    let path = &spec.path;
    let fields: Document = set
        .into_iter()
        .map(|(field, value)| (format!("{path}.{field}"), value))
        .collect();
    let change = doc! { "$set": fields, "$inc": { format!("{path}.rev"): 1_i64 } };
    let update = Update::one(seen.guard(owner, path), change);
    let done = engine.update(&spec.owners, update).await?;
    Ok(done.matched == 1)
}

/// Writes a committed page as it should be, unless an item was removed from it meanwhile; none is ever added.
async fn rewrite(engine: &Engine, spec: &ListSpec, page: &Document, items: &[Item]) -> Result<()> {
    let stored = page.get_array("items").map_or(0, Vec::len);
    // The first four are the shard key.
    let mut guard: Document = ["owner", "relation", "born", "page", "_id", "rev"]
        .into_iter()
        .map(|field| (field.to_owned(), page.get(field).cloned().unwrap_or(Bson::Null)))
        .collect();
    guard.insert(
        "items",
        doc! { "$size": i64::try_from(stored).unwrap_or(i64::MAX) },
    );
    let mut set = doc! {
        "count": i64::try_from(items.len()).unwrap_or(i64::MAX),
        "items": documents(items),
    };
    let change = if let (Some(newest), Some(oldest)) = (items.first(), items.last()) {
        let by = spec.order.by;
        set.extend(doc! { "first": by.value(newest.at), "last": by.value(oldest.at) });
        doc! { "$set": set }
    } else {
        doc! { "$set": set, "$unset": { "first": "", "last": "" } }
    };
    engine
        .update(&spec.pages, Update::one(guard, change))
        .await
        .map(drop)
}
