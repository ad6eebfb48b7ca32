//! One action that others overtake before one particular write.

use checker::interrupted;
use checker::schedule::Between;
use store::Store;

use super::explore::empty_store;
use super::{Act, Town};
use crate::support::steps::FeedStep;

/// An action, and what others do in the middle of it.
pub struct Overtaken {
    /// Earlier actions, one after the other.
    pub before: &'static [Act],
    /// The slow action.
    pub act: Act,
    /// The write that it is about to make.
    pub at: FeedStep,
    /// What others do before that write.
    pub meanwhile: &'static [Act],
}

impl Overtaken {
    /// Panics unless home is right for everybody afterwards.
    pub async fn run(&self, between: Between) {
        let (_, store) = empty_store().await;
        let town = Town::new(&store).await;
        for act in self.before {
            town.act(&store, *act).await;
        }
        let (fast, meanwhile) = (store.clone(), self.meanwhile);
        let engine = interrupted::once(store.engine().clone(), self.at, async move {
            for act in meanwhile {
                town.act(&fast, *act).await;
            }
        });
        let slow = Store::open(between(engine), store.settings().clone())
            .await
            .unwrap();
        town.act(&slow, self.act).await;
        let events = format!("{:?}, and before {:?} {meanwhile:?}", self.act, self.at);
        town.assert_home_is_right(&store, &events).await;
    }
}
