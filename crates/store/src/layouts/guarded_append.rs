use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId};

use super::command::{Answer, Command, Steps, run};
use super::primary::{self, OVERFLOW_ACTIVITIES, USERS, push_to_page, read_activities};
use super::{Kind, Layout, id_of, no_owner, signed};
use crate::Limits;
use crate::overflow::Item;
use document::{Engine, FindAndModify, Result, Update};

/// S0's `addActivitySafe`: push to the primary while its count is below the threshold, in one guarded command; else
/// check the count and push to the last overflow document. The primary keeps the oldest items forever, so the newest
/// are in the last overflow document, and its first screen does not show them.
pub struct GuardedAppend {
    engine: Engine,
    limits: Limits,
}

impl GuardedAppend {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        primary::prepare(&*engine).await?;
        Ok(Self { engine, limits })
    }
}

/// One append of S0, a command at a time.
#[derive(Debug, Clone)]
pub struct SafeAppend {
    owner: PostId,
    item: Item,
    limits: Limits,
    next: Next,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    Push,
    Look,
    PushToPage(i64),
    MarkOverflow(i64),
    Nothing,
}

impl SafeAppend {
    /// An append that has not begun.
    pub fn new(owner: PostId, item: Item, limits: Limits) -> Self {
        Self {
            owner,
            item,
            limits,
            next: Next::Push,
        }
    }
}

impl Steps for SafeAppend {
    fn next(&self) -> Option<Command> {
        let user = doc! { "_id": id_of(self.owner) };
        Some(match self.next {
            Next::Look => Command::FindOne {
                collection: USERS,
                filter: user,
            },
            Next::Push => Command::FindOneAndUpdate {
                collection: USERS,
                change: FindAndModify::after(
                    doc! { "_id": id_of(self.owner), "activityCount": { "$lt": signed(self.limits.threshold) } },
                    doc! { "$push": { "activities": self.item.to_document() }, "$inc": { "activityCount": 1_i64 } },
                ),
            },
            Next::PushToPage(page) => Command::UpdateOne {
                collection: OVERFLOW_ACTIVITIES,
                update: push_to_page(self.owner, page, &self.item),
            },
            Next::MarkOverflow(page) => Command::UpdateOne {
                collection: USERS,
                update: Update::one(
                    user,
                    doc! {
                        "$set": { "hasOverflow": true },
                        "$inc": { "activityCount": 1_i64 },
                        "$max": { "overflowPages": page + 1 },
                    },
                ),
            },
            Next::Nothing => return None,
        })
    }

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.next = match self.next {
            // No answer: the primary is full.
            Next::Push => answer.document()?.map_or(Next::Look, |_| Next::Nothing),
            Next::Look => {
                let user = answer.document()?.ok_or_else(|| no_owner(self.owner))?;
                let total = user.get_i64("activityCount").unwrap_or(0);
                Next::PushToPage((total - signed(self.limits.threshold)) / signed(self.limits.page_size))
            }
            Next::PushToPage(page) => Next::MarkOverflow(page),
            Next::MarkOverflow(_) | Next::Nothing => Next::Nothing,
        };
        Ok(())
    }
}

#[async_trait]
impl Layout for GuardedAppend {
    fn kind(&self) -> Kind {
        Kind::GuardedAppend
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        primary::load(&*self.engine, self.limits, 0, owner, &items).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        run(&*self.engine, &mut SafeAppend::new(owner, item, self.limits)).await
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        read_activities(&*self.engine, owner, 0, items).await
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        primary::contains(&*self.engine, owner, actor).await
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        primary::remove(&*self.engine, owner, actor).await
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        primary::count(&*self.engine, owner).await
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        primary::largest_document(&*self.engine, owner).await
    }
}
