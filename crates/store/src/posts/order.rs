use bson::{Bson, DateTime, Document, doc};
use model::{Cursor, Post, Timestamp};
use uuid::Uuid;

use super::StoredPost;
use crate::overflow::uuid_bson;
use crate::shared_posts::shared_id;
use document::{Error, Result};

/// In which order to list posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Newest first.
    Newest,
    /// Most liked first.
    MostLiked,
}

impl Order {
    /// The field that posts are sorted by.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Newest => "at",
            Self::MostLiked => "likes.count",
        }
    }

    /// What identifies the list that its cursors belong to.
    fn list(self) -> u32 {
        Cursor::list_named(self.field())
    }

    /// Whether a cursor was made for this order.
    pub fn issued(self, cursor: Cursor) -> bool {
        cursor.list == self.list()
    }

    /// Refuses a cursor that was made for another order.
    pub(crate) fn accept(self, cursor: Cursor) -> Result<()> {
        if self.issued(cursor) {
            Ok(())
        } else {
            Err(Error::ForeignCursor)
        }
    }

    /// Restricts a filter to what comes after a cursor.
    pub(crate) fn restrict(self, filter: &mut Document, after: Option<Cursor>) -> Result<()> {
        let Some(cursor) = after else {
            return Ok(());
        };
        self.accept(cursor)?;
        let (field, value) = (self.field(), self.value(cursor));
        let after = [
            doc! { field: { "$lt": &value } },
            doc! { field: value, "_id": { "$lt": uuid_bson(cursor.id) } },
        ];
        filter.insert("$or", after.to_vec());
        Ok(())
    }

    /// The cursor just after a post as stored.
    pub fn cursor_after(self, post: &StoredPost) -> Cursor {
        let (at, id) = post.place();
        self.cursor(id, at, post.likes.count)
    }

    /// The cursor just after a post as a reader sees it.
    pub fn cursor_of(self, post: &Post) -> Cursor {
        let share = post.shared_by.as_ref().zip(post.shared_at);
        let (at, id) = match share {
            Some((by, at)) => (at, shared_id(post.id, &by.handle)),
            None => (post.at, post.id.uuid()),
        };
        self.cursor(id, at, post.likes)
    }

    /// The cursor just after a place among the newest.
    pub(crate) fn cursor_at(self, at: Timestamp, id: Uuid) -> Cursor {
        self.cursor(id, at, 0)
    }

    fn cursor(self, id: Uuid, at: Timestamp, likes: u64) -> Cursor {
        let key = match self {
            Self::Newest => at.millis(),
            Self::MostLiked => i64::try_from(likes).unwrap_or(i64::MAX),
        };
        Cursor {
            list: self.list(),
            key,
            id,
            page: None,
        }
    }

    pub(super) fn value(self, cursor: Cursor) -> Bson {
        match self {
            Self::Newest => Bson::DateTime(DateTime::from_millis(cursor.key)),
            Self::MostLiked => Bson::Int64(cursor.key),
        }
    }
}
