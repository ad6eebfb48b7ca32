//! Digests of commands and answers: of whatever distinguishes one from another, in the order of fields.

use std::hash::{Hash, Hasher};

use ahash::AHasher;
use bson::{Bson, Document};
use document::{Change, Error, Find, FindAndModify, Update, Updated};

/// Computes digests. The standard library's took 6 % of the time of a model check, and is made to resist attacks.
pub(crate) type Digest = AHasher;

/// What has a digest.
pub trait Fingerprint {
    /// Adds all of it to a digest.
    fn add_to(&self, digest: &mut impl Hasher);
}

impl Fingerprint for Document {
    fn add_to(&self, digest: &mut impl Hasher) {
        for (field, value) in self {
            field.hash(digest);
            value.add_to(digest);
        }
        // The end: no field begins with this byte.
        digest.write_u8(0xfe);
    }
}

impl Fingerprint for Bson {
    fn add_to(&self, digest: &mut impl Hasher) {
        digest.write_u8(self.element_type() as u8);
        match self {
            Self::Document(document) => document.add_to(digest),
            Self::Array(values) => values.add_to(digest),
            Self::String(text) => text.hash(digest),
            Self::Boolean(value) => value.hash(digest),
            Self::Int32(number) => number.hash(digest),
            Self::Int64(number) => number.hash(digest),
            Self::DateTime(at) => at.timestamp_millis().hash(digest),
            Self::Binary(binary) => (u8::from(binary.subtype), &binary.bytes).hash(digest),
            // Rare here.
            other => format!("{other:?}").hash(digest),
        }
    }
}

impl<T: Fingerprint> Fingerprint for Vec<T> {
    fn add_to(&self, digest: &mut impl Hasher) {
        self.len().hash(digest);
        for value in self {
            value.add_to(digest);
        }
    }
}

impl<T: Fingerprint> Fingerprint for Option<T> {
    fn add_to(&self, digest: &mut impl Hasher) {
        self.is_some().hash(digest);
        if let Some(value) = self {
            value.add_to(digest);
        }
    }
}

impl<T: Fingerprint> Fingerprint for Result<T, Error> {
    fn add_to(&self, digest: &mut impl Hasher) {
        match self {
            Ok(value) => value.add_to(digest),
            Err(error) => format!("{error:?}").hash(digest),
        }
    }
}

impl Fingerprint for u64 {
    fn add_to(&self, digest: &mut impl Hasher) {
        self.hash(digest);
    }
}

impl Fingerprint for () {
    fn add_to(&self, digest: &mut impl Hasher) {
        self.hash(digest);
    }
}

impl Fingerprint for Updated {
    fn add_to(&self, digest: &mut impl Hasher) {
        let Self {
            matched,
            modified,
            upserted,
        } = self;
        (matched, modified).hash(digest);
        upserted.add_to(digest);
    }
}

impl Fingerprint for Find {
    fn add_to(&self, digest: &mut impl Hasher) {
        let Self {
            filter,
            projection,
            sort,
            skip,
            limit,
        } = self;
        for part in [filter, projection, sort] {
            part.add_to(digest);
        }
        (skip, limit).hash(digest);
    }
}

impl Fingerprint for Update {
    fn add_to(&self, digest: &mut impl Hasher) {
        let Self {
            filter,
            update,
            upsert,
            many,
            journaled,
        } = self;
        filter.add_to(digest);
        update.add_to(digest);
        (upsert, many, journaled).hash(digest);
    }
}

impl Fingerprint for FindAndModify {
    fn add_to(&self, digest: &mut impl Hasher) {
        let Self {
            filter,
            update,
            sort,
            projection,
            upsert,
            returning,
            journaled,
        } = self;
        for part in [filter, sort, projection] {
            part.add_to(digest);
        }
        update.add_to(digest);
        (upsert, journaled).hash(digest);
        std::mem::discriminant(returning).hash(digest);
    }
}

impl Fingerprint for Change {
    fn add_to(&self, digest: &mut impl Hasher) {
        std::mem::discriminant(self).hash(digest);
        match self {
            Self::Operators(operators) => operators.add_to(digest),
            Self::Elements(operators, filters) => {
                operators.add_to(digest);
                filters.add_to(digest);
            }
            Self::Pipeline(stages) => stages.add_to(digest),
            Self::Replacement { document, new_id } => {
                document.add_to(digest);
                new_id.add_to(digest);
            }
        }
    }
}
