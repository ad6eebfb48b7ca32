use bson::{Bson, DateTime};
use model::{Cursor, Post, PostId, Timestamp};

use super::StoredPost;
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

    /// The cursor just after a post as stored.
    pub fn cursor_after(self, post: &StoredPost) -> Cursor {
        self.cursor(post.id, post.at, post.likes.count)
    }

    /// The cursor just after a post as a reader sees it.
    pub fn cursor_of(self, post: &Post) -> Cursor {
        self.cursor(post.id, post.at, post.likes)
    }

    fn cursor(self, id: PostId, at: Timestamp, likes: u64) -> Cursor {
        let key = match self {
            Self::Newest => at.millis(),
            Self::MostLiked => i64::try_from(likes).unwrap_or(i64::MAX),
        };
        Cursor {
            list: self.list(),
            key,
            id: id.uuid(),
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
