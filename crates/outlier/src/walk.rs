use crate::pages::Direction;
use crate::{Cursor, OverflowList, Owner, Stretch};
use document::Result;

/// A walk over a whole list that never holds more than one page in memory.
pub struct Walk<'a> {
    list: OverflowList<'a>,
    owner: Owner,
    way: Direction,
    next: Step,
}

enum Step {
    From(Option<Cursor>),
    End,
}

impl<'a> OverflowList<'a> {
    /// Walks over the whole list, newest first.
    pub fn walk(&self, owner: &Owner) -> Walk<'a> {
        self.walking(owner, Direction::Down)
    }

    /// Walks over the whole list, oldest first.
    pub fn walk_from_the_oldest(&self, owner: &Owner) -> Walk<'a> {
        self.walking(owner, Direction::Up)
    }

    fn walking(&self, owner: &Owner, way: Direction) -> Walk<'a> {
        Walk {
            list: self.clone(),
            owner: owner.clone(),
            way,
            next: Step::From(None),
        }
    }
}

impl Walk<'_> {
    /// The next stretch, of at most as many items as a page holds; `None` after the last.
    ///
    /// # Errors
    /// As [`OverflowList::newest_first`].
    pub async fn next(&mut self) -> Result<Option<Stretch>> {
        let Step::From(after) = self.next else {
            return Ok(None);
        };
        let limit = self.list.spec().limits.page_size;
        let stretch = match self.way {
            Direction::Down => self.list.newest_first(&self.owner, after, limit).await?,
            Direction::Up => self.list.oldest_first(&self.owner, after, limit).await?,
        };
        self.next = stretch.next.map_or(Step::End, |cursor| Step::From(Some(cursor)));
        Ok(Some(stretch))
    }
}
