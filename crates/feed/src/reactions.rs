//! Likes and shares: lists of a post in which everybody appears at most once.

use model::{Handle, PostId, Problem, ReactionState, Timestamp};
use store::overflow::{Appended, Item, Removed};
use store::reactions::{Attempt, Reaction};

use super::problems::to_problem;
use super::{Feed, Reactions};

impl Reactions<'_> {
    /// Likes a post. A second call changes nothing.
    pub async fn like(self, actor: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        self.0.react(actor, Reaction::Like(post)).await
    }

    /// Removes a like. A second call changes nothing.
    pub async fn unlike(self, actor: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        self.0.remove_reaction(actor, Reaction::Like(post)).await
    }

    /// Shares a post. A second call changes nothing.
    pub async fn share(self, actor: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        self.0.react(actor, Reaction::Share(post)).await
    }

    /// Removes a share. A second call changes nothing.
    pub async fn unshare(self, actor: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        self.0.remove_reaction(actor, Reaction::Share(post)).await
    }
}

impl Feed {
    /// Adds an item and its activity. If it is interrupted in between, a retry, or another action of the same person,
    /// finishes it.
    pub(super) async fn add(&self, reaction: &Reaction, item: Item) -> Result<Appended, Problem> {
        self.require_shown(&reaction.owner()).await?;
        let attempt = self.attempt(item.at);
        let added = self.store.reactions().add(reaction, item, attempt).await;
        let added = added.map_err(to_problem)?;
        if added.added {
            self.tell(reaction.owner());
        }
        Ok(added)
    }

    /// Removes the item and its activity.
    pub(super) async fn remove(&self, actor: &Handle, reaction: &Reaction) -> Result<Removed, Problem> {
        let attempt = self.attempt(self.environment.now());
        let removed = self.store.reactions().remove(actor, reaction, attempt).await;
        let removed = removed.map_err(to_problem)?;
        if removed.item.is_some() {
            self.is_removed_from(reaction.owner());
        }
        Ok(removed)
    }

    pub(super) fn attempt(&self, at: Timestamp) -> Attempt {
        let id = self.environment.ids.uuid(at);
        Attempt { id, at }
    }

    async fn react(&self, actor: &Handle, reaction: Reaction) -> Result<ReactionState, Problem> {
        let _turn = self.turns.of(actor).await;
        let at = self.environment.now();
        let item = Item::new(self.environment.ids.uuid(at), actor.clone(), at);
        let added = self.add(&reaction, item).await?;
        Ok(ReactionState {
            active: true,
            count: added.count,
        })
    }

    async fn remove_reaction(&self, actor: &Handle, reaction: Reaction) -> Result<ReactionState, Problem> {
        let _turn = self.turns.of(actor).await;
        let removed = self.remove(actor, &reaction).await?;
        Ok(ReactionState {
            active: false,
            count: removed.count,
        })
    }
}
