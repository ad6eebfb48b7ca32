//! Reading the bytes of a message, none of which are trusted.

use bson::{Document, RawBsonRef, RawDocument};

use crate::malformed::Malformed;

/// How deep documents may be nested, as in MongoDB.
pub(crate) const DEEPEST: usize = 200;

/// The little-endian number of four bytes.
pub(crate) fn number(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(0, i32::from_le_bytes)
}

/// The rest of a message.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<i32, Malformed> {
        self.take(4).map(number)
    }

    /// The length that the next part begins with, which counts itself.
    pub(crate) fn peek_size(&self) -> Result<usize, Malformed> {
        let size = number(self.0.get(..4).ok_or(Malformed::Truncated)?);
        usize::try_from(size)
            .ok()
            .filter(|size| *size >= 4)
            .ok_or(Malformed::Truncated)
    }

    pub(crate) fn name(&mut self) -> Result<String, Malformed> {
        let end = self
            .0
            .iter()
            .position(|byte| *byte == 0)
            .ok_or(Malformed::Truncated)?;
        let name = std::str::from_utf8(self.take(end)?).map_err(|_| Malformed::Bson)?;
        self.take(1)?;
        Ok(name.to_owned())
    }

    pub(crate) fn document(&mut self) -> Result<Document, Malformed> {
        let size = self.peek_size()?;
        let bytes = self.take(size)?;
        let raw = RawDocument::from_bytes(bytes).map_err(|_| Malformed::Bson)?;
        check_depth(raw)?;
        Document::try_from(raw).map_err(|_| Malformed::Bson)
    }
}

/// Decoding is recursive, so the depth is measured first, without recursion.
fn check_depth(document: &RawDocument) -> Result<(), Malformed> {
    let mut open = vec![document.iter()];
    while let Some(elements) = open.last_mut() {
        let Some(element) = elements.next() else {
            open.pop();
            continue;
        };
        let (_, value) = element.map_err(|_| Malformed::Bson)?;
        let inner = match value {
            RawBsonRef::Document(inner) => inner,
            RawBsonRef::Array(inner) => {
                RawDocument::from_bytes(inner.as_bytes()).map_err(|_| Malformed::Bson)?
            }
            RawBsonRef::JavaScriptCodeWithScope(code) => code.scope,
            _ => continue,
        };
        if open.len() == DEEPEST {
            return Err(Malformed::Depth);
        }
        open.push(inner.iter());
    }
    Ok(())
}
