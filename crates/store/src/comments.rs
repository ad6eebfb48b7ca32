//! Comments as they read now. Items of a list never change: the new text of a comment is a document beside the list, and
//! takes the place of the first one when the comment is read.

use std::collections::{HashMap, HashSet};

use bson::{Bson, DateTime, Document, doc};
use model::{CommentText, Handle, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use crate::Store;
use crate::overflow::{Item, Key};
use crate::people::date;
use document::{DocumentEngine, Error, Find, Index, Result, Update};

/// The collection of new texts. `_id` is the post's id, a space and the comment's.
pub const COLLECTION: &str = "commentEdits";

/// The field of a comment's item with the id of the comment that it answers.
pub const REPLY_TO: &str = "replyTo";

/// The field with the author's handle.
const AUTHOR: &str = "author";
/// The field with the time of the comment. A later comment of the same id has another one.
const OF: &str = "of";
/// How many edits are read at a time.
const AT_ONCE: usize = 500;

/// Creates the index that finds the edits by a person.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    engine
        .create_index(COLLECTION, Index::on(doc! { AUTHOR: 1 }))
        .await
}

/// The comments of a store.
pub struct Comments<'a> {
    store: &'a Store,
}

/// The identity of a comment that was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edited {
    /// The post that it is on.
    pub post: PostId,
    /// The comment.
    pub comment: Uuid,
    /// When the comment was written.
    pub of: Timestamp,
}

impl Edited {
    fn of(post: PostId, comment: &Item) -> Self {
        Self {
            post,
            comment: comment.id,
            of: comment.at,
        }
    }

    /// The edit of this very comment.
    fn filter(&self) -> Document {
        doc! { "_id": name(self.post, self.comment), OF: DateTime::from_millis(self.of.millis()) }
    }

    fn read(edit: &Document) -> Result<Self> {
        let ids = edit.get_str("_id").ok().and_then(|id| id.split_once(' '));
        let ids = ids.and_then(|(post, comment)| Some((post.parse().ok()?, comment.parse().ok()?)));
        let (post, comment) = ids.ok_or_else(|| Error::malformed("an edit's `_id`"))?;
        Ok(Self {
            post,
            comment,
            of: date(edit, OF)?,
        })
    }
}

fn name(post: PostId, comment: Uuid) -> String {
    format!("{post} {comment}")
}

impl<'a> Comments<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    fn engine(&self) -> &'a dyn DocumentEngine {
        &**self.store.engine()
    }

    /// The comment with this id as it reads now; `None` if it or its post is gone.
    pub async fn find(&self, post: PostId, id: Uuid) -> Result<Option<Item>> {
        match self.as_written(post, id).await? {
            Some(mut comment) => {
                self.edit_in_place(vec![(post, &mut comment)]).await?;
                Ok(Some(comment))
            }
            None => Ok(None),
        }
    }

    /// The comment with this id and its first text; `None` if it or its post is gone.
    pub async fn as_written(&self, post: PostId, id: Uuid) -> Result<Option<Item>> {
        let list = self.store.list(Relation::Comments);
        match list.find(&Topic::Post(post), &Key::Id(id)).await {
            Err(Error::NoOwner(_)) => Ok(None),
            found => found,
        }
    }

    /// Gives comments of posts their newest text in `text`, and its time in `editedAt`, with one find.
    pub async fn edit_in_place(&self, comments: Vec<(PostId, &mut Item)>) -> Result<()> {
        let mut comments: HashMap<String, &mut Item> = comments
            .into_iter()
            .map(|(post, comment)| (name(post, comment.id), comment))
            .collect();
        if comments.is_empty() {
            return Ok(());
        }
        let ids: Vec<&String> = comments.keys().collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } });
        for mut edit in self.engine().find(COLLECTION, find).await? {
            let of = date(&edit, OF)?;
            let comment = edit.get_str("_id").ok().and_then(|id| comments.get_mut(id));
            if let Some(comment) = comment.filter(|comment| comment.at == of) {
                for (to, from) in [("text", "text"), ("editedAt", "at")] {
                    comment.more.insert(to, edit.remove(from).unwrap_or(Bson::Null));
                }
            }
        }
        Ok(())
    }

    /// Those of these comments on a post that were edited, with the time at which each was written.
    pub async fn edited_among(&self, post: PostId, ids: &[Uuid]) -> Result<HashSet<(Uuid, Timestamp)>> {
        let mut edited = HashSet::new();
        for ids in ids.chunks(AT_ONCE) {
            let names: Vec<String> = ids.iter().map(|id| name(post, *id)).collect();
            let found = self.read(doc! { "_id": { "$in": names } }).await?;
            edited.extend(found.into_iter().map(|edit| (edit.comment, edit.of)));
        }
        Ok(edited)
    }

    /// Gives a comment another text. Returns whether the comment is still there.
    pub async fn edit(
        &self,
        post: PostId,
        comment: &Item,
        text: &CommentText,
        at: Timestamp,
    ) -> Result<bool> {
        let edited = Edited::of(post, comment);
        let author = comment.by.as_ref().map(Handle::as_str);
        // In one session: the look afterwards is not older than the write.
        let session = self.store.session();
        let comments = Comments::new(&session);
        let set = doc! { "$set": {
            AUTHOR: author, OF: DateTime::from_millis(comment.at.millis()),
            "text": text.as_str(), "at": DateTime::from_millis(at.millis()),
        } };
        let named = doc! { "_id": name(post, comment.id) };
        let edit = Update::one(named, set).or_insert();
        comments.engine().update(COLLECTION, edit).await?;
        // It may have been deleted meanwhile, and its edit before this one.
        let there = comments.as_written(post, comment.id).await?;
        let is_there = there.is_some_and(|there| there.at == comment.at);
        if !is_there {
            comments.forget(&edited).await?;
        }
        Ok(is_there)
    }

    /// Removes the edit of a comment that was deleted. Most have none, and looking is cheaper than a write.
    pub(crate) async fn forget_deleted(&self, post: PostId, comment: &Item) -> Result<()> {
        let edited = Edited::of(post, comment);
        if self.edit_of(post, comment.id).await? == Some(edited) {
            self.forget(&edited).await?;
        }
        Ok(())
    }

    /// Removes the edit of a comment.
    pub(crate) async fn forget(&self, edited: &Edited) -> Result<()> {
        self.engine()
            .delete(COLLECTION, edited.filter(), false)
            .await
            .map(drop)
    }

    /// The edit that is stored for the id of a comment.
    pub(crate) async fn edit_of(&self, post: PostId, comment: Uuid) -> Result<Option<Edited>> {
        let found = self.read(doc! { "_id": name(post, comment) }).await?;
        Ok(found.into_iter().next())
    }

    /// Removes the edits of all comments on a post that was deleted.
    pub(crate) async fn forget_post(&self, post: PostId) -> Result<()> {
        let on_it = doc! { "_id": { "$gte": format!("{post} "), "$lt": format!("{post}!") } };
        if !self.read(on_it.clone()).await?.is_empty() {
            self.engine().delete(COLLECTION, on_it, true).await?;
        }
        Ok(())
    }

    /// Some of the edits by a person; empty when there are none.
    pub(crate) async fn edited_by(&self, author: &Handle) -> Result<Vec<Edited>> {
        self.read(doc! { AUTHOR: author.as_str() }).await
    }

    /// A stretch of all edits, from after this one; empty at the end.
    pub(crate) async fn edited_after(&self, last: Option<&Edited>) -> Result<Vec<Edited>> {
        let last = last.map(|last| name(last.post, last.comment)).unwrap_or_default();
        self.read(doc! { "_id": { "$gt": last } }).await
    }

    async fn read(&self, filter: Document) -> Result<Vec<Edited>> {
        let find = Find::matching(filter)
            .project(doc! { OF: 1 })
            .sort(doc! { "_id": 1 })
            .limit(AT_ONCE as u64);
        let found = self.engine().find(COLLECTION, find).await?;
        found.iter().map(Edited::read).collect()
    }
}
