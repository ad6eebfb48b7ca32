//! The documents that S0 and S1 share, and S0's way to read them: a user with the oldest items, and numbered overflow
//! documents with the others.

use bson::{Document, doc};
use model::{Handle, PostId};

use crate::{documents_of, first, id_of, insert_all, largest, no_owner, number, signed, take_items};
use document::{DocumentEngine, Find, Index, Result, Update};
use store::Limits;
use store::overflow::Item;

/// The articles' collection of owners, here for owners of any kind.
pub const USERS: &str = "users";

/// The articles' collection of overflow documents.
pub const OVERFLOW_ACTIVITIES: &str = "overflowActivities";

/// Reads a stretch of a list as S0's `getActivities` does: a stretch that fits into the primary document comes from
/// there alone, any other from all documents together, sorted by time.
pub async fn read_activities(
    engine: &dyn DocumentEngine,
    owner: PostId,
    skip: usize,
    limit: usize,
) -> Result<Vec<Item>> {
    let find = Find::matching(doc! { "_id": id_of(owner) })
        .project(doc! { "activities": 1, "hasOverflow": 1, "overflowPages": 1 });
    let mut user = first(engine, USERS, find).await?.ok_or_else(|| no_owner(owner))?;
    let mut activities = take_items(&mut user, "activities")?;
    if user.get_bool("hasOverflow").unwrap_or(false) && skip + limit > activities.len() {
        let pages = Find::matching(doc! { "userId": id_of(owner) }).sort(doc! { "page": 1 });
        for mut page in engine.find(OVERFLOW_ACTIVITIES, pages).await? {
            activities.extend(take_items(&mut page, "activities")?);
        }
    }
    activities.sort_by_key(|item| std::cmp::Reverse(item.at));
    Ok(activities.into_iter().skip(skip).take(limit).collect())
}

/// The index that S0 asks for. It is not unique.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    engine
        .create_index(OVERFLOW_ACTIVITIES, Index::on(doc! { "userId": 1, "page": 1 }))
        .await
}

/// Lays out a list as appending its items would have, with the overflow documents numbered from `first_page`.
pub(crate) async fn load(
    engine: &dyn DocumentEngine,
    limits: Limits,
    first_page: usize,
    owner: PostId,
    items: &[Item],
) -> Result<()> {
    let (primary, rest) = items.split_at(items.len().min(limits.threshold));
    let pages = rest.chunks(limits.page_size).enumerate().map(|(nth, chunk)| {
        doc! {
            "_id": format!("{owner}/{nth}"),
            "userId": id_of(owner),
            "page": signed(first_page + nth),
            "activities": documents_of(chunk),
            "count": signed(chunk.len()),
        }
    });
    insert_all(engine, OVERFLOW_ACTIVITIES, pages).await?;
    let mut user = doc! {
        "_id": id_of(owner),
        "activityCount": signed(items.len()),
        "activities": documents_of(primary),
    };
    if !rest.is_empty() {
        user.insert("hasOverflow", true);
        user.insert(
            "overflowPages",
            signed(first_page + rest.len().div_ceil(limits.page_size)),
        );
    }
    engine.insert(USERS, vec![user]).await
}

/// The upsert of one item into an overflow document. The articles leave its `_id` to the driver; here it is derived
/// from the item's, which is also new with every call.
pub(crate) fn push_to_page(owner: PostId, page: i64, item: &Item) -> Update {
    let which = doc! { "userId": id_of(owner), "page": page };
    let push = doc! {
        "$push": { "activities": item.to_document() },
        "$inc": { "count": 1_i64 },
        "$setOnInsert": { "_id": format!("{owner}/{page}/{}", item.id) },
    };
    Update::one(which, push).or_insert()
}

/// The articles do not keep actors unique and do not say how to look for one; this is the obvious way.
pub(crate) async fn contains(engine: &dyn DocumentEngine, owner: PostId, actor: &Handle) -> Result<bool> {
    for (collection, filter) in holding(owner, actor) {
        let find = Find::matching(filter).project(doc! { "_id": 1 });
        if first(engine, collection, find).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The articles do not say how to remove either.
pub(crate) async fn remove(engine: &dyn DocumentEngine, owner: PostId, actor: &Handle) -> Result<bool> {
    let [(users, in_primary), (pages, in_page)] = holding(owner, actor);
    let pull = doc! { "activities": { "by": actor.as_str() } };
    let both = doc! { "$pull": &pull, "$inc": { "activityCount": -1_i64 } };
    if engine
        .update(users, Update::one(in_primary, both))
        .await?
        .modified
        > 0
    {
        return Ok(true);
    }
    let from_page = doc! { "$pull": pull, "$inc": { "count": -1_i64 } };
    if engine
        .update(pages, Update::one(in_page, from_page))
        .await?
        .modified
        == 0
    {
        return Ok(false);
    }
    let counted = doc! { "$inc": { "activityCount": -1_i64 } };
    engine
        .update(users, Update::one(doc! { "_id": id_of(owner) }, counted))
        .await?;
    Ok(true)
}

pub(crate) async fn count(engine: &dyn DocumentEngine, owner: PostId) -> Result<u64> {
    let find = Find::matching(doc! { "_id": id_of(owner) }).project(doc! { "activityCount": 1 });
    let user = first(engine, USERS, find).await?.ok_or_else(|| no_owner(owner))?;
    number(&user, "activityCount")
}

pub(crate) async fn largest_document(engine: &dyn DocumentEngine, owner: PostId) -> Result<usize> {
    let user = largest(engine, USERS, doc! { "_id": id_of(owner) }).await?;
    let page = largest(engine, OVERFLOW_ACTIVITIES, doc! { "userId": id_of(owner) }).await?;
    Ok(user.max(page))
}

fn holding(owner: PostId, actor: &Handle) -> [(&'static str, Document); 2] {
    let actor = actor.as_str();
    [
        (USERS, doc! { "_id": id_of(owner), "activities.by": actor }),
        (
            OVERFLOW_ACTIVITIES,
            doc! { "userId": id_of(owner), "activities.by": actor },
        ),
    ]
}
