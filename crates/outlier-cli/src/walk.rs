//! The measurement of the pipeline, here: for servers that lack its operators. It sees documents as raw BSON, one at a
//! time, and keeps nothing of them.

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use outlier::verdict::BUDGET;

use crate::histogram::bucket;
use crate::pipeline::Plan;
use crate::tally::{Cell, Row, Tally};

/// Adds a document.
pub fn document(plan: Plan, document: &RawDocument, tally: &mut Tally) {
    let size = document.as_bytes().len() as u64;
    tally.add(Row::Documents(bucket(size), 1, size, size, size));
    let born = match document.get("_id") {
        Ok(Some(RawBsonRef::ObjectId(id))) => Some(id.timestamp().timestamp_millis()),
        _ => None,
    };
    let age = plan
        .now
        .zip(born)
        .map_or(0, |(now, born)| now.timestamp_millis() - born);
    let mut walk = Walk {
        plan,
        size,
        age: u64::try_from(age).unwrap_or(0),
        tally,
    };
    walk.object(document, "", false, 0);
}

struct Walk<'a> {
    plan: Plan,
    size: u64,
    age: u64,
    tally: &'a mut Tally,
}

impl Walk<'_> {
    fn object(&mut self, object: &RawDocument, path: &str, nested: bool, depth: usize) {
        // A document that is not BSON any more has no further fields.
        for (name, value) in object.iter().map_while(Result::ok) {
            if matches!(value, RawBsonRef::Array(_) | RawBsonRef::Document(_)) {
                self.value(value, &join(path, name.as_str()), nested, depth);
            }
        }
    }

    fn value(&mut self, value: RawBsonRef<'_>, path: &str, nested: bool, depth: usize) {
        if let RawBsonRef::Array(array) = value {
            self.array(array, path, nested);
        }
        let open = match value {
            RawBsonRef::Array(array) => array.into_iter().map_while(Result::ok).any(contains),
            object => contains(object),
        };
        if !open {
            return;
        }
        if depth >= self.plan.levels {
            self.tally.add(Row::Deeper(1));
            return;
        }
        match value {
            RawBsonRef::Array(array) => {
                let path = format!("{path}[]");
                for item in array
                    .into_iter()
                    .map_while(Result::ok)
                    .filter(|item| contains(*item))
                {
                    self.value(item, &path, true, depth + 1);
                }
            }
            RawBsonRef::Document(object) => self.object(object, path, nested, depth + 1),
            _ => {}
        }
    }

    fn array(&mut self, array: &RawArray, path: &str, nested: bool) {
        let (mut items, mut first, mut last) = (0_u64, None, None);
        for item in array.into_iter().map_while(Result::ok) {
            items += 1;
            first = first.or(Some(item));
            last = Some(item);
        }
        let bytes = array.as_bytes().len() as u64;
        let span = first.and_then(date).zip(last.and_then(date));
        let span = span.map_or(0, |(first, last)| first.abs_diff(last));
        let with = |number: u64| if number > 0 { items } else { 0 };
        let documents = matches!(first, Some(RawBsonRef::Document(_)));
        self.tally.add(Row::Arrays(Box::new(Cell {
            path: path.to_owned(),
            nested,
            length_bucket: bucket(items),
            size_bucket: bucket(bytes),
            arrays: 1,
            items,
            bytes,
            fewest: items,
            most: items,
            least_bytes: bytes,
            most_bytes: bytes,
            largest_item: bytes.checked_div(items).unwrap_or(0),
            largest_document: self.size,
            beyond: u64::from(items > self.plan.threshold || bytes > BUDGET),
            dated: with(span),
            span,
            aged: with(self.age),
            age: self.age,
            documents: if documents { items } else { 0 },
            deeper: 0,
        })));
    }
}

/// Whether an item of an array is to be looked into.
fn contains(item: RawBsonRef<'_>) -> bool {
    let container = |value: &RawBsonRef<'_>| matches!(value, RawBsonRef::Array(_) | RawBsonRef::Document(_));
    match item {
        RawBsonRef::Array(_) => true,
        RawBsonRef::Document(object) => object
            .iter()
            .map_while(Result::ok)
            .any(|(_, value)| container(&value)),
        _ => false,
    }
}

fn date(item: RawBsonRef<'_>) -> Option<i64> {
    match item {
        RawBsonRef::DateTime(date) => Some(date.timestamp_millis()),
        RawBsonRef::Document(object) => {
            object
                .iter()
                .map_while(Result::ok)
                .find_map(|(_, value)| match value {
                    RawBsonRef::DateTime(date) => Some(date.timestamp_millis()),
                    _ => None,
                })
        }
        _ => None,
    }
}

/// A path and one more name, with a name that could be mistaken for a path in brackets.
fn join(path: &str, name: &str) -> String {
    let quoted = name.contains('.') || name.starts_with('$');
    let name = if quoted {
        format!("[\"{name}\"]")
    } else {
        name.to_owned()
    };
    if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, Document, RawDocumentBuf, doc};

    use super::*;
    use crate::pipeline::LEVELS;

    fn tally(of: &Document) -> Tally {
        let mut tally = Tally::default();
        let plan = Plan {
            levels: LEVELS[1],
            threshold: 3,
            now: None,
            sample: None,
            single: false,
        };
        document(plan, &RawDocumentBuf::try_from(of).unwrap(), &mut tally);
        tally
    }

    #[test]
    fn every_array_is_found_by_its_path() {
        let found = tally(&doc! {
            "_id": 1,
            "tags": ["a", "b"],
            "empty": [],
            "a": { "b": { "c": [1, 2, 3, 4] } },
            "orders": [{ "n": 1 }, { "items": [1, 2] }, { "items": [3] }],
            "grid": [[1, 2], [3]],
            "dot.ted": ["x"],
            "$dollar": ["x"],
        });
        let lengths: Vec<(&str, u64, u64)> = found
            .paths
            .iter()
            .map(|(path, arrays)| (path.as_str(), arrays.count, arrays.items))
            .collect();
        let expected = [
            ("[\"$dollar\"]", 1, 1),
            ("[\"dot.ted\"]", 1, 1),
            ("a.b.c", 1, 4),
            ("empty", 1, 0),
            ("grid", 1, 2),
            ("grid[]", 2, 3),
            ("orders", 1, 3),
            ("orders[].items", 2, 3),
            ("tags", 1, 2),
        ];
        assert_eq!(lengths, expected);
        assert_eq!(found.paths["a.b.c"].beyond, 1);
        assert!(found.paths["orders[].items"].nested && !found.paths["orders"].nested);
    }

    #[test]
    fn sizes_are_those_of_bson_and_dates_give_a_span() {
        let day = |number: i64| doc! { "at": DateTime::from_millis(number * 86_400_000) };
        let found = tally(&doc! { "_id": 1, "log": [day(1), day(2), day(5)] });
        let log = &found.paths["log"];
        assert_eq!((log.dated, log.span), (3, 4 * 86_400_000));
        // Three documents of 17 bytes, each with its type and index, and the array's length and end.
        assert_eq!(log.bytes, 3 * (17 + 3) + 5);
    }

    #[test]
    fn what_is_too_deep_is_counted() {
        let mut nested = doc! { "list": [1] };
        for _ in 0..=LEVELS[1] {
            nested = doc! { "in": nested };
        }
        // Objects without arrays are no loss, however deep.
        nested.insert("flat", doc! { "a": { "b": { "c": { "d": 1 } } } });
        let found = tally(&nested);
        assert_eq!((found.paths.len(), found.deeper), (0, 1));
    }
}
