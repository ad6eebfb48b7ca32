//! Reads the committed pages of many lists: for short lists many lists at once, for a long list a few pages at a time.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Find, Result};

use super::{ITEMS, ListState, Shape};
use crate::fields::number;
use crate::{Collection, Lists, Owner};

/// How many pages to have in memory at once, even if they are said to have few items.
const MOST_PAGES: u64 = 256;
/// How many pages of a long list to read at once, even if they are said to have many items.
const FEWEST_PAGES: u64 = 4;
/// How many pages a read has room for beyond those that the lists name, such as uncommitted ones. If there are more,
/// some lists seem to lack pages and are then read alone.
const SPARE: u64 = 64;

/// A list with pages, according to its owner.
#[derive(Debug, Clone)]
pub struct Paged<'a> {
    /// Its owner.
    pub owner: Owner,
    /// Its kind.
    pub lists: &'a Lists,
    /// What its owner says.
    pub state: Box<ListState>,
}

/// Pages of one list, in the order of their numbers.
#[derive(Debug)]
pub struct Stretch {
    /// The index of the list among the requested ones.
    pub list: usize,
    /// The page documents.
    pub pages: Vec<Document>,
    /// Whether these are the last pages of the list.
    pub last: bool,
}

/// A walk over the pages of lists, one list after the other. Each comes in one or more stretches.
pub struct Committed<'a> {
    engine: &'a dyn DocumentEngine,
    lists: &'a [Paged<'a>],
    /// The index of the next list.
    next: usize,
    /// The number of the last page that was returned for it.
    after: Option<Bson>,
}

impl<'a> Committed<'a> {
    /// Consecutive lists of one kind are read together.
    #[must_use]
    pub fn of(engine: &'a dyn DocumentEngine, lists: &'a [Paged<'a>]) -> Self {
        Self {
            engine,
            lists,
            next: 0,
            after: None,
        }
    }

    /// The next stretches, which one command reads; empty at the end.
    ///
    /// # Errors
    /// The engine's.
    pub async fn next(&mut self) -> Result<Vec<Stretch>> {
        let first = self.next;
        match together(&self.lists[first..]) {
            0 => Ok(Vec::new()),
            1 => Ok(vec![self.of_one().await?]),
            lists => {
                self.next += lists;
                let pages = self.of_many(&self.lists[first..first + lists]).await?;
                let stretch = |(place, pages)| Stretch {
                    list: first + place,
                    pages,
                    last: true,
                };
                Ok(pages.into_iter().enumerate().map(stretch).collect())
            }
        }
    }

    async fn of_one(&mut self) -> Result<Stretch> {
        let place = self.next;
        let Paged { owner, lists, state } = &self.lists[place];
        let spec = lists.spec();
        let mut numbers = doc! { "$lt": i64::from(state.pages) };
        if let Some(after) = &self.after {
            numbers.insert("$gt", after);
        }
        let filter = doc! {
            "owner": owner.id(), "relation": &*spec.path, "born": &state.born, "page": numbers,
        };
        let size = state.spilled.div_ceil(u64::from(state.pages).max(1)).max(1);
        let most = (ITEMS / size).clamp(FEWEST_PAGES, MOST_PAGES);
        let find = Find::matching(filter).sort(doc! { "page": 1 }).limit(most);
        let pages = self.engine.find(&spec.pages, find).await?;
        let last = (pages.len() as u64) < most;
        self.after = pages.last().and_then(|page| page.get("page")).cloned();
        if last {
            self.next += 1;
            self.after = None;
        }
        Ok(Stretch {
            list: place,
            pages,
            last,
        })
    }

    /// The pages of each list, all of one kind, in the order of the index that serves them.
    async fn of_many(&self, lists: &[Paged<'_>]) -> Result<Vec<Vec<Document>>> {
        let spec = lists[0].lists.spec();
        let ids: Vec<Bson> = lists.iter().map(|list| list.owner.id()).collect();
        let places: HashMap<String, usize> = ids.iter().map(ToString::to_string).zip(0..).collect();
        let numbers = lists.iter().map(|list| u64::from(list.state.pages));
        let (all, most) = (numbers.clone().sum::<u64>(), numbers.max().unwrap_or(0));
        let filter = doc! {
            "owner": { "$in": ids },
            "relation": &*spec.path,
            "page": { "$lt": i64::try_from(most).unwrap_or(i64::MAX) },
        };
        let find = Find::matching(filter)
            .sort(doc! { "owner": 1, "relation": 1, "born": 1, "page": 1 })
            .limit(all + SPARE);
        let mut pages = vec![Vec::new(); lists.len()];
        for page in self.engine.find(&spec.pages, find).await? {
            let place = page.get("owner").and_then(|id| places.get(&id.to_string()));
            let Some(&place) = place else { continue };
            let list = &lists[place].state;
            let committed = number(&page, "page").is_ok_and(|number| number < u64::from(list.pages));
            if committed && page.get("born").unwrap_or(&Bson::Null) == &list.born {
                pages[place].push(page);
            }
        }
        Ok(pages)
    }
}

/// How many of the lists, from the first on, to read with one command.
fn together(lists: &[Paged<'_>]) -> usize {
    let (mut items, mut pages) = (0_u64, 0_u64);
    let fits = |list: &&Paged<'_>| {
        items = items.saturating_add(list.state.spilled);
        pages += u64::from(list.state.pages);
        list.lists.is(lists[0].lists) && items <= ITEMS && pages <= MOST_PAGES
    };
    lists.iter().take_while(fits).count().max(lists.len().min(1))
}

/// The lists with pages in owner documents, one kind after the other. An adopted list is left out: its pages are still
/// being written.
#[must_use]
pub fn paged<'a>(collection: &'a Collection, owners: &[Document]) -> Vec<Paged<'a>> {
    let mut paged = Vec::new();
    for lists in collection.lists() {
        for document in owners {
            if let Some(owner) = collection.owner_of(document)
                && let Shape::List(state) = Shape::of(document, &lists.spec().path)
                && state.pages > 0
                && !state.adopting
            {
                paged.push(Paged { owner, lists, state });
            }
        }
    }
    paged
}
