//! `distinct`: the distinct values of a field.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bson::{Bson, RawBsonRef, RawDocument};

use crate::key;
use crate::path::Path;
use crate::raw::decode_value;
use document::{Error, Result};

/// How many bytes of values an answer may have, as in MongoDB.
const MOST: usize = 16 * 1024 * 1024;

/// The values so far, in the order in which they came. Values that compare equal count as one.
#[derive(Clone)]
pub(crate) struct Distinct {
    path: Path,
    seen: HashSet<Vec<u8>>,
    values: Vec<Bson>,
    bytes: usize,
}

impl Distinct {
    /// Before the first document.
    pub(crate) fn of(field: &str) -> Result<Self> {
        if field.is_empty() || field.starts_with('$') || field.contains('\0') {
            return Err(Error::refused(
                2,
                format!("distinct needs the name of a field, not '{field}'"),
            ));
        }
        Ok(Self {
            path: Path::new(field),
            seen: HashSet::new(),
            values: Vec::new(),
            bytes: 0,
        })
    }

    /// Adds a document; each element of an array counts separately.
    pub(crate) fn take(&mut self, document: &RawDocument) -> Result<()> {
        let mut found = Vec::new();
        self.path.walk(document, &mut |value, _| {
            found.extend(value);
            ControlFlow::Continue(())
        })?;
        for value in found {
            if let RawBsonRef::Array(items) = value {
                for item in items {
                    self.add(item?)?;
                }
            } else {
                self.add(value)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, value: RawBsonRef<'_>) -> Result<()> {
        let key = key::of(value)?;
        let bytes = key.len();
        if self.seen.insert(key) {
            self.bytes += bytes;
            if self.bytes > MOST {
                return Err(Error::refused(17217, "distinct too big, 16mb cap"));
            }
            self.values.push(decode_value(value)?);
        }
        Ok(())
    }

    /// The values.
    pub(crate) fn finish(self) -> Vec<Bson> {
        self.values
    }
}
