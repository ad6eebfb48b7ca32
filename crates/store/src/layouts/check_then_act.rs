use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId};

use super::command::{Answer, Command, Steps, run};
use super::primary::{self, OVERFLOW_ACTIVITIES, USERS, push_to_page, read_activities};
use super::{Kind, Layout, id_of, no_owner, signed};
use crate::Limits;
use crate::overflow::Item;
use document::{Engine, Result, Update};

/// S1's `addActivity`: read the user, check the count, then push to the primary or to an overflow document. Between
/// the check and the push anything may happen.
pub struct CheckThenAct {
    engine: Engine,
    limits: Limits,
}

impl CheckThenAct {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        primary::prepare(&*engine).await?;
        Ok(Self { engine, limits })
    }
}

/// One append of S1, a command at a time.
#[derive(Debug, Clone)]
pub struct CheckedAppend {
    owner: PostId,
    item: Item,
    limits: Limits,
    next: Next,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    Look,
    Push,
    PushToPage(i64),
    MarkOverflow(i64),
    Nothing,
}

impl CheckedAppend {
    /// An append that has not begun.
    pub fn new(owner: PostId, item: Item, limits: Limits) -> Self {
        Self {
            owner,
            item,
            limits,
            next: Next::Look,
        }
    }
}

impl Steps for CheckedAppend {
    fn next(&self) -> Option<Command> {
        let user = doc! { "_id": id_of(self.owner) };
        Some(match self.next {
            Next::Look => Command::FindOne {
                collection: USERS,
                filter: user,
            },
            Next::Push => Command::UpdateOne {
                collection: USERS,
                update: Update::one(
                    user,
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
                        "$set": { "hasOverflow": true, "overflowPages": page + 1 },
                        "$inc": { "activityCount": 1_i64 },
                    },
                ),
            },
            Next::Nothing => return None,
        })
    }

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.next = match self.next {
            Next::Look => {
                let user = answer.document()?.ok_or_else(|| no_owner(self.owner))?;
                let count = user.get_i64("activityCount").unwrap_or(0);
                if count < signed(self.limits.threshold) {
                    Next::Push
                } else {
                    Next::PushToPage(count / signed(self.limits.page_size))
                }
            }
            Next::PushToPage(page) => Next::MarkOverflow(page),
            Next::Push | Next::MarkOverflow(_) | Next::Nothing => Next::Nothing,
        };
        Ok(())
    }
}

#[async_trait]
impl Layout for CheckThenAct {
    fn kind(&self) -> Kind {
        Kind::CheckThenAct
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let first_page = self.limits.threshold / self.limits.page_size;
        primary::load(&*self.engine, self.limits, first_page, owner, &items).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        run(&*self.engine, &mut CheckedAppend::new(owner, item, self.limits)).await
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
