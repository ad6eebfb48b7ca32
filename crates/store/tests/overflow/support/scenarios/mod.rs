//! What is explored: the list before, the operations that run at once, and what must be true afterwards.

mod adoptions;
mod appends;
mod deletions;
mod explore;
mod readers;
mod removals;
mod rounds;

use bson::doc;
use document::Update;
use model::{Relation, Timestamp};
use store::Store;
use store::overflow::{Item, Owner, owner_id};
use uuid::Uuid;

use super::operations::{LIKES, Operation, key_of, order_of};
use super::{like, like_at, post_born, walk};
use checker::history::Items;
use checker::schedule::Bounds;
pub use checker::schedule::{least, within};

/// One scenario.
pub struct Scenario {
    /// What happens, for a failure's message.
    pub name: &'static str,
    /// How the list is made.
    pub beforehand: Beforehand,
    /// The largest head that any of the servers allows.
    pub largest_head: u64,
    /// The bounds of the explorations, one after the other.
    pub bounds: &'static [Bounds],
    /// The operations that run at once.
    pub operations: fn(&Owner) -> Vec<Operation>,
    /// The actors who must or must not be in the list in the end, as (actor, is in it).
    pub afterwards: &'static [(u64, bool)],
}

/// For operations with few steps: one crash or lost answer in every interleaving, and two in those with one switch.
const SHORT: &[Bounds] = &[within(2, 1), within(1, 2)];
/// For operations with many steps: every interleaving, and one fault in those with one switch.
const LONG: &[Bounds] = &[within(2, 0), within(1, 1)];

/// How a list is made.
pub enum Beforehand {
    /// Actors 1 to n like the post, one after the other.
    Likes(u64),
    /// Actors 1 to n like the post in the same millisecond.
    AtOnce(u64),
    /// This many comments, with ids 1 to n.
    Comments(u64),
    /// Actors 1 to n are in one unbounded array, and actor 1 once more at its end.
    Array(u64),
}

/// A comment with an id of its own choice.
pub fn comment(id: u64) -> Item {
    let mut comment = like(id);
    comment.id = Uuid::from_u128(id.into());
    comment.more = doc! { "text": "It is." };
    comment
}

/// The scenarios that are checked, and in which the mutants must fail.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    let parts = [
        appends::SCENARIOS,
        removals::SCENARIOS,
        readers::SCENARIOS,
        deletions::SCENARIOS,
        adoptions::SCENARIOS,
        rounds::SCENARIOS,
    ];
    parts.into_iter().flatten()
}

/// The scenario of a name.
pub fn named(name: &str) -> &'static Scenario {
    all().find(|scenario| scenario.name == name).unwrap()
}

fn comment_at(id: u64, at: i64) -> Item {
    Item {
        at: Timestamp::from_millis(at),
        ..comment(id)
    }
}

impl Scenario {
    fn relation(&self) -> Relation {
        match self.beforehand {
            Beforehand::Comments(_) => Relation::Comments,
            _ => LIKES,
        }
    }

    /// What is in the list beforehand.
    async fn items_beforehand(&self, store: &Store, owner: &Owner) -> Items {
        if let Beforehand::Array(actors) = self.beforehand {
            let keys = (1..=actors).map(|actor| key_of(LIKES, &like(actor)));
            return keys.map(|key| (key, None)).collect();
        }
        let items = walk(store, owner, self.relation(), 7).await;
        let place = |item: &Item| (key_of(self.relation(), item), Some(order_of(item)));
        items.iter().map(place).collect()
    }

    async fn prepare(&self, store: &Store) -> Owner {
        let owner = post_born(store, 1, Uuid::from_u128(1)).await;
        match self.beforehand {
            Beforehand::Likes(likes) => {
                for actor in 1..=likes {
                    store.list(LIKES).append(&owner, like(actor)).await.unwrap();
                }
            }
            Beforehand::AtOnce(likes) => {
                for actor in 1..=likes {
                    store.list(LIKES).append(&owner, like_at(actor, 1)).await.unwrap();
                }
            }
            Beforehand::Comments(comments) => {
                for id in 1..=comments {
                    store
                        .list(Relation::Comments)
                        .append(&owner, comment(id))
                        .await
                        .unwrap();
                }
            }
            Beforehand::Array(actors) => {
                let mut items: Vec<_> = (1..=actors).map(|actor| like(actor).to_document()).collect();
                let mut again = like_at(1, i64::try_from(actors).unwrap() + 1);
                again.id = Uuid::from_u128(0xD0B1E);
                items.push(again.to_document());
                let set = doc! { "$set": { "likes": items } };
                let set = Update::one(doc! { "_id": owner_id(&owner) }, set);
                store.engine().update("posts", set).await.unwrap();
            }
        }
        owner
    }
}
