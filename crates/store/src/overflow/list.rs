use bson::{Bson, Document};
use document::Result;
use model::{Cursor, Seam, Timestamp};
use outlier::Snapshot;

use super::{Item, Key, Owner, named};

/// The lists of one relation, such as every owner's likes, for one operation: an [`outlier::OverflowList`] that takes
/// and returns the feed's types.
#[derive(Clone)]
pub struct FeedList<'a>(outlier::OverflowList<'a>);

/// What an append did.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The item that is in the list now: the new one, or the one with the same key that was there before.
    pub item: Item,
    /// Whether this call added it.
    pub added: bool,
    /// How many items the list has. When several appends went together, each counts those before it.
    pub count: u64,
}

/// What a removal did.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The item that this call removed; `None` if there was none.
    pub item: Option<Item>,
    /// How many items the list has.
    pub count: u64,
}

/// A stretch of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The items.
    pub items: Vec<Item>,
    /// The cursor to continue with; `None` at the end.
    pub next: Option<Cursor>,
    /// The boundaries between head and pages that the stretch crosses.
    pub seams: Vec<Seam>,
    /// How many items the list has.
    pub total: u64,
}

/// A walk over a whole list that never holds more than one page in memory.
pub struct Walk<'a>(outlier::Walk<'a>);

impl<'a> FeedList<'a> {
    pub(crate) fn new(list: outlier::OverflowList<'a>) -> Self {
        Self(list)
    }

    /// As [`outlier::OverflowList::append`].
    pub async fn append(&self, owner: &Owner, item: Item) -> Result<Appended> {
        Appended::read(self.0.append(&named(owner), item.into()).await?)
    }

    /// As [`outlier::OverflowList::append_if`].
    pub async fn append_if(
        &self,
        owner: &Owner,
        item: Item,
        seen: Snapshot,
        also: Document,
    ) -> Result<Option<Appended>> {
        let appended = self.0.append_if(&named(owner), item.into(), seen, also).await?;
        appended.map(Appended::read).transpose()
    }

    /// As [`outlier::OverflowList::remove`].
    pub async fn remove(&self, owner: &Owner, key: &Key) -> Result<Removed> {
        Removed::read(self.0.remove(&named(owner), &key.into()).await?)
    }

    /// As [`outlier::OverflowList::remove_if`].
    pub async fn remove_if(
        &self,
        owner: &Owner,
        key: &Key,
        seen: Snapshot,
        also: Document,
    ) -> Result<Option<Removed>> {
        let removed = self.0.remove_if(&named(owner), &key.into(), seen, also).await?;
        removed.map(Removed::read).transpose()
    }

    /// The item with this key, wherever it is.
    pub async fn find(&self, owner: &Owner, key: &Key) -> Result<Option<Item>> {
        let found = self.0.find(&named(owner), &key.into()).await?;
        found.map(Item::read).transpose()
    }

    /// As [`outlier::OverflowList::snapshot`].
    pub async fn snapshot(&self, owner: &Owner) -> Result<Snapshot> {
        self.0.snapshot(&named(owner)).await
    }

    /// As [`outlier::OverflowList::snapshot_after`].
    pub async fn snapshot_after(
        &self,
        owner: &Owner,
        guard: Document,
        change: Document,
        read: &[&str],
    ) -> Result<(Snapshot, Document)> {
        self.0.snapshot_after(&named(owner), guard, change, read).await
    }

    /// As [`outlier::OverflowList::newest_first`].
    pub async fn newest_first(&self, owner: &Owner, after: Option<Cursor>, limit: usize) -> Result<Stretch> {
        let after = after.map(position);
        Stretch::read(self.0.newest_first(&named(owner), after, limit).await?)
    }

    /// As [`outlier::OverflowList::oldest_first`].
    pub async fn oldest_first(&self, owner: &Owner, after: Option<Cursor>, limit: usize) -> Result<Stretch> {
        let after = after.map(position);
        Stretch::read(self.0.oldest_first(&named(owner), after, limit).await?)
    }

    /// As [`outlier::OverflowList::from_offset`].
    pub async fn from_offset(&self, owner: &Owner, skip: u64, limit: usize) -> Result<Stretch> {
        Stretch::read(self.0.from_offset(&named(owner), skip, limit).await?)
    }

    /// A cursor for [`FeedList::newest_first`] that points to the newest item that is not newer than `moment`.
    pub fn cursor_at(&self, owner: &Owner, moment: Timestamp) -> Cursor {
        cursor(self.0.cursor_at(&named(owner), moment.millis()))
    }

    /// Walks over the whole list, newest first.
    pub fn walk(&self, owner: &Owner) -> Walk<'a> {
        Walk(self.0.walk(&named(owner)))
    }

    /// Walks over the whole list, oldest first.
    pub fn walk_from_the_oldest(&self, owner: &Owner) -> Walk<'a> {
        Walk(self.0.walk_from_the_oldest(&named(owner)))
    }

    /// As [`outlier::OverflowList::tidy`].
    pub async fn tidy(&self, owner: &Owner) -> Result<()> {
        self.0.tidy(&named(owner)).await
    }

    /// As [`outlier::OverflowList::adopt`].
    pub async fn adopt(&self, owner: &Owner) -> Result<()> {
        self.0.adopt(&named(owner)).await
    }

    /// As [`outlier::OverflowList::chain`].
    pub(crate) async fn chain(&self, owner: &Owner, born: &Bson, pages: u64) -> Result<Vec<u64>> {
        self.0.chain(&named(owner), born, pages).await
    }

    /// As [`outlier::OverflowList::finish`].
    pub(crate) async fn finish(&self, owner: &Owner) -> Result<()> {
        self.0.finish(&named(owner)).await
    }
}

impl Appended {
    fn read(appended: outlier::Appended) -> Result<Self> {
        Ok(Self {
            item: Item::read(appended.item)?,
            added: appended.added,
            count: appended.count,
        })
    }
}

impl Removed {
    fn read(removed: outlier::Removed) -> Result<Self> {
        Ok(Self {
            item: removed.item.map(Item::read).transpose()?,
            count: removed.count,
        })
    }
}

impl Stretch {
    fn read(stretch: outlier::Stretch) -> Result<Self> {
        let seam = |seam: outlier::Seam| Seam {
            after: seam.after.to_string(),
            page: seam.page,
            pages: seam.pages,
            cost: None,
        };
        Ok(Self {
            items: stretch.items.into_iter().map(Item::read).collect::<Result<_>>()?,
            next: stretch.next.map(cursor),
            seams: stretch.seams.into_iter().map(seam).collect(),
            total: stretch.total,
        })
    }
}

impl Walk<'_> {
    /// The next stretch, of at most as many items as a page holds; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Stretch>> {
        self.0.next().await?.map(Stretch::read).transpose()
    }
}

fn cursor(cursor: outlier::Cursor) -> Cursor {
    Cursor {
        list: cursor.list,
        key: cursor.at,
        id: cursor.id,
        page: cursor.page,
    }
}

fn position(cursor: Cursor) -> outlier::Cursor {
    outlier::Cursor {
        list: cursor.list,
        at: cursor.key,
        id: cursor.id,
        page: cursor.page,
    }
}
