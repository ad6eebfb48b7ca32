//! The tables of a collection, in any kind of transaction.

use crate::redb::{ReadableTable, TableDefinition};

use document::{Error, Result};

/// Documents: from the key of the `_id` to BSON.
pub(super) trait Documents: ReadableTable<&'static [u8], &'static [u8]> {}
impl<T: ReadableTable<&'static [u8], &'static [u8]>> Documents for T {}

/// Index entries: the fields' keys and then the key of the `_id`. The value is the length of that, and in its upper bits
/// how the fields' values are read back from their keys.
pub(super) trait Entries: ReadableTable<&'static [u8], u32> {}
impl<T: ReadableTable<&'static [u8], u32>> Entries for T {}

/// The name of a collection's table.
pub(super) fn documents_name(collection: &str) -> String {
    format!("c/{collection}")
}

/// The name of an index's table.
pub(super) fn entries_name(collection: &str, index: &str) -> String {
    format!("i/{collection}/{index}")
}

/// A collection's table.
pub(super) fn documents(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

/// An index's table.
pub(super) fn entries(name: &str) -> TableDefinition<'_, &'static [u8], u32> {
    TableDefinition::new(name)
}

/// Refuses names that cannot be collections.
pub(super) fn check_collection(name: &str) -> Result<()> {
    let has_empty_part = name.split('.').any(str::is_empty);
    if has_empty_part || name.contains(['/', '$', '\0']) {
        return Err(Error::refused(
            73,
            format!("Invalid collection name: '{}'", name.escape_debug()),
        ));
    }
    Ok(())
}
