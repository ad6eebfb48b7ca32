use bson::{Bson, doc};

use crate::fields::number;
use crate::pages::{Direction, order};
use crate::{OverflowList, Owner};
use document::{Find, Result};

impl OverflowList<'_> {
    /// How many items each of the first `pages` pages holds, by page number. The counts come from an index; no page is
    /// read. A page that removals have emptied holds none.
    pub async fn chain(&self, owner: &Owner, born: &Bson, pages: u64) -> Result<Vec<u64>> {
        let mut held = vec![0; usize::try_from(pages).unwrap_or(usize::MAX)];
        if held.is_empty() {
            return Ok(held);
        }
        let mut filter = self.pages_of(owner, born);
        filter.insert("last", doc! { "$lte": self.spec().order.by.bound(i64::MAX) });
        filter.insert("page", doc! { "$lt": i64::try_from(pages).unwrap_or(i64::MAX) });
        let find = Find::matching(filter)
            .project(doc! { "_id": 0, "page": 1, "count": 1 })
            .sort(order(Direction::Down));
        for page in self.engine.find(self.pages(), find).await? {
            let place = usize::try_from(number(&page, "page")?).unwrap_or(usize::MAX);
            if let Some(held) = held.get_mut(place) {
                *held = number(&page, "count")?;
            }
        }
        Ok(held)
    }
}
