//! What people are told of: likes, comments and shares of their posts, follows, mentions and replies, as a list of their
//! own.
//!
//! An append to a list that concerns somebody also marks its owner, in the same write: what is new goes into
//! [`FIELD`], as ids, so that nobody's name stays there. [`Notifications::tell`] adds the notifications and removes the mark. If that is interrupted, the mark stays,
//! and [`Notifications::tell_all`] finds it.
//!
//! A notification names no person and no number. It says that somebody liked this post; who and how many is read from
//! the post when it is shown. So one is enough until its reader has marked it as read, and a post with 25,000 likes
//! costs its author one item each time that they have looked. Its id is made of what it is about and of how much the
//! reader had read, and telling it again changes nothing.

mod read;
mod silence;
mod tell;

use bson::{Bson, DateTime, Document, doc};
use model::{Handle, Relation, Timestamp};

use crate::Store;
use crate::comments::REPLY_TO;
use crate::{people, posts};
use document::{DocumentEngine, Index, Result};
use outlier::WithItems;

pub(crate) use read::FIELD as READ;
pub use read::{Read, Recent, Unread};
pub(crate) use silence::FIELD as SILENCED;
pub use tell::News;

/// The field of a post or person with what nobody was told of yet; absent if there is nothing.
pub const FIELD: &str = "untold";

/// How many of the latest items of a list a mark names.
const NAMED: i64 = 4;

/// The notifications of a store's people.
pub struct Notifications<'a> {
    store: &'a Store,
}

impl<'a> Notifications<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }
}

/// Creates the indexes that find marks without reading everything.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let at = format!("{FIELD}.at");
    for collection in [posts::COLLECTION, people::COLLECTION] {
        let marked = Index::on(doc! { &at: 1 }).only(doc! { &at: { "$exists": true } });
        engine.create_index(collection, marked).await?;
    }
    Ok(())
}

/// How an append to a list of this relation marks its owner.
pub(crate) fn mark(relation: Relation) -> WithItems {
    match relation {
        Relation::Likes => |items| mark_with("likes", items),
        Relation::Shares => |items| mark_with("shares", items),
        Relation::Followers => |items| mark_with("followers", items),
        Relation::Comments => |items| {
            let mut change = mark_with("comments", items);
            let addressed: Vec<&Bson> = items
                .iter()
                .filter(|item| {
                    item.contains_key(REPLY_TO) || mentions_somebody(item.get_str("text").unwrap_or_default())
                })
                .filter_map(|item| item.get("id"))
                .collect();
            if let (false, Ok(push)) = (addressed.is_empty(), change.get_document_mut("$push")) {
                push.insert(format!("{FIELD}.mentions"), doc! { "$each": addressed });
            }
            change
        },
        Relation::Activities
        | Relation::Following
        | Relation::Bookmarks
        | Relation::Notifications
        | Relation::Hidden
        | Relation::Mutes
        | Relation::Muters
        | Relation::Blocks
        | Relation::Blockers => |_| Document::new(),
    }
}

fn mark_with(list: &str, items: &[Document]) -> Document {
    let new: Vec<&Bson> = items.iter().filter_map(|item| item.get("id")).collect();
    let latest = items.iter().filter_map(|item| item.get_datetime("at").ok()).max();
    let mut change = doc! { "$push": { format!("{FIELD}.{list}"): { "$each": new, "$slice": -NAMED } } };
    if let Some(latest) = latest {
        change.insert("$max", doc! { format!("{FIELD}.at"): *latest });
    }
    change
}

/// The fields of a new post whose text mentions somebody, or that quotes another one.
pub(crate) fn mark_of_text(text: &str, quotes: bool, at: Timestamp) -> Document {
    if quotes || mentions_somebody(text) {
        doc! { FIELD: { "text": true, "at": DateTime::from_millis(at.millis()) } }
    } else {
        Document::new()
    }
}

fn mentions_somebody(text: &str) -> bool {
    !Handle::mentioned_in(text).is_empty()
}
