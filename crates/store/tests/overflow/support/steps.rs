//! The writes of the feed, beside those of single lists.

use bson::Bson;
use checker::mutant::Write;
use checker::step::{Step, operand};
use document::Change;
use store::overflow::PAGES;
use store::timeline::COLLECTION as TIMELINES;
use store::{comments, people, posts, shared_posts};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeedStep {
    /// A write of a list.
    List(Step),
    /// Somebody joins.
    Join,
    /// A post is written.
    Publish,
    /// A person's intent is noted.
    Begin,
    /// A person's intent is removed, alone.
    End,
    /// A post is put into a timeline.
    Deliver,
    /// A post is in all timelines that it belongs in.
    Delivered,
    /// A timeline is begun by a reader who looks.
    BeginTimeline,
    /// An outlier is named in a timeline.
    Announce,
    /// An author is marked before the followers' timelines name them as an outlier.
    BeginToAnnounce,
    /// All those timelines name them.
    Announced,
    /// A follow or unfollow is noted.
    Doubt,
    /// A timeline is rewritten.
    Rewrite,
    /// An author who leaves is removed from a timeline.
    Forget,
    /// Somebody is marked as leaving.
    Mark,
    /// The lists of somebody who leaves are emptied.
    Empty,
    /// Pages are deleted: those of somebody who leaves, or of owners that are gone.
    DeletePages,
    /// Somebody who leaves is deleted.
    DeletePerson,
    /// A post is deleted.
    DeletePost,
    /// The timeline of somebody who leaves is deleted.
    DeleteTimeline,
    /// A comment gets a new text.
    EditComment,
    /// The new text of a comment that is gone is deleted.
    ForgetEdit,
    /// Those of all comments on a post that is gone are deleted.
    ForgetEdits,
    /// A share is listed like a post.
    ListShare,
    /// A share that was taken back is no longer listed.
    UnlistShare,
}

impl Write for FeedStep {
    fn of_update(collection: &str, change: &Change) -> Option<Self> {
        let list = || Step::of_update(collection, change).map(Self::List);
        let Change::Operators(operators) = change else {
            return list();
        };
        let has = |operator: &str, field: &str| operand(operators, operator, field);
        if collection == TIMELINES {
            return match () {
                () if has("$push", "entries").is_some() => Some(Self::Deliver),
                () if has("$push", "doubts").is_some() => Some(Self::Doubt),
                () if has("$addToSet", "outliers").is_some() => Some(Self::Announce),
                () if has("$set", "entries").is_some() => Some(Self::Rewrite),
                () if has("$pull", "entries").is_some() => Some(Self::Forget),
                () => None,
            };
        }
        match () {
            () if collection == comments::COLLECTION => Some(Self::EditComment),
            () if has("$push", "intents").is_some() => Some(Self::Begin),
            () if has("$unset", "undelivered").is_some() => Some(Self::Delivered),
            () if has("$set", "pending").is_some() => Some(Self::Empty),
            () if has("$set", "leaving").is_some() => Some(Self::Mark),
            () => list().or_else(|| match has("$set", "outlier") {
                Some(Bson::Boolean(false)) => Some(Self::BeginToAnnounce),
                Some(_) => Some(Self::Announced),
                None => has("$pull", "intents").map(|_| Self::End),
            }),
        }
    }

    fn of_insert(collection: &str) -> Option<Self> {
        match collection {
            people::COLLECTION => Some(Self::Join),
            posts::COLLECTION => Some(Self::Publish),
            TIMELINES => Some(Self::BeginTimeline),
            shared_posts::COLLECTION => Some(Self::ListShare),
            _ => None,
        }
    }

    fn of_delete(collection: &str, many: bool) -> Option<Self> {
        match (collection, many) {
            (PAGES, true) => Some(Self::DeletePages),
            (PAGES, false) => Some(Self::List(Step::DropPage)),
            (people::COLLECTION, false) => Some(Self::DeletePerson),
            (posts::COLLECTION, false) => Some(Self::DeletePost),
            (TIMELINES, false) => Some(Self::DeleteTimeline),
            (comments::COLLECTION, false) => Some(Self::ForgetEdit),
            (comments::COLLECTION, true) => Some(Self::ForgetEdits),
            (shared_posts::COLLECTION, false) => Some(Self::UnlistShare),
            _ => None,
        }
    }
}
