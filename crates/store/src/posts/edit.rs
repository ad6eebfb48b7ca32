use bson::{DateTime, doc};
use model::{Handle, PostId, PostText, Tag, Timestamp};

use super::{COLLECTION, Posts};
use crate::overflow::uuid_bson;
use crate::search;
use document::{Result, Update};

impl Posts<'_> {
    /// Changes the text of an author's post, with its tags and words, and records when. The lists of the post stay as they
    /// are. The same text again changes nothing. Returns whether the text was another one before.
    pub async fn edit(&self, id: PostId, author: &Handle, text: &PostText, at: Timestamp) -> Result<bool> {
        let another = doc! {
            "_id": uuid_bson(id.uuid()),
            "author": author.as_str(),
            "text": { "$ne": text.as_str() },
        };
        let tags = Tag::all_of(text.as_str());
        let mut changed = doc! {
            "text": text.as_str(),
            "tags": tags.iter().map(Tag::as_str).collect::<Vec<_>>(),
            "editedAt": DateTime::from_millis(at.millis()),
        };
        changed.extend(search::of_post(text.as_str()));
        let edit = Update::one(another, doc! { "$set": changed });
        let done = self.store.engine().update(COLLECTION, edit).await?;
        Ok(done.matched == 1)
    }
}
