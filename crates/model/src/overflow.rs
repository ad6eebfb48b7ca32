use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Relation;

/// How one list of an owner is stored right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RelationOverflow {
    /// Items in the head and the pages together.
    pub count: u64,
    /// Items in the head.
    pub head: u64,
    /// How many items the head may hold.
    pub threshold: u64,
    /// Committed page documents.
    pub pages: u64,
    /// How many items a page may hold.
    pub page_size: u64,
    /// Whether there is at least one page.
    pub has_overflow: bool,
    /// The head array's size in the owner document, in bytes of BSON.
    pub head_bytes: u64,
    /// The owner document's size, in bytes of BSON.
    pub owner_bytes: u64,
    /// Of a person's notifications, how many they have not read; absent for every other list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub unread: Option<u64>,
}

impl RelationOverflow {
    /// How large the owner's document would be with all items in one array, in bytes of BSON: each item like those in
    /// the head. `None` if the head is empty.
    pub fn with_one_array(&self) -> Option<u64> {
        let all = (self.head_bytes * self.count).checked_div(self.head)?;
        Some(self.owner_bytes + all.saturating_sub(self.head_bytes))
    }
}

/// How all lists of an owner are stored right now.
pub type Overflow = BTreeMap<Relation, RelationOverflow>;

/// What the overflow meter shows of one list: the part of [`RelationOverflow`] that costs no look at the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Meter {
    /// Items in the head and the pages together.
    pub count: u64,
    /// Items in the head.
    pub head: u64,
    /// How many items the head may hold.
    pub threshold: u64,
    /// Committed page documents.
    pub pages: u64,
}

impl From<&RelationOverflow> for Meter {
    fn from(overflow: &RelationOverflow) -> Self {
        Self {
            count: overflow.count,
            head: overflow.head,
            threshold: overflow.threshold,
            pages: overflow.pages,
        }
    }
}
