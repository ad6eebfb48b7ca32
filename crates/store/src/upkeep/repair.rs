//! Repairs a list, one guarded write at a time.

use bson::{Bson, DateTime, Document, doc};
use model::{Relation, Timestamp};

use super::check::{Numbers, RepairedItems};
use super::finding::Violation;
use super::list_state::ListState;
use crate::Store;
use crate::overflow::{Item, Owner, PAGES, owner_collection};
use document::{Result, Update};

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
        mended: RepairedItems,
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
        let found = |test: fn(&Violation) -> bool| numbers.found.iter().any(test);
        if found(|found| matches!(found, Violation::Adopting | Violation::Pending { .. })) {
            return Some(Self::Finish);
        }
        if found(|found| matches!(found, Violation::Malformed { .. })) {
            return None;
        }
        if let Some((page, mended)) = page {
            let seen = list.clone();
            return Some(Self::Page { seen, page, mended });
        }
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if let Some(RepairedItems { items, dropped }) = head {
            let items: Vec<Document> = items.iter().map(Item::to_document).collect();
            return Some(Self::List {
                seen: list.clone(),
                set: doc! { "head": items, "count": long(list.count.saturating_sub(dropped)) },
            });
        }
        let mut set = doc! {};
        if found(|found| matches!(found, Violation::OverflowFlag { .. })) {
            set.insert("hasOverflow", list.pages > 0);
        }
        if let (true, Some(newest)) = (
            found(|found| matches!(found, Violation::Floor { .. })),
            numbers.newest_in_pages,
        ) {
            set.insert("floor", DateTime::from_millis(newest));
        }
        let wrong = found(|found| matches!(found, Violation::Count { .. } | Violation::Spilled { .. }));
        if wrong && numbers.complete {
            set.insert("count", long(numbers.reachable));
            set.insert("spilled", long(numbers.in_pages));
        }
        if !set.is_empty() {
            let seen = list.clone();
            return Some(Self::List { seen, set });
        }
        found(|found| matches!(found, Violation::HeadOverCap { .. })).then_some(Self::Shorten)
    }

    pub async fn apply(self, store: &Store, owner: &Owner, relation: Relation) -> Result<()> {
        match self {
            Self::Finish => store.list(relation).finish(owner).await,
            Self::Shorten => store.list(relation).shorten(owner).await,
            Self::List { seen, set } => change_list(store, owner, relation, &seen, set).await.map(drop),
            Self::Page { seen, page, mended } => {
                if mended.dropped > 0 {
                    let less = |number: u64| {
                        i64::try_from(number.saturating_sub(mended.dropped)).unwrap_or(i64::MAX)
                    };
                    let set = doc! { "count": less(seen.count), "spilled": less(seen.spilled) };
                    if !change_list(store, owner, relation, &seen, set).await? {
                        return Ok(());
                    }
                }
                rewrite(store, &page, &mended.items).await?;
                if mended.items.is_empty() {
                    store.list(relation).finish(owner).await?;
                }
                Ok(())
            }
        }
    }
}

async fn change_list(
    store: &Store,
    owner: &Owner,
    relation: Relation,
    seen: &ListState,
    set: Document,
) -> Result<bool> {
    let fields: Document = set
        .into_iter()
        .map(|(field, value)| (format!("{relation}.{field}"), value))
        .collect();
    let change = doc! { "$set": fields, "$inc": { format!("{relation}.rev"): 1_i64 } };
    let update = Update::one(seen.guard(owner, relation), change);
    let done = store.engine().update(owner_collection(owner), update).await?;
    Ok(done.matched == 1)
}

/// Writes a committed page as it should be, unless an item was removed from it meanwhile; none is ever added.
async fn rewrite(store: &Store, page: &Document, items: &[Item]) -> Result<()> {
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
    let date = |at: Timestamp| DateTime::from_millis(at.millis());
    let mut set = doc! {
        "count": i64::try_from(items.len()).unwrap_or(i64::MAX),
        "items": items.iter().map(Item::to_document).collect::<Vec<_>>(),
    };
    let change = if let (Some(newest), Some(oldest)) = (items.first(), items.last()) {
        set.extend(doc! { "first": date(newest.at), "last": date(oldest.at) });
        doc! { "$set": set }
    } else {
        doc! { "$set": set, "$unset": { "first": "", "last": "" } }
    };
    store
        .engine()
        .update(PAGES, Update::one(guard, change))
        .await
        .map(drop)
}
