use async_recursion::async_recursion as boxed;
use bson::{Document, doc};
use model::{Handle, Relation, Topic};
use uuid::Uuid;

use super::{FIELD, Reaction, user};
use crate::Store;
use crate::overflow::{Item, Key, Owner, uuid_bson};
use document::{Attempts, Error, Result};

/// What every change of an actor's list writes with it: it raises the list's `rev`, so that nobody who read the list
/// before can change it without reading it again.
pub(crate) fn raise_rev(relation: Relation) -> Document {
    doc! { "$inc": { format!("{relation}.rev"): 1_i64 } }
}

/// What is written with a change of the activities; it may end an attempt.
pub(super) fn accompanying_change(ends: Option<Uuid>) -> Document {
    let mut also = raise_rev(Relation::Activities);
    if let Some(attempt) = ends {
        also.insert("$pull", doc! { FIELD: { "id": uuid_bson(attempt) } });
    }
    also
}

/// Makes an actor's lists agree with the list that decides, and ends an attempt. `store` is in one session, so that
/// what it reads of the deciding list is at least as new as the activities that it saw before.
///
/// # Errors
/// [`Error::NoOwner`] when the actor is gone.
#[boxed]
pub(crate) async fn agree(
    store: &Store,
    actor: &Handle,
    reaction: &Reaction,
    ends: Option<Uuid>,
) -> Result<()> {
    if let Reaction::Follow(author) = reaction {
        agree_following(store, actor, author).await?;
        if ends.is_some() {
            // The doubt has the id of the attempt.
            store.timelines().align(actor, author, ends).await?;
        }
    }
    let own = user(actor);
    let activities = store.list(Relation::Activities);
    let mut attempts = Attempts::default();
    while attempts.next().await {
        let seen = activities.snapshot(&own).await?;
        let mut recorded = activities_about(store, actor, reaction).await?;
        // Read before the comment is seen to be gone, so that it is not of a later comment with the same id.
        let edit = match reaction {
            Reaction::Comment(post, id) => store.comments().edit_of(*post, *id).await?,
            Reaction::Like(_) | Reaction::Share(_) | Reaction::Follow(_) => None,
        };
        // Read before the share is seen to be gone, too.
        let listed = match reaction {
            Reaction::Share(post) => store.shared_posts().by(actor, *post).await?,
            Reaction::Like(_) | Reaction::Comment(..) | Reaction::Follow(_) => None,
        };
        let item = decided(store, actor, reaction).await?;
        if let (Some(listed), None) = (&listed, &item) {
            store.shared_posts().remove(listed).await?;
        }
        if let (Some(edit), None) = (edit, &item) {
            store.comments().forget(&edit).await?;
        }
        let right = item.as_ref().map(|item| reaction.activity_ids(item.id));
        let kept = right.and_then(|right| right.into_iter().find(|id| recorded.contains(id)));
        recorded.retain(|id| Some(*id) != kept);
        if let Some(unfounded) = recorded.first() {
            let also = accompanying_change(None);
            activities
                .remove_if(&own, &Key::Id(*unfounded), seen, also)
                .await?;
            continue;
        }
        let done = match (item, ends) {
            (Some(_), None) if kept.is_some() => true,
            (Some(item), _) => {
                // Before the activity: if the share was taken back meanwhile, the write below does not apply.
                if let Some(shared) = reaction.shared_post(&item) {
                    store.shared_posts().insert(&shared).await?;
                }
                let mut activity = reaction.activity(&item);
                activity.id = kept.unwrap_or(activity.id);
                let appended = activities
                    .append_if(&own, activity, seen, accompanying_change(ends))
                    .await?;
                appended.is_some()
            }
            (None, None) => true,
            // No item has this id. The write applies only if the activities are still as they were seen.
            (None, Some(attempt)) => {
                let key = Key::Id(attempt);
                activities
                    .remove_if(&own, &key, seen, accompanying_change(ends))
                    .await?
                    .is_some()
            }
        };
        if done {
            return Ok(());
        }
    }
    Err(Error::Contended(own.to_string()))
}

/// Makes a reader's `following` list agree with an author's followers. `store` is in one session.
///
/// # Errors
/// [`Error::NoOwner`] when the reader is gone.
pub(crate) async fn agree_following(store: &Store, reader: &Handle, author: &Handle) -> Result<()> {
    let own = user(reader);
    let following = store.list(Relation::Following);
    let follow = Reaction::Follow(author.clone());
    let mut attempts = Attempts::default();
    while attempts.next().await {
        let seen = following.snapshot(&own).await?;
        let also = raise_rev(Relation::Following);
        let Some(item) = decided(store, reader, &follow).await? else {
            let key = Key::By(author.clone());
            if following.remove_if(&own, &key, seen, also).await?.is_some() {
                return Ok(());
            }
            continue;
        };
        let wanted = Item::new(item.id, author.clone(), item.at);
        match following.append_if(&own, wanted, seen, also).await? {
            Some(there) if there.item.id == item.id => return Ok(()),
            // Left by an earlier follow, whose id is never used again.
            Some(there) => _ = following.remove(&own, &Key::Id(there.item.id)).await?,
            None => {}
        }
    }
    Err(Error::Contended(own.to_string()))
}

/// Removes an item from one of a person's lists, if it is there. If it is not, nobody who has read the list before can
/// add it without reading the deciding list again. `store` is in one session.
///
/// # Errors
/// [`Error::NoOwner`] when the person is gone.
pub(crate) async fn keep_out(store: &Store, own: &Owner, relation: Relation, id: Uuid) -> Result<()> {
    let list = store.list(relation);
    let mut attempts = Attempts::default();
    while attempts.next().await {
        let seen = list.snapshot(own).await?;
        let removed = list
            .remove_if(own, &Key::Id(id), seen, raise_rev(relation))
            .await?;
        if removed.is_some() {
            return Ok(());
        }
    }
    Err(Error::Contended(own.to_string()))
}

/// The item of the deciding list; `None` if that list is gone, or is about to be: the departure of somebody who leaves
/// may have removed a follower's activity before it removes the followers.
async fn decided(store: &Store, actor: &Handle, reaction: &Reaction) -> Result<Option<Item>> {
    let list = store.list(reaction.relation());
    let item = match list.find(&reaction.owner(), &reaction.key(actor)).await {
        Ok(item) => item.filter(|item| item.by.as_ref() == Some(actor)),
        Err(Error::NoOwner(_)) => None,
        Err(error) => return Err(error),
    };
    match reaction {
        Reaction::Follow(author) if item.is_some() => {
            let staying = store.people().named([author]).await?;
            Ok(item.filter(|_| staying.contains_key(author)))
        }
        _ => Ok(item),
    }
}

/// The ids of the activities about a reaction. Those of a comment are known; for others the whole list is searched,
/// which happens only after an interruption or beside another server.
async fn activities_about(store: &Store, actor: &Handle, reaction: &Reaction) -> Result<Vec<Uuid>> {
    let activities = store.list(Relation::Activities);
    let own = Topic::User(actor.clone());
    let mut matching = Vec::new();
    if let Reaction::Comment(_, comment) = reaction {
        for id in reaction.activity_ids(*comment) {
            let found = activities.find(&own, &Key::Id(id)).await?;
            matching.extend(found.filter(|item| Reaction::of(item).as_ref() == Some(reaction)));
        }
    } else {
        let mut walk = activities.walk(&own);
        while let Some(stretch) = walk.next().await? {
            let of_it = |item: &Item| Reaction::of(item).as_ref() == Some(reaction);
            matching.extend(stretch.items.into_iter().filter(of_it));
        }
    }
    Ok(matching.into_iter().map(|item| item.id).collect())
}
