//! Sort orders.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use bson::{Bson, Document, RawBsonRef, RawDocument};

use super::compare::{NULL, compare as order_of};
use super::filter::{operand, whole, whole_number};
use super::key;
use super::path::Path;
use super::raw::field;
use document::{Error, Result};

/// An order over documents: fields, each up or down.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Order {
    fields: Vec<OrderField>,
}

/// The first documents of an order, as many as are needed. Documents that are equal stay in the order in which they came.
pub(super) struct First<'o> {
    order: &'o Order,
    most: usize,
    held: BinaryHeap<Held>,
    seen: u64,
    bytes: usize,
}

/// A document's sort key and number, which no other has, the key of its `_id`, and its bytes.
type Held = (Vec<u8>, u64, Vec<u8>, Vec<u8>);

impl<'o> First<'o> {
    pub(super) fn by(order: &'o Order, most: usize) -> Self {
        Self {
            order,
            most,
            held: BinaryHeap::new(),
            seen: 0,
            bytes: 0,
        }
    }

    /// Takes a document in, unless enough others come before it.
    pub(super) fn add(&mut self, id: &[u8], document: &RawDocument) -> Result<()> {
        self.seen += 1;
        let key = self.order.key(document)?;
        let full = self.held.len() >= self.most;
        if full && self.held.peek().is_none_or(|(last, ..)| *last <= key) {
            return Ok(());
        }
        self.bytes += key.len() + id.len() + document.as_bytes().len();
        self.held
            .push((key, self.seen, id.to_vec(), document.as_bytes().to_vec()));
        if full && let Some((key, _, id, document)) = self.held.pop() {
            self.bytes -= key.len() + id.len() + document.len();
        }
        Ok(())
    }

    /// How many documents are held, and how many bytes they have with their keys.
    pub(super) fn held(&self) -> (usize, usize) {
        (self.held.len(), self.bytes)
    }

    /// Removes and returns all of them, with the keys of their `_id`s.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + use<> {
        let sorted = std::mem::take(&mut self.held).into_sorted_vec().into_iter();
        sorted.map(|(_, _, id, document)| (id, document))
    }
}

/// How the elements of an array are sorted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ElementOrder {
    /// By the elements themselves.
    Whole { descending: bool },
    /// By fields of the elements.
    Fields(Order),
}

impl ElementOrder {
    /// Compiles `{at: -1}`, `1` or `-1`; any other value is refused with `code`.
    pub(super) fn parse(value: &Bson, code: i32) -> Result<Self> {
        match value {
            Bson::Document(fields) if !fields.is_empty() => Ok(Self::Fields(Order::parse(fields)?)),
            _ => match whole_number(operand(value)?.as_raw_bson_ref()) {
                Some(direction @ (1 | -1)) => Ok(Self::Whole {
                    descending: direction < 0,
                }),
                _ => Err(Error::refused(
                    code,
                    "The $sort element value must be either 1 or -1",
                )),
            },
        }
    }

    /// Bytes that sort as the elements do.
    pub(super) fn key(&self, element: RawBsonRef<'_>) -> Result<Vec<u8>> {
        match self {
            Self::Fields(order) => order.key_of_value(element),
            Self::Whole { descending } => {
                let mut key = key::of(element)?;
                if *descending {
                    key::invert(&mut key);
                }
                Ok(key)
            }
        }
    }
}

/// One field of an order or of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderField {
    /// Where the values are.
    pub(super) path: Path,
    /// Largest first.
    pub(super) descending: bool,
}

impl Order {
    /// Compiles `{at: -1, _id: -1}`.
    pub(super) fn parse(document: &Document) -> Result<Self> {
        let fields = document
            .iter()
            .map(|(name, direction)| {
                if name.starts_with('$') || name.split('.').any(str::is_empty) {
                    return Err(Error::refused(2, format!("cannot sort by '{name}'")));
                }
                match whole(direction) {
                    Some(direction @ (1 | -1)) => Ok(OrderField {
                        path: Path::new(name),
                        descending: direction < 0,
                    }),
                    _ => Err(Error::refused(
                        15975,
                        "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
                    )),
                }
            })
            .collect::<Result<_>>()?;
        Ok(Self { fields })
    }

    /// Whether it asks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Its fields, the most significant first.
    pub(super) fn fields(&self) -> &[OrderField] {
        &self.fields
    }

    /// Bytes that sort as the documents do. An array counts as its smallest element, or its largest going down.
    pub(super) fn key(&self, document: &RawDocument) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for field in &self.fields {
            let keys = key::of_field(document, &field.path, field.descending)?.keys;
            // Inverted keys put the largest element first, so in descending order its key is the smallest, too.
            if let Some((key, _)) = keys.iter().min_by(|a, b| a.0.cmp(&b.0)) {
                bytes.extend_from_slice(key);
            }
        }
        Ok(bytes)
    }

    /// The same for an array element; one that is not a document has none of the fields.
    pub(super) fn key_of_value(&self, value: RawBsonRef<'_>) -> Result<Vec<u8>> {
        match value {
            RawBsonRef::Document(document) => self.key(document),
            _ => Ok(self
                .fields
                .iter()
                .map(|field| if field.descending { !NULL } else { NULL })
                .collect()),
        }
    }

    /// Array elements in this order, compared field by field instead of by keys that would have to be built first.
    /// `None` if a sorted field of an element holds an array, or if the order has a dotted path.
    pub(super) fn sorted_plainly<'a>(
        &self,
        elements: &[RawBsonRef<'a>],
    ) -> Result<Option<Vec<RawBsonRef<'a>>>> {
        let Some((first, others)) = self.fields.split_first() else {
            return Ok(None);
        };
        if self.fields.iter().any(|field| field.path.parts().len() > 1) {
            return Ok(None);
        }
        let mut keyed = Vec::with_capacity(elements.len());
        for element in elements {
            let value = first.value_in(*element)?;
            if matches!(value, RawBsonRef::Array(_)) {
                return Ok(None);
            }
            keyed.push((value, *element));
        }
        let mut failed = None;
        let mut arrays = false;
        let mut compare = |a: &Keyed<'a>, b: &Keyed<'a>| {
            let mut order = first.directed(order_of(a.0, b.0));
            for field in others {
                if order.is_ne() {
                    break;
                }
                match (field.value_in(a.1), field.value_in(b.1)) {
                    (Ok(a), Ok(b)) => {
                        arrays |= matches!(a, RawBsonRef::Array(_)) || matches!(b, RawBsonRef::Array(_));
                        order = field.directed(order_of(a, b));
                    }
                    (Err(error), _) | (_, Err(error)) => failed = Some(error),
                }
            }
            order
        };
        sort_behind(&mut keyed, &mut compare);
        match failed {
            Some(error) => Err(error),
            None if arrays => Ok(None),
            None => Ok(Some(keyed.into_iter().map(|(_, element)| element).collect())),
        }
    }
}

/// An array element after the first value that it is sorted by.
type Keyed<'a> = (RawBsonRef<'a>, RawBsonRef<'a>);

/// How many elements are put in their places one by one.
const FEW: usize = 8;

/// A stable sort, fast for input that is in order except for a few elements at its end, as a push leaves it.
fn sort_behind<T>(items: &mut [T], compare: &mut impl FnMut(&T, &T) -> Ordering) {
    let sorted = (1..items.len())
        .find(|at| compare(&items[at - 1], &items[*at]).is_gt())
        .unwrap_or(items.len());
    if items.len() - sorted > FEW {
        items.sort_by(compare);
        return;
    }
    for at in sorted..items.len() {
        let place = items[..at].partition_point(|before| compare(before, &items[at]).is_le());
        items[place..=at].rotate_right(1);
    }
}

impl OrderField {
    /// The value of a top-level field; null if there is none.
    fn value_in<'a>(&self, element: RawBsonRef<'a>) -> Result<RawBsonRef<'a>> {
        let RawBsonRef::Document(document) = element else {
            return Ok(RawBsonRef::Null);
        };
        Ok(field(document, self.path.root())?.unwrap_or(RawBsonRef::Null))
    }

    fn directed(&self, order: Ordering) -> Ordering {
        if self.descending { order.reverse() } else { order }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, sort_behind};

    #[test]
    fn pushed_elements_sort_after_equal_ones() {
        for pushed in 0..FEW + 3 {
            // Each number with its original index, which distinguishes equal ones.
            let numbers = (0..20).map(|n| n / 2).chain((0..pushed).map(|n| n * 7 % 13));
            let mut sorted: Vec<_> = numbers.zip(0..).collect();
            let mut expected = sorted.clone();
            sort_behind(&mut sorted, &mut |a: &(usize, i32), b: &(usize, i32)| {
                a.0.cmp(&b.0)
            });
            expected.sort_by_key(|numbered| numbered.0);
            assert_eq!(sorted, expected);
        }
    }
}
