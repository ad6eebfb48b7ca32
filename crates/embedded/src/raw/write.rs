//! Writing elements of an encoded document.

use bson::raw::{CStr, cstr};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocumentBuf};

use document::{Error, Result};

/// Writes a document or an array around what `write` puts into it.
pub(crate) fn write_counted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out)?;
    out.push(0);
    let length = i32::try_from(out.len() - start).map_err(|_| too_long())?;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Writes what comes before an element's value.
pub(crate) fn write_name(kind: ElementType, name: &str, out: &mut Vec<u8>) -> Result<()> {
    let name: &CStr = name.try_into()?;
    out.push(kind as u8);
    out.extend_from_slice(name.as_str().as_bytes());
    out.push(0);
    Ok(())
}

/// Writes an element.
pub(crate) fn write_element(name: &str, value: RawBsonRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    write_name(value.element_type(), name, out)?;
    match value {
        RawBsonRef::Document(document) => out.extend_from_slice(document.as_bytes()),
        RawBsonRef::Array(array) => out.extend_from_slice(array.as_bytes()),
        RawBsonRef::Int32(number) => out.extend_from_slice(&number.to_le_bytes()),
        RawBsonRef::Int64(number) => out.extend_from_slice(&number.to_le_bytes()),
        RawBsonRef::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
        RawBsonRef::DateTime(at) => out.extend_from_slice(&at.timestamp_millis().to_le_bytes()),
        RawBsonRef::Boolean(flag) => out.push(u8::from(flag)),
        RawBsonRef::Null => {}
        _ => {
            let mut alone = RawDocumentBuf::new();
            alone.append(cstr!(""), value);
            let alone = alone.as_bytes();
            // After the length, the type and the empty name, and before the end.
            out.extend_from_slice(&alone[6..alone.len() - 1]);
        }
    }
    Ok(())
}

/// The names of an array's elements: `0`, `1`, …
pub(crate) struct Positions {
    next: usize,
    name: String,
}

impl Positions {
    pub(crate) fn new() -> Self {
        Self {
            next: 0,
            name: String::new(),
        }
    }

    /// The name of the next element.
    pub(crate) fn next(&mut self) -> &str {
        self.name.clear();
        let mut unit = 1;
        while self.next / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            let digit = u8::try_from(self.next / unit % 10).unwrap_or_default();
            self.name.push(char::from(b'0' + digit));
            unit /= 10;
        }
        self.next += 1;
        &self.name
    }
}

fn too_long() -> Error {
    Error::malformed("a document is longer than BSON can tell")
}
