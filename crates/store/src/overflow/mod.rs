//! The lists of the feed: what describes the lists of each [relation](Relation) as [overflow lists](outlier), and their
//! items and owners in the feed's types.

mod item;
mod list;

use std::borrow::Cow;

use bson::{Bson, Document, RawBsonRef};
use document::{Engine, Error, Result};
use model::{Meter, Owners, Relation, RelationOverflow, Topic};
use outlier::{ListSpec, Lists, Order};
use uuid::Uuid;

use crate::{Limits, Settings, notifications, raw};

pub(crate) use item::actor;
pub use item::{Item, Key};
pub use list::{Appended, FeedList, Removed, Stretch, Walk};
pub(crate) use outlier::fields::number;
pub use outlier::{Snapshot, StoredList, Work, empty, uuid_bson};

/// The collection of page documents, of all owners and relations.
pub const PAGES: &str = "pages";

/// The document that a list belongs to, as named by a topic.
pub type Owner = Topic;

/// All lists, by relation.
pub(crate) type AllLists = [Lists; Relation::ALL.len()];

/// All lists, with these limits.
pub(crate) fn all_lists(settings: &Settings) -> AllLists {
    Relation::ALL.map(|relation| {
        let spec = spec(relation, settings.of(relation));
        if settings.tells() {
            Lists::writing(spec, notifications::mark(relation))
        } else {
            Lists::new(spec)
        }
    })
}

/// What describes a relation's lists.
fn spec(relation: Relation, limits: Limits) -> ListSpec {
    ListSpec {
        owners: Cow::Borrowed(owners_of(relation)),
        path: Cow::Borrowed(relation.as_str()),
        pages: Cow::Borrowed(PAGES),
        key: relation.once_per_actor().then_some(Cow::Borrowed("by")),
        order: Order::default(),
        limits,
        head_bytes: None,
        largest_item: Item::LARGEST,
        read: item::canonical,
    }
}

/// The collection of a relation's owners.
pub fn owners_of(relation: Relation) -> &'static str {
    match relation.owners() {
        Owners::People => crate::people::COLLECTION,
        Owners::Posts => crate::posts::COLLECTION,
    }
}

/// The collection of an owner.
pub fn owner_collection(owner: &Owner) -> &'static str {
    match owner {
        Topic::User(_) => crate::people::COLLECTION,
        Topic::Post(_) => crate::posts::COLLECTION,
    }
}

/// An owner's `_id`: a user's handle, a post's UUID.
pub fn owner_id(owner: &Owner) -> Bson {
    match owner {
        Topic::User(handle) => Bson::String(handle.to_string()),
        Topic::Post(id) => uuid_bson(id.uuid()),
    }
}

pub(crate) fn named(owner: &Owner) -> outlier::Owner {
    outlier::Owner::new(owner_id(owner), owner.to_string())
}

/// What the overflow meter shows of a list, from its owner document without the items.
pub(crate) fn meter(owner: &Document, relation: Relation, limits: Limits) -> Result<Meter> {
    let meter = outlier::Meter::of(owner.get(relation.as_str()))?;
    Ok(Meter {
        count: meter.count,
        head: meter.head,
        threshold: limits.threshold as u64,
        pages: meter.pages,
    })
}

/// The same of a list that is still encoded.
pub(crate) fn meter_of(list: Option<RawBsonRef<'_>>, limits: Limits) -> Result<Meter> {
    let (mut count, mut spilled, mut pages) = (0, 0, 0);
    match list {
        Some(RawBsonRef::Document(list)) => {
            for element in list.iter_elements() {
                let element = element?;
                let into = match element.key().as_str() {
                    "count" => &mut count,
                    "spilled" => &mut spilled,
                    "pages" => &mut pages,
                    _ => continue,
                };
                *into = raw::number(element.value()?, element.key().as_str())?;
            }
        }
        Some(RawBsonRef::Array(items)) => count = items.into_iter().count() as u64,
        None => {}
        Some(_) => return Err(Error::malformed("a list is neither a document nor an array")),
    }
    Ok(Meter {
        count,
        head: count.saturating_sub(spilled),
        threshold: limits.threshold as u64,
        pages,
    })
}

/// How a list is stored, from its whole owner document.
pub fn measure(owner: &Document, relation: Relation, limits: Limits) -> Result<RelationOverflow> {
    let outlier::Measure {
        meter,
        head_bytes,
        owner_bytes,
    } = outlier::Measure::of(owner, relation.as_str())?;
    Ok(RelationOverflow {
        count: meter.count,
        head: meter.head,
        threshold: limits.threshold as u64,
        pages: meter.pages,
        page_size: limits.page_size as u64,
        has_overflow: meter.pages > 0,
        head_bytes,
        owner_bytes,
        unread: None,
    })
}

/// Lays out a list as if its items had been appended one by one, for loading many at once before the owner is stored.
/// The items may come in any order; their keys must be distinct. `born` is the owner's.
pub fn lay_out(
    owner: &Owner,
    born: Uuid,
    relation: Relation,
    limits: Limits,
    items: Vec<Item>,
) -> StoredList {
    let items = items.into_iter().map(outlier::Item::from).collect();
    outlier::lay_out(&spec(relation, limits), &named(owner), born, items)
}

/// Deletes an owner document and the pages of its lists. Repeating it finishes an interrupted deletion. Returns whether
/// there was an owner that met the guard.
pub(crate) async fn delete_owner(engine: &Engine, owner: &Owner, guard: Document) -> Result<bool> {
    outlier::delete_owner(engine, owner_collection(owner), PAGES, &named(owner), guard).await
}

/// Deletes the pages that deleted owners of this name have left.
pub(crate) async fn sweep_pages(engine: &Engine, owner: &Owner) -> Result<()> {
    outlier::sweep(engine, owner_collection(owner), PAGES, &named(owner))
        .await
        .map(drop)
}
