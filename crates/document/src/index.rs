use bson::{Bson, Document};

/// An index on one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// The fields and their direction in order, e.g. `{owner: 1, relation: 1, "items.by": 1}`. A field that holds an
    /// array has one entry per element (a multikey index); only one field of an index may be an array.
    pub keys: Document,
    /// Refuse a second document with the same key.
    pub unique: bool,
    /// Only documents that match this filter are in the index (a partial index); empty for all.
    pub partial: Document,
    /// Documents expire this many seconds after the date in the index's only field (a TTL index).
    pub expire_after: Option<u32>,
}

impl Index {
    /// An ordinary index.
    pub fn on(keys: Document) -> Self {
        Self {
            keys,
            unique: false,
            partial: Document::new(),
            expire_after: None,
        }
    }

    /// An index that refuses a second document with the same key.
    pub fn unique_on(keys: Document) -> Self {
        Self {
            unique: true,
            ..Self::on(keys)
        }
    }

    /// Indexes only the documents that match.
    #[must_use]
    pub fn only(mut self, filter: Document) -> Self {
        self.partial = filter;
        self
    }

    /// Removes documents some seconds after the date in the index's field.
    #[must_use]
    pub fn expiring_after(mut self, seconds: u32) -> Self {
        self.expire_after = Some(seconds);
        self
    }

    /// MongoDB's default name: fields and directions joined by `_`, e.g. `owner_1_page_-1`.
    pub fn name(&self) -> String {
        let parts: Vec<String> = self
            .keys
            .iter()
            .map(|(field, direction)| match direction {
                Bson::Double(number) => format!("{field}_{number}"),
                Bson::String(kind) => format!("{field}_{kind}"),
                direction => format!("{field}_{direction}"),
            })
            .collect();
        parts.join("_")
    }
}
