//! A post and its activity. The post decides: it is written before its activity and deleted before it.

use bson::doc;
use model::{ActivityKind, Handle, PostId, Relation, Timestamp, Topic};

use super::agree::accompanying_change;
use super::intents::{self, Begun};
use super::{Action, Attempt, Reactions, user};
use crate::Store;
use crate::overflow::{Item, Key, delete_owner, sweep_pages, uuid_bson};
use document::{Attempts, Error, Result};
use uuid::Uuid;

/// The entry of an author's activity log for a post. It has the post's id, so it is stored once.
pub(crate) fn activity_of_post(post: Uuid, at: Timestamp) -> Item {
    Item {
        id: post,
        by: None,
        at,
        more: doc! { "kind": ActivityKind::Post.as_str(), "post": uuid_bson(post) },
    }
}

impl Reactions<'_> {
    /// Deletes a post of an author with its lists and its activity. After an interruption, the author's next action or
    /// a sweep finishes it if the post is gone. Returns whether there was such a post.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the author is gone or leaving.
    pub async fn delete_post(&self, author: &Handle, post: PostId, attempt: Attempt) -> Result<bool> {
        let store = &self.store.session();
        let action = Action::DeletePost(post);
        let Begun { seen, left, .. } = intents::begin(store, author, &action, attempt).await?;
        let own = doc! { "author": author.as_str() };
        let deleted = delete_owner(store.engine(), &Topic::Post(post), own).await?;
        if deleted {
            store.comments().forget_post(post).await?;
        }
        let mut is_done = false;
        if deleted {
            let key = Key::Id(post.uuid());
            let also = accompanying_change(Some(attempt.id));
            let activities = store.list(Relation::Activities);
            let removed = activities.remove_if(&user(author), &key, seen, also).await?;
            is_done = removed.is_some();
        }
        if !is_done {
            agree_on_post(store, author, post, Some(attempt.id)).await?;
        }
        intents::agree_on(store, author, &left, attempt.at).await;
        Ok(deleted)
    }
}

/// Finishes the deletion of a post, if the post is gone; ends an attempt. `store` is in one session.
pub(super) async fn agree_on_deletion(
    store: &Store,
    author: &Handle,
    post: PostId,
    ends: Option<Uuid>,
) -> Result<()> {
    // Nothing would find them after the attempt has ended.
    sweep_pages(store.engine(), &Topic::Post(post)).await?;
    agree_on_post(store, author, post, ends).await
}

/// Makes an author's activities agree with whether a post exists, and ends an attempt. `store` is in one session, so
/// that what it reads of the post is at least as new as the activities that it saw before.
///
/// # Errors
/// [`Error::NoOwner`] when the author is gone.
pub(crate) async fn agree_on_post(
    store: &Store,
    author: &Handle,
    post: PostId,
    ends: Option<Uuid>,
) -> Result<()> {
    let own = user(author);
    let activities = store.list(Relation::Activities);
    let mut attempts = Attempts::default();
    while attempts.next().await {
        let seen = activities.snapshot(&own).await?;
        let found = store.posts().get(post).await?;
        let also = accompanying_change(ends);
        let is_done = if let Some(found) = found.as_ref().filter(|post| post.author == *author) {
            let activity = activity_of_post(post.uuid(), found.at);
            activities.append_if(&own, activity, seen, also).await?.is_some()
        } else {
            if found.is_none() {
                store.comments().forget_post(post).await?;
            }
            let key = Key::Id(post.uuid());
            activities.remove_if(&own, &key, seen, also).await?.is_some()
        };
        if is_done {
            return Ok(());
        }
    }
    Err(Error::Contended(own.to_string()))
}
