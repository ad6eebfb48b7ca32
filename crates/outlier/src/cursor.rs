use uuid::Uuid;

/// A position in a list: just after the item with this order key.
///
/// The order key never changes, so a cursor stays valid when its item is removed, spilled to a page or preceded by
/// newer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The list and direction that it belongs to, in a short form. It is refused anywhere else.
    pub list: u32,
    /// What orders the item: its time, in milliseconds since 1970, or its number.
    pub at: i64,
    /// The item's id.
    pub id: Uuid,
    /// The page that the item was read from; `None` for the head. It tells when the next item lies across a seam.
    pub page: Option<u32>,
}

impl Cursor {
    /// A short form of a list's name (FNV-1a), enough to notice a cursor of another list.
    pub(crate) fn list_named(name: &str) -> u32 {
        name.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }

    pub(crate) fn order(self) -> (i64, Uuid) {
        (self.at, self.id)
    }
}

/// A boundary between head and pages, or between two pages, in a stretch of items that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seam {
    /// The item before it.
    pub after: Uuid,
    /// The page that begins here.
    pub page: u32,
    /// How many pages the list has.
    pub pages: u32,
}
