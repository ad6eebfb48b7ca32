//! What was measured of one collection, by the path of the arrays.

use std::collections::BTreeMap;

use bson::{Bson, Document};

use crate::histogram::Histogram;

/// The most paths to keep apart. A collection with more has names that are data, such as the ids of users.
const PATHS: usize = 500;
/// What is beyond [`PATHS`].
pub const OTHERS: &str = "(other paths)";

/// Arrays of one path whose lengths and sizes are in the same buckets, or one array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    pub path: String,
    pub nested: bool,
    pub length_bucket: usize,
    pub size_bucket: usize,
    pub arrays: u64,
    pub items: u64,
    pub bytes: u64,
    pub fewest: u64,
    pub most: u64,
    pub least_bytes: u64,
    pub most_bytes: u64,
    pub largest_item: u64,
    pub largest_document: u64,
    pub beyond: u64,
    /// Items of arrays whose first and last item have a date, and the milliseconds between those.
    pub dated: u64,
    pub span: u64,
    /// Items of arrays in documents whose `_id` has a date, and the milliseconds since then.
    pub aged: u64,
    pub age: u64,
    /// Items that are documents.
    pub documents: u64,
    /// How many of them have arrays inside that were not looked into.
    pub deeper: u64,
}

/// What one row of the answer says.
pub enum Row {
    Arrays(Box<Cell>),
    /// Documents in one size bucket: bucket, count, bytes, least, most.
    Documents(usize, u64, u64, u64, u64),
    /// Arrays that are nested more deeply than was looked.
    Deeper(u64),
}

impl Row {
    /// From the server's answer.
    pub fn read(row: &Document) -> Option<Self> {
        let key = row.get_document("_id").ok()?;
        let of = |field| number(row.get(field)).unwrap_or(0);
        let bucket = |field| usize::try_from(number(key.get(field)).unwrap_or(0)).unwrap_or(0);
        Some(match key.get_str("k").ok()? {
            "d" => Self::Documents(bucket("b"), of("n"), of("bytes"), of("least"), of("largest")),
            "a" => Self::Arrays(Box::new(Cell {
                path: key.get_str("p").ok()?.to_owned(),
                nested: key.get_bool("n").unwrap_or(false),
                length_bucket: bucket("l"),
                size_bucket: bucket("b"),
                arrays: of("n"),
                items: of("items"),
                bytes: of("bytes"),
                fewest: of("fewest"),
                most: of("most"),
                least_bytes: of("least"),
                most_bytes: of("largest"),
                largest_item: of("item"),
                largest_document: of("document"),
                beyond: of("beyond"),
                dated: of("dated"),
                span: of("span"),
                aged: of("aged"),
                age: of("age"),
                documents: of("documents"),
                deeper: of("deeper"),
            })),
            _ => Self::Deeper(of("deeper")),
        })
    }
}

/// A count or a size, in whatever type a server has it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a negative or fractional one is cut"
)]
pub fn number(value: Option<&Bson>) -> Option<u64> {
    match value? {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        Bson::Double(number) => Some(*number as u64),
        _ => None,
    }
}

/// All arrays of one path.
#[derive(Debug, Clone, Default)]
pub struct Arrays {
    pub nested: bool,
    pub lengths: Histogram,
    pub sizes: Histogram,
    /// How many.
    pub count: u64,
    pub items: u64,
    pub bytes: u64,
    pub largest_item: u64,
    pub largest_document: u64,
    pub beyond: u64,
    pub dated: u64,
    pub span: u64,
    pub aged: u64,
    pub age: u64,
    pub documents: u64,
}

/// Everything of one collection.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub documents: u64,
    pub sizes: Histogram,
    pub bytes: u64,
    pub deeper: u64,
    pub paths: BTreeMap<String, Arrays>,
}

impl Tally {
    pub fn add(&mut self, row: Row) {
        match row {
            Row::Documents(bucket, count, bytes, least, most) => {
                self.documents += count;
                self.bytes += bytes;
                self.sizes.add(bucket, count, least, most);
            }
            Row::Deeper(count) => self.deeper += count,
            Row::Arrays(cell) => self.add_arrays(*cell),
        }
    }

    fn add_arrays(&mut self, cell: Cell) {
        self.deeper += cell.deeper;
        let path = if self.paths.len() < PATHS || self.paths.contains_key(&cell.path) {
            cell.path
        } else {
            OTHERS.to_owned()
        };
        let arrays = self.paths.entry(path).or_default();
        arrays.nested |= cell.nested;
        arrays
            .lengths
            .add(cell.length_bucket, cell.arrays, cell.fewest, cell.most);
        arrays
            .sizes
            .add(cell.size_bucket, cell.arrays, cell.least_bytes, cell.most_bytes);
        arrays.count += cell.arrays;
        arrays.items += cell.items;
        arrays.bytes += cell.bytes;
        arrays.largest_item = arrays.largest_item.max(cell.largest_item);
        arrays.largest_document = arrays.largest_document.max(cell.largest_document);
        arrays.beyond += cell.beyond;
        arrays.dated += cell.dated;
        arrays.span += cell.span;
        arrays.aged += cell.aged;
        arrays.age += cell.age;
        arrays.documents += cell.documents;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_data_do_not_fill_the_memory() {
        let mut tally = Tally::default();
        for user in 0..10 * PATHS {
            let path = format!("byUser.{user}");
            tally.add(Row::Arrays(Box::new(Cell {
                path,
                arrays: 1,
                ..Cell::default()
            })));
        }
        assert_eq!(tally.paths.len(), PATHS + 1);
        assert_eq!(tally.paths[OTHERS].count, 9 * PATHS as u64);
    }
}
