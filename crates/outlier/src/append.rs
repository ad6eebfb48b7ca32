use crate::state::Head;
use crate::{Item, Key, OverflowList, Owner};
use document::Result;

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

impl Appended {
    /// Nothing was added: the list had an item with this key already.
    pub(crate) fn before(item: Item, count: u64) -> Self {
        Self {
            item,
            added: false,
            count,
        }
    }
}

impl OverflowList<'_> {
    /// Adds an item unless the list has one with the same key, in the head or in any page. Repeating it after an
    /// unknown outcome or a double click changes nothing.
    ///
    /// Appends to a list that has a round under way wait for it and go together in the next one. A call that is
    /// cancelled before its round adds nothing; one that is cancelled later has added its item without getting the
    /// answer. Neither affects the other appends.
    ///
    /// # Errors
    /// [`Error::NoOwner`](document::Error::NoOwner) when the owner does not exist,
    /// [`Error::Refused`](document::Error::Refused) when the item is larger than
    /// [`ListSpec::largest_item`](crate::ListSpec::largest_item), or is ordered by its key and below what has spilled,
    /// and [`Error::Contended`](document::Error::Contended) when other changes kept winning.
    pub async fn append(&self, owner: &Owner, item: Item) -> Result<Appended> {
        let item = self.spec().accept(item)?;
        let key = self.spec().key_of(&item)?;
        self.append_queued(owner, key, item).await
    }

    /// The item with this key, wherever it is.
    pub async fn find(&self, owner: &Owner, key: &Key) -> Result<Option<Item>> {
        let mut seen = self.state(owner, Head::Whole).await?;
        if let Some(item) = std::mem::take(&mut seen.head)
            .into_iter()
            .find(|item| item.is(key, self.spec()))
        {
            return Ok(Some(item));
        }
        Ok(self.find_in_pages(owner, key, &seen).await?.map(|(_, item)| item))
    }
}
