//! The documents that S0 and S1 share, and S0's way to read them: a user with the oldest items, and numbered overflow
//! documents with the others.

use async_trait::async_trait;
use bson::{Document, doc};
use model::{Handle, PostId};

use crate::{
    Kind, Layout, documents_of, first, id_of, insert_all, largest, no_owner, number, signed, take_items,
};
use document::{DocumentEngine, Engine, Find, FindAndModify, Index, Result, Update};
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

/// S1's and S0's lists. They differ in the append, and in the number of the first overflow document.
pub struct Primary {
    engine: Engine,
    limits: Limits,
    /// S1's append, or S0's.
    guarded: bool,
}

impl Primary {
    /// S1's layout in the collections of this engine.
    pub async fn check_then_act(engine: Engine, limits: Limits) -> Result<Self> {
        Self::open(engine, limits, false).await
    }

    /// S0's layout in the collections of this engine.
    pub async fn guarded_append(engine: Engine, limits: Limits) -> Result<Self> {
        Self::open(engine, limits, true).await
    }

    /// Prepares the index that S0 asks for. It is not unique.
    async fn open(engine: Engine, limits: Limits, guarded: bool) -> Result<Self> {
        let index = Index::on(doc! { "userId": 1, "page": 1 });
        engine.create_index(OVERFLOW_ACTIVITIES, index).await?;
        Ok(Self {
            engine,
            limits,
            guarded,
        })
    }
}

#[async_trait]
impl Layout for Primary {
    fn kind(&self) -> Kind {
        if self.guarded {
            Kind::GuardedAppend
        } else {
            Kind::CheckThenAct
        }
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let first_page = if self.guarded {
            0
        } else {
            self.limits.threshold / self.limits.page_size
        };
        let (primary, rest) = items.split_at(items.len().min(self.limits.threshold));
        let pages = rest
            .chunks(self.limits.page_size)
            .enumerate()
            .map(|(nth, chunk)| {
                doc! {
                    "_id": format!("{owner}/{nth}"),
                    "userId": id_of(owner),
                    "page": signed(first_page + nth),
                    "activities": documents_of(chunk),
                    "count": signed(chunk.len()),
                }
            });
        insert_all(&*self.engine, OVERFLOW_ACTIVITIES, pages).await?;
        let mut user = doc! {
            "_id": id_of(owner),
            "activityCount": signed(items.len()),
            "activities": documents_of(primary),
        };
        if !rest.is_empty() {
            user.insert("hasOverflow", true);
            user.insert(
                "overflowPages",
                signed(first_page + rest.len().div_ceil(self.limits.page_size)),
            );
        }
        self.engine.insert(USERS, vec![user]).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        if self.guarded {
            push_or_overflow(&*self.engine, self.limits, owner, &item).await
        } else {
            check_then_push(&*self.engine, self.limits, owner, &item).await
        }
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        read_activities(&*self.engine, owner, 0, items).await
    }

    /// The articles do not keep actors unique and do not say how to look for one; this is the obvious way.
    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        for (collection, filter) in holding(owner, actor) {
            let find = Find::matching(filter).project(doc! { "_id": 1 });
            if first(&*self.engine, collection, find).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The articles do not say how to remove either.
    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let [(users, in_primary), (pages, in_page)] = holding(owner, actor);
        let pull = doc! { "activities": { "by": actor.as_str() } };
        let both = doc! { "$pull": &pull, "$inc": { "activityCount": -1_i64 } };
        if self
            .engine
            .update(users, Update::one(in_primary, both))
            .await?
            .modified
            > 0
        {
            return Ok(true);
        }
        let from_page = doc! { "$pull": pull, "$inc": { "count": -1_i64 } };
        if self
            .engine
            .update(pages, Update::one(in_page, from_page))
            .await?
            .modified
            == 0
        {
            return Ok(false);
        }
        let counted = doc! { "$inc": { "activityCount": -1_i64 } };
        self.engine
            .update(users, Update::one(doc! { "_id": id_of(owner) }, counted))
            .await?;
        Ok(true)
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        let find = Find::matching(doc! { "_id": id_of(owner) }).project(doc! { "activityCount": 1 });
        let user = first(&*self.engine, USERS, find)
            .await?
            .ok_or_else(|| no_owner(owner))?;
        number(&user, "activityCount")
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        let user = largest(&*self.engine, USERS, doc! { "_id": id_of(owner) }).await?;
        let page = largest(
            &*self.engine,
            OVERFLOW_ACTIVITIES,
            doc! { "userId": id_of(owner) },
        )
        .await?;
        Ok(user.max(page))
    }
}

/// S1's `addActivity`: read the user, check the count, then push to the primary or to an overflow document. Between
/// the check and the push anything may happen.
async fn check_then_push(
    engine: &dyn DocumentEngine,
    limits: Limits,
    owner: PostId,
    item: &Item,
) -> Result<()> {
    let which = doc! { "_id": id_of(owner) };
    let user = first(engine, USERS, Find::matching(which.clone())).await?;
    let count = user
        .ok_or_else(|| no_owner(owner))?
        .get_i64("activityCount")
        .unwrap_or(0);
    let change = if count < signed(limits.threshold) {
        doc! { "$push": { "activities": item.to_document() }, "$inc": { "activityCount": 1_i64 } }
    } else {
        let page = count / signed(limits.page_size);
        let push = push_to_page(owner, page, item);
        engine.update(OVERFLOW_ACTIVITIES, push).await?;
        doc! {
            "$set": { "hasOverflow": true, "overflowPages": page + 1 },
            "$inc": { "activityCount": 1_i64 },
        }
    };
    engine.update(USERS, Update::one(which, change)).await.map(drop)
}

/// S0's `addActivitySafe`: push to the primary while its count is below the threshold, in one guarded command; else
/// check the count and push to the last overflow document. The primary keeps the oldest items forever, so the newest
/// are in the last overflow document, and its first screen does not show them.
async fn push_or_overflow(
    engine: &dyn DocumentEngine,
    limits: Limits,
    owner: PostId,
    item: &Item,
) -> Result<()> {
    let push = FindAndModify::after(
        doc! { "_id": id_of(owner), "activityCount": { "$lt": signed(limits.threshold) } },
        doc! { "$push": { "activities": item.to_document() }, "$inc": { "activityCount": 1_i64 } },
    );
    if engine.find_and_modify(USERS, push).await?.is_some() {
        return Ok(());
    }
    // The primary is full.
    let which = doc! { "_id": id_of(owner) };
    let user = first(engine, USERS, Find::matching(which.clone())).await?;
    let total = user
        .ok_or_else(|| no_owner(owner))?
        .get_i64("activityCount")
        .unwrap_or(0);
    let page = (total - signed(limits.threshold)) / signed(limits.page_size);
    let push = push_to_page(owner, page, item);
    engine.update(OVERFLOW_ACTIVITIES, push).await?;
    let mark = doc! {
        "$set": { "hasOverflow": true },
        "$inc": { "activityCount": 1_i64 },
        "$max": { "overflowPages": page + 1 },
    };
    engine.update(USERS, Update::one(which, mark)).await.map(drop)
}

/// The upsert of one item into an overflow document. The articles leave its `_id` to the driver; here it is derived
/// from the item's, which is also new with every call.
fn push_to_page(owner: PostId, page: i64, item: &Item) -> Update {
    let which = doc! { "userId": id_of(owner), "page": page };
    let push = doc! {
        "$push": { "activities": item.to_document() },
        "$inc": { "count": 1_i64 },
        "$setOnInsert": { "_id": format!("{owner}/{page}/{}", item.id) },
    };
    Update::one(which, push).or_insert()
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
