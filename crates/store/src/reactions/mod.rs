//! Likes, shares, comments and follows: an item in the list of a post or a person, and an activity in the list of the
//! person who did it.
//!
//! The list of the post or person decides: it is changed first, and the actor's own lists follow. An actor's document
//! also names what the actor has begun, in `intents`, from before the first change until the last one. The same person
//! may act on two servers at once, so the activities change only if nobody else changed them since they were read, and
//! they are read before the deciding list is read or changed. Otherwise both are read again and made to agree. An
//! action that was interrupted leaves its intent, and the next action that finds it makes the lists agree.

mod agree;
mod intents;
mod post_deletion;
mod reaction;

use async_recursion::async_recursion as boxed;
use std::slice;

use model::{Handle, Relation, Timestamp, Topic};
use uuid::Uuid;

use self::agree::accompanying_change;
pub(crate) use self::agree::{agree, agree_following, keep_out, raise_rev};
use self::intents::Begun;
pub(crate) use self::intents::prepare;
pub use self::intents::{FIELD, Intent};
pub(crate) use self::post_deletion::{activity_of_post, agree_on_post};
pub use self::reaction::{Action, Reaction};
use crate::Store;
use crate::overflow::{Appended, Item, Key, Owner, Removed};
use crate::timeline::Timelines;
use document::{Error, Result};

/// One try of an action.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// A fresh id.
    pub id: Uuid,
    /// When it began.
    pub at: Timestamp,
}

/// The reactions of a store's people.
pub struct Reactions<'a> {
    store: &'a Store,
}

impl<'a> Reactions<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Adds an item to the list that a reaction is about, and the activity for it. Repeating it changes nothing; after
    /// an interruption it finishes the first try. If a comment's id is taken, the answer may name somebody else's
    /// item.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when there is no such post or person for the actor, because it is gone or one of them blocks the
    /// other, or when the actor is gone or leaving.
    #[boxed]
    pub async fn add(&self, reaction: &Reaction, item: Item, attempt: Attempt) -> Result<Appended> {
        let actor = item.by.clone();
        let actor = actor.ok_or_else(|| Error::malformed("an item names its actor in `by`"))?;
        let store = &self.store.session();
        let begun = intents::begin(store, &actor, &Action::React(reaction.clone()), attempt).await?;
        let owner = reaction.owner();
        if begun.has_blocks && is_blocked(store, &actor, reaction).await? {
            intents::end(store, &actor, attempt.id).await?;
            return Err(Error::NoOwner(owner.to_string()));
        }
        let added = match reaction {
            Reaction::Follow(author) => store.timelines().follow(author, item, attempt.id).await,
            Reaction::Like(_) | Reaction::Share(_) | Reaction::Comment(..) => {
                store.list(reaction.relation()).append(&owner, item).await
            }
        };
        let added = ended_without_owner(store, &actor, attempt, added).await?;
        if added.item.by.as_ref() != Some(&actor) {
            intents::end(store, &actor, attempt.id).await?;
            return Ok(added);
        }
        let id = added.item.id;
        let finished = finish_adding(store, &actor, reaction, &added, attempt, begun).await;
        let shared = reaction.shared_post(&added.item);
        let finished = match &shared {
            Some(shared) if finished.is_ok() => {
                let timelines = Timelines::within(store, self.store);
                timelines.deliver_these(&actor, slice::from_ref(shared)).await
            }
            _ => finished,
        };
        match finished {
            Err(error @ Error::NoOwner(_)) => {
                // The actor has left meanwhile, and nothing else would find what they did.
                let list = store.list(reaction.relation());
                unless_gone(list.remove(&owner, &Key::Id(id)).await)?;
                if let Some(shared) = shared {
                    store.shared_posts().remove(&shared).await?;
                }
                Err(error)
            }
            finished => finished.map(|()| added),
        }
    }

    /// Removes the item from the list, and the activity with it. Repeating it changes nothing; after an interruption
    /// it finishes the first try.
    ///
    /// # Errors
    /// As [`Reactions::add`].
    #[boxed]
    pub async fn remove(&self, actor: &Handle, reaction: &Reaction, attempt: Attempt) -> Result<Removed> {
        let store = &self.store.session();
        let begun = intents::begin(store, actor, &Action::React(reaction.clone()), attempt).await?;
        let removed = if let Reaction::Follow(author) = reaction {
            store.timelines().unfollow(actor, author, attempt.id).await
        } else {
            let list = store.list(reaction.relation());
            list.remove(&reaction.owner(), &reaction.key(actor)).await
        };
        let removed = ended_without_owner(store, actor, attempt, removed).await?;
        if let (Reaction::Comment(post, _), Some(comment)) = (reaction, &removed.item) {
            store.comments().forget_deleted(*post, comment).await?;
        }
        if let Some(shared) = removed.item.as_ref().and_then(|item| reaction.shared_post(item)) {
            store.shared_posts().remove(&shared).await?;
        }
        let activity = removed.item.as_ref().map(|item| reaction.activity(item).id);
        let Begun { seen, head, left, .. } = begun;
        let old_form =
            matches!(reaction, Reaction::Comment(..)) && activity.is_some_and(|id| !head.contains(&id));
        let done = if old_form {
            None
        } else {
            let key = Key::Id(activity.unwrap_or(attempt.id));
            let activities = store.list(Relation::Activities);
            let also = accompanying_change(Some(attempt.id));
            activities.remove_if(&user(actor), &key, seen, also).await?
        };
        if done.is_none() {
            agree(store, actor, reaction, Some(attempt.id)).await?;
        }
        intents::agree_on(store, actor, &left, attempt.at).await;
        Ok(removed)
    }
}

/// Whether the actor and the person whom it concerns block each other.
async fn is_blocked(store: &Store, actor: &Handle, reaction: &Reaction) -> Result<bool> {
    let other = match reaction {
        Reaction::Follow(author) => author.clone(),
        Reaction::Like(post) | Reaction::Share(post) | Reaction::Comment(post, _) => {
            match store.posts().get(*post).await? {
                Some(post) => post.author,
                None => return Ok(false),
            }
        }
    };
    Ok(store.restrictions().among(actor, [&other]).await?.blocks(&other))
}

/// Writes the activity of an item that is in the deciding list.
async fn finish_adding(
    store: &Store,
    actor: &Handle,
    reaction: &Reaction,
    added: &Appended,
    attempt: Attempt,
    begun: Begun,
) -> Result<()> {
    if let Some(shared) = reaction.shared_post(&added.item) {
        store.shared_posts().insert(&shared).await?;
    }
    // The activity of a comment that was there before may have its old form.
    let old_form = matches!(reaction, Reaction::Comment(..)) && !added.added;
    let done = if old_form {
        None
    } else {
        let activity = reaction.activity(&added.item);
        let activities = store.list(Relation::Activities);
        let also = accompanying_change(Some(attempt.id));
        activities
            .append_if(&user(actor), activity, begun.seen, also)
            .await?
    };
    if done.is_none() {
        agree(store, actor, reaction, Some(attempt.id)).await?;
    }
    intents::agree_on(store, actor, &begun.left, attempt.at).await;
    Ok(())
}

/// If the post or person turned out not to exist, the attempt is over.
async fn ended_without_owner<T>(
    store: &Store,
    actor: &Handle,
    attempt: Attempt,
    changed: Result<T>,
) -> Result<T> {
    if matches!(changed, Err(Error::NoOwner(_))) {
        intents::end(store, actor, attempt.id).await?;
    }
    changed
}

/// An outcome for which it does not matter whether the owner is gone.
pub(crate) fn unless_gone<T>(outcome: Result<T>) -> Result<()> {
    match outcome {
        Err(Error::NoOwner(_)) => Ok(()),
        outcome => outcome.map(drop),
    }
}

fn user(handle: &Handle) -> Owner {
    Topic::User(handle.clone())
}
