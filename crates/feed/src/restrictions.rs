//! Muting and blocking people.

use model::{Handle, PostId, Problem, ReactionState, Topic};
use store::Store;
use store::posts::StoredPost;
use store::reactions::Reaction;
use store::restrictions::{Restricted, Restriction};

use super::posts::people_of;
use super::problems::to_problem;
use super::{Feed, Restrictions};

impl Restrictions<'_> {
    /// Mutes or blocks a person. A second call changes nothing; a call after an interruption finishes the work. Two of
    /// whom one blocks the other follow each other no longer. The count is how many the reader mutes or blocks.
    pub async fn add(
        self,
        restriction: Restriction,
        reader: &Handle,
        other: &Handle,
    ) -> Result<ReactionState, Problem> {
        if reader == other {
            let what = match restriction {
                Restriction::Mute => "You cannot mute yourself.",
                Restriction::Block => "You cannot block yourself.",
            };
            return Err(Problem::invalid("handle", what));
        }
        self.0.require_shown(&Topic::User(other.clone())).await?;
        // A follow that is under way ends before the follows are removed.
        let _turns = self.0.turns.of_both(reader, other).await;
        let at = self.0.environment.now();
        let id = self.0.environment.ids.uuid(at);
        let restrictions = self.0.store.restrictions();
        let added = restrictions.add(restriction, reader, other, (id, at)).await;
        let count = added.map_err(to_problem)?.count;
        self.0.new_posts.forget();
        self.0.unread_changed([reader, other]);
        if restriction == Restriction::Block {
            for (follower, followed) in [(reader, other), (other, reader)] {
                let follow = Reaction::Follow(followed.clone());
                match self.0.remove(follower, &follow).await {
                    Err(problem) if problem.kind != model::Kind::NotFound => return Err(problem),
                    _ => {}
                }
            }
        }
        Ok(ReactionState { active: true, count })
    }

    /// Takes that back. A second call changes nothing.
    pub async fn remove(
        self,
        restriction: Restriction,
        reader: &Handle,
        other: &Handle,
    ) -> Result<ReactionState, Problem> {
        let _turn = self.0.turns.of(reader).await;
        let removed = self
            .0
            .store
            .restrictions()
            .remove(restriction, reader, other)
            .await;
        let count = removed.map_err(to_problem)?.count;
        self.0.new_posts.forget();
        self.0.unread_changed([reader, other]);
        Ok(ReactionState { active: false, count })
    }
}

impl Feed {
    /// What a reader restricts or hides of these posts; nothing for somebody who is not signed in.
    pub(super) async fn restricted_of<'p>(
        &self,
        viewer: Option<&Handle>,
        posts: impl Iterator<Item = &'p StoredPost> + Clone + Send,
    ) -> document::Result<Restricted> {
        match viewer {
            // Many requests wait for this, and seldom for long.
            Some(viewer) => Box::pin(restricted_of(&self.store, viewer, posts)).await,
            None => Ok(Restricted::default()),
        }
    }

    /// Those of these people whom a reader restricts or who block the reader, and those of these posts that the reader
    /// hides; none for somebody who is not signed in.
    pub(super) async fn restricted_among<'p>(
        &self,
        viewer: Option<&Handle>,
        people: impl Iterator<Item = &'p Handle>,
        posts: &[PostId],
    ) -> document::Result<Restricted> {
        let Some(viewer) = viewer else {
            return Ok(Restricted::default());
        };
        // Nobody restricts themselves.
        let others = people.filter(|person| *person != viewer);
        let restrictions = self.store.restrictions();
        // Many requests wait for this, and seldom for long.
        Box::pin(restrictions.of_posts(viewer, others, posts.iter().copied())).await
    }

    /// The same of people only.
    pub(super) async fn restricted<'h>(
        &self,
        viewer: Option<&Handle>,
        people: impl Iterator<Item = &'h Handle>,
    ) -> document::Result<Restricted> {
        self.restricted_among(viewer, people, &[]).await
    }
}

/// What a reader restricts or hides of these posts.
pub(super) async fn restricted_of<'p>(
    store: &Store,
    reader: &Handle,
    posts: impl Iterator<Item = &'p StoredPost> + Clone + Send,
) -> document::Result<Restricted> {
    let authors = posts.clone().flat_map(people_of);
    // Nobody restricts themselves.
    let others = authors.filter(|author| *author != reader);
    let ids = posts.map(|post| post.id);
    store.restrictions().of_posts(reader, others, ids).await
}
