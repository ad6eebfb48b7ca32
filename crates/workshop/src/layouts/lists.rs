//! The lists that are measured, the same for the workshop and for the benchmark.

use document::Result;
use model::{Handle, PostId, Relation, Timestamp};
use store::overflow::Item;
use store::{Limits, Settings};
use uuid::Uuid;

use crate::cast::handle;

/// The articles' 1,000 and 1,000.
pub const THOUSANDS: Limits = Limits {
    threshold: 1_000,
    page_size: 1_000,
};

/// How large the items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// An actor and a time: 62 bytes of BSON.
    Like,
    /// The article's activity, which it counts as 200 bytes.
    Activity,
}

/// The text of an activity, which brings it to 200 bytes.
const TEXT: &str = "The river stood at four metres and twelve centimetres at noon, and the weir keeper opened the second gate, \
                    as the rules say it.";

impl Size {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Like, Self::Activity];

    /// How many bytes of BSON an item has.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Like => 62,
            Self::Activity => 200,
        }
    }
}

/// The default limits of a feed for items like these.
pub fn default_limits(size: Size) -> Limits {
    Settings::default().of(match size {
        Size::Like => Relation::Likes,
        Size::Activity => Relation::Comments,
    })
}

/// The n-th owner.
pub fn owner(number: u64) -> PostId {
    PostId::from(Uuid::from_u128(
        0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number),
    ))
}

/// The n-th actor. All names are of the same length, so that all items are of the same size.
pub fn actor(number: u64) -> Result<Handle> {
    handle(&format!("user{number:07}"))
}

/// The n-th actor's item.
pub fn item(number: u64, size: Size) -> Result<Item> {
    let at = 1_770_000_000_000 + i64::try_from(number).unwrap_or(0);
    let mut item = Item::new(
        Uuid::from_u128(0x0194_0000_0000_7000_8000_0000_0000_0000 + u128::from(number)),
        actor(number)?,
        Timestamp::from_millis(at),
    );
    if size == Size::Activity {
        item.more.insert("text", TEXT);
    }
    Ok(item)
}

/// The first actors' items, oldest first.
pub fn items(count: u64, size: Size) -> Result<Vec<Item>> {
    (0..count).map(|number| item(number, size)).collect()
}

#[cfg(test)]
mod tests {
    use bson::RawDocumentBuf;

    use super::*;

    #[test]
    fn items_have_the_size_that_is_said() {
        for size in Size::ALL {
            for number in [0, 7, 9_999_999] {
                let document = item(number, size).unwrap().to_document();
                let bytes = RawDocumentBuf::try_from(&document).unwrap().as_bytes().len();
                assert_eq!(bytes as u64, size.bytes(), "{size:?}");
            }
        }
    }
}
