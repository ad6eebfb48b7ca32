use async_recursion::async_recursion as boxed;
use uuid::Uuid;

use crate::pages::{Direction, Page};
use crate::state::{Head, State};
use crate::{Cursor, Item, OverflowList, Owner, Seam};
use document::{Attempts, Error, Result};

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

/// Where a stretch begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    /// After a cursor, or without one at the end of the list where this direction begins.
    After(Direction, Option<Cursor>),
    /// After this many of the newest items.
    Offset(u64),
}

/// An item and the page that it was read from; `None` for the head.
pub(crate) type Placed = (Option<u32>, Item);

impl OverflowList<'_> {
    /// Reads up to `limit` items after a cursor, newest first.
    ///
    /// The owner is read first. Its snapshot decides which pages count, so an item that spills meanwhile is still seen
    /// in the head, and an item of a committed page never moves again. If something was removed between reading the
    /// owner and reading a page, the two would not add up, so both are read again.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::ForeignCursor`] when another list gave the cursor out.
    pub async fn newest_first(&self, owner: &Owner, after: Option<Cursor>, limit: usize) -> Result<Stretch> {
        self.check(owner, Direction::Down, after)?;
        self.read(owner, Start::After(Direction::Down, after), limit)
            .await
    }

    /// Reads up to `limit` items after a cursor, oldest first. Its cursors work only in this direction.
    ///
    /// # Errors
    /// As [`OverflowList::newest_first`].
    pub async fn oldest_first(&self, owner: &Owner, after: Option<Cursor>, limit: usize) -> Result<Stretch> {
        self.check(owner, Direction::Up, after)?;
        self.read(owner, Start::After(Direction::Up, after), limit).await
    }

    /// A cursor for [`OverflowList::newest_first`] that points to the newest item that is not newer than `moment`, in
    /// milliseconds since 1970, or whose number is not above it.
    pub fn cursor_at(&self, owner: &Owner, moment: i64) -> Cursor {
        Cursor {
            list: self.cursors_of(owner, Direction::Down),
            at: moment.saturating_add(1),
            id: Uuid::nil(),
            page: None,
        }
    }

    /// Reads until owner and pages belong together, that is, nothing was removed while they were read. A reader that
    /// keeps losing against many removals takes its turn among those of this process.
    #[boxed]
    pub(crate) async fn read(&self, owner: &Owner, start: Start, limit: usize) -> Result<Stretch> {
        // Upwards the pages come first, also if they turn out to have nothing.
        let head_first = !matches!(start, Start::After(Direction::Up, _));
        let mut turn = None;
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let (seen, found) = self.read_once(owner, start, limit).await?;
            let enough = found.len() > limit && found.iter().all(|(page, _)| page.is_none());
            if seen.pages == 0 || (head_first && enough) {
                return Ok(self.stretch(owner, start, found, &seen, limit));
            }
            let now = self.state(owner, Head::None).await?;
            if (now.rev, &now.born) == (seen.rev, &seen.born) {
                return Ok(self.stretch(owner, start, found, &seen, limit));
            }
            if attempts.pauses_now() && turn.is_none() {
                turn = Some(self.turn(owner).await);
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// Reads one item more than `limit`, which shows whether the list goes on.
    async fn read_once(&self, owner: &Owner, start: Start, limit: usize) -> Result<(State, Vec<Placed>)> {
        match start {
            Start::After(Direction::Down, after) => self.read_down(owner, after, limit + 1).await,
            Start::After(Direction::Up, after) => self.read_up(owner, after, limit + 1).await,
            Start::Offset(skip) => self.read_from_offset(owner, skip, limit + 1).await,
        }
    }

    async fn read_down(
        &self,
        owner: &Owner,
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<(State, Vec<Placed>)> {
        let head = match after {
            None => Head::First(wanted),
            Some(Cursor { page: None, .. }) => Head::Whole,
            // Everything after an item of a page is older than the whole head.
            Some(_) => Head::None,
        };
        let mut seen = self.state(owner, head).await?;
        let head = std::mem::take(&mut seen.head);
        let found = self.down(owner, &seen, head, after, wanted).await?;
        Ok((seen, found))
    }

    /// The first `wanted` items after a cursor, from part of the head and then from page to page downwards.
    pub(crate) async fn down(
        &self,
        owner: &Owner,
        seen: &State,
        head: Vec<Item>,
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<Vec<Placed>> {
        let mut last = after.map(Cursor::order);
        let mut found = Vec::new();
        let follows = |item: &Item, last: Option<_>| last.is_none_or(|last| item.order() < last);
        let first = head.into_iter().filter(|item| follows(item, last)).take(wanted);
        found.extend(first.map(|item| (None, item)));
        let mut below = seen.pages;
        while found.len() < wanted && below > 0 {
            last = found.last().map(|(_, item)| item.order()).or(last);
            let from = last.map(|(at, _)| at);
            let Some(Page { number, items, .. }) = self.page_down(owner, seen, below, from).await? else {
                break;
            };
            let items = items
                .into_iter()
                .filter(|item| follows(item, last) && !seen.is_pending(number, item.id))
                .take(wanted - found.len());
            found.extend(items.map(|item| (Some(number), item)));
            below = number;
        }
        Ok(found)
    }

    async fn read_up(
        &self,
        owner: &Owner,
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<(State, Vec<Placed>)> {
        let mut seen = self.state(owner, Head::Whole).await?;
        let head = std::mem::take(&mut seen.head);
        let mut last = after.map(Cursor::order);
        let follows = |item: &Item, last: Option<_>| last.is_none_or(|last| item.order() > last);
        let mut found: Vec<Placed> = Vec::new();
        // The newest page that begins below the cursor's time: items of that time may be in several pages after it. If
        // there is none, every page comes after the cursor.
        let mut next = match last {
            _ if seen.pages == 0 => None,
            Some((at, _)) => {
                let earlier = Some(at.saturating_sub(1));
                match self.page_down(owner, &seen, seen.pages, earlier).await? {
                    Some(page) => Some(page),
                    None => self.page_up(owner, &seen, 0, None).await?,
                }
            }
            None => self.page_up(owner, &seen, 0, None).await?,
        };
        while let Some(Page { number, items, .. }) = next {
            let from = items.last().map(|oldest| oldest.at);
            let items = items
                .into_iter()
                .rev()
                .filter(|item| follows(item, last) && !seen.is_pending(number, item.id))
                .take(wanted - found.len());
            found.extend(items.map(|item| (Some(number), item)));
            if found.len() == wanted {
                break;
            }
            next = self.page_up(owner, &seen, number + 1, from).await?;
        }
        last = found.last().map(|(_, item)| item.order()).or(last);
        let newer = head.into_iter().rev().filter(|item| follows(item, last));
        let room = wanted - found.len();
        found.extend(newer.take(room).map(|item| (None, item)));
        Ok((seen, found))
    }

    fn stretch(
        &self,
        owner: &Owner,
        start: Start,
        mut found: Vec<Placed>,
        seen: &State,
        limit: usize,
    ) -> Stretch {
        let (way, after) = match start {
            Start::After(way, after) => (way, after),
            Start::Offset(_) => (Direction::Down, None),
        };
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|placed| self.cursor_after(owner, way, placed));
        let mut seams = Vec::new();
        let mut previous = after.map(|cursor| (cursor.page, cursor.id));
        for (place, item) in &found {
            if let (Some(page), Some((before, id))) = (*place, previous)
                && before != *place
            {
                seams.push(Seam {
                    after: id,
                    page,
                    pages: seen.pages,
                });
            }
            previous = Some((*place, item.id));
        }
        Stretch {
            items: found.into_iter().map(|(_, item)| item).collect(),
            next,
            seams,
            total: seen.count,
        }
    }

    fn check(&self, owner: &Owner, way: Direction, after: Option<Cursor>) -> Result<()> {
        if after.is_some_and(|cursor| cursor.list != self.cursors_of(owner, way)) {
            return Err(Error::ForeignCursor);
        }
        Ok(())
    }

    /// The place just after an item.
    pub(crate) fn cursor_after(&self, owner: &Owner, way: Direction, (page, item): &Placed) -> Cursor {
        Cursor {
            list: self.cursors_of(owner, way),
            at: item.at,
            id: item.id,
            page: *page,
        }
    }

    /// What identifies the list and direction that a cursor belongs to.
    fn cursors_of(&self, owner: &Owner, way: Direction) -> u32 {
        match way {
            Direction::Down => Cursor::list_named(&format!("{owner}/{}", self.field())),
            Direction::Up => Cursor::list_named(&format!("{owner}/{}/oldest", self.field())),
        }
    }
}
