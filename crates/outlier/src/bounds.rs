//! How much a head and a page may hold: a number of items, and bytes where items are of very different size.

use bson::RawDocumentBuf;

use crate::{Item, ListSpec};

impl Item {
    /// The size of its stored form as BSON.
    pub(crate) fn bytes(&self) -> usize {
        RawDocumentBuf::try_from(self.document()).map_or(0, |raw| raw.as_bytes().len())
    }
}

impl ListSpec {
    /// # Panics
    /// If a head or a page could hold no item.
    pub(crate) fn assert_limits(&self) {
        let limits = self.limits;
        assert!(
            limits.threshold > 0 && limits.page_size > 0,
            "a head and a page hold at least one item"
        );
        assert!(
            self.head_bytes.is_none_or(|most| most >= self.largest_item),
            "a head has room for the largest item"
        );
    }

    /// How many items a head has room for, whatever their sizes.
    pub(crate) fn surely_fit(&self) -> usize {
        let by_bytes = self.head_bytes.map(|most| most / self.largest_item.max(1));
        by_bytes.map_or(self.limits.threshold, |fit| fit.min(self.limits.threshold))
    }

    /// How many of these items have room in a head beside others.
    pub(crate) fn fit<'i>(&self, items: impl IntoIterator<Item = &'i Item>, beside: &[Item]) -> usize {
        let room = self.limits.threshold.saturating_sub(beside.len());
        let items = items.into_iter().take(room);
        let Some(most) = self.head_bytes else {
            return items.count();
        };
        within(items, most.saturating_sub(bytes(beside)))
    }

    /// Whether a head is longer or larger than appends leave it.
    pub(crate) fn is_over(&self, head: &[Item]) -> bool {
        head.len() > self.limits.threshold || self.head_bytes.is_some_and(|most| bytes(head) > most)
    }

    /// How many of the oldest items of a head, which is newest first, one spill moves: by count a page, and by bytes all
    /// but a quarter of what a head may have, or more if the next item needs it.
    pub(crate) fn chunk<'i>(
        &self,
        head: impl ExactSizeIterator<Item = &'i Item>,
        next: Option<&Item>,
    ) -> usize {
        let items = head.len();
        let by_count = self.limits.chunk(items);
        let Some(most) = self.head_bytes.filter(|_| items < self.limits.threshold) else {
            return by_count;
        };
        let room = most.saturating_sub(next.map_or(0, Item::bytes));
        let stay = within(head, room.min(most / 4));
        (items - stay).clamp(1.min(by_count), by_count)
    }

    /// How many of these items, oldest first, become the next page of an array that is divided into pages and a head;
    /// none if they are the head.
    pub(crate) fn next_page(&self, rest: &[Item]) -> usize {
        let fit = self.head_bytes.map_or(rest.len(), |most| within(rest, most));
        if rest.len() < self.limits.threshold && fit == rest.len() {
            return 0;
        }
        self.limits.chunk(rest.len()).min(fit).max(1)
    }
}

/// How many of these items have at most so many bytes together.
fn within<'i>(items: impl IntoIterator<Item = &'i Item>, most: usize) -> usize {
    let mut left = most;
    let fits = |item: &&Item| match left.checked_sub(item.bytes()) {
        Some(less) => {
            left = less;
            true
        }
        None => false,
    };
    items.into_iter().take_while(fits).count()
}

/// The size of all of these items.
pub(crate) fn bytes(items: &[Item]) -> usize {
    items.iter().map(Item::bytes).sum()
}
