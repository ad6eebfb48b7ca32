//! The port's own rule: the caller chooses identities. MongoDB would generate one, and then a retry inserts twice.

use bson::Document;
use bson::raw::RawDocumentBuf;
use document::Change;
use document::identity::names_id;
use document::{Error, Result};

/// The largest document, in bytes. The driver refuses larger ones before it sends them, but without a code.
const LARGEST: usize = 16 * 1024 * 1024;

/// Encodes a document that has an identity and is not too large.
pub(crate) fn insertable(document: &Document) -> Result<RawDocumentBuf> {
    if !document.contains_key("_id") {
        return Err(anonymous());
    }
    let encoded = RawDocumentBuf::try_from(document)?;
    let bytes = encoded.as_bytes().len();
    if bytes > LARGEST {
        return Err(Error::TooLarge {
            code: 10334,
            message: format!("object to insert too large. size in bytes: {bytes}, max size: {LARGEST}"),
            bytes,
        });
    }
    Ok(encoded)
}

/// Refuses an upsert whose document would get a generated identity.
pub(crate) fn check_upsert(filter: &Document, change: &Change) -> Result<()> {
    if names_id(filter, change) {
        Ok(())
    } else {
        Err(anonymous())
    }
}

fn anonymous() -> Error {
    Error::refused(2, "a document needs an _id, chosen by the caller")
}
