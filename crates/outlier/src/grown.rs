//! Converting an array to which others push all the time.

use bson::{Bson, DateTime, Document, doc};

use crate::convert::Growth;
use crate::state::State;
use crate::{OverflowList, Owner, plain, value_at};
use document::{Error, Result, Update};

/// How many elements may be pushed between reading an array and putting the list in its place.
const GROWTH: usize = 200;

impl OverflowList<'_> {
    /// Like [`convert`](OverflowList::convert), for arrays whose elements become items by
    /// [`plain::elements`], in lists that are ordered by insertion and have no key. What is pushed while the array is
    /// read and its pages are written becomes part of the head, so others may push as fast as they like.
    ///
    /// `read` is called with each array that is read; the last one is what was converted, apart from what was pushed
    /// after it.
    ///
    /// # Errors
    /// As [`convert`](OverflowList::convert), and [`Error::Refused`] for elements that cannot be items. In lists of another order or with
    /// a key, pushed elements have to be read first, which fails if they come faster.
    pub async fn convert_plain(&self, owner: &Owner, read: &(dyn Fn(&[Bson]) + Sync)) -> Result<()> {
        let spec = self.spec();
        let items_of = |document: &Document| {
            let Some(Bson::Array(array)) = value_at(document, &spec.path) else {
                return Ok(Vec::new());
            };
            let elements = plain::elements(spec, array);
            if let Some((place, why)) = elements.unfit.first() {
                let what = format!("`{}.{place}` cannot be an item: {why}", spec.path);
                return Err(Error::refused(2, what));
            }
            read(array);
            Ok(elements.items)
        };
        let any_element_fits = spec.key.is_none() && spec.order.at == plain::AT && spec.order.id == plain::ID;
        let growth = if any_element_fits {
            Growth::Plain
        } else {
            Growth::Refused
        };
        self.convert_as(owner, &items_of, growth).await?;
        self.shorten(owner).await
    }

    /// Replaces the array with the list, if it still begins with the array that the list was made from. Elements after
    /// that become the newest items of the head.
    pub(crate) fn put_with_growth(
        &self,
        owner: &Owner,
        document: &Document,
        seen: &State,
        mut list: Document,
    ) -> Update {
        let array = value_at(document, self.field()).cloned().unwrap_or(Bson::Null);
        let read = array.as_array().map_or(0, Vec::len);
        let now = format!("${}", self.field());
        let long = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        let mut guard = self.still_converting(owner, seen);
        guard.insert(self.field(), doc! { "$type": "array" });
        let grown = doc! { "$subtract": [{ "$size": &now }, long(read)] };
        let mut same = vec![
            doc! { "$gte": [&grown, 0_i64] },
            doc! { "$lte": [&grown, long(GROWTH)] },
        ];
        if read > 0 {
            same.push(doc! { "$eq": [{ "$slice": [&now, long(read)] }, { "$literal": array }] });
        }
        guard.insert("$expr", doc! { "$and": same });

        let stamps: Vec<Document> = (read..read + GROWTH)
            .map(|place| {
                let stamp =
                    doc! { plain::ID: plain::id_at(place), plain::AT: DateTime::from_millis(long(place)) };
                doc! { "place": long(place), "stamp": stamp }
            })
            .collect();
        // A document with a field of ours keeps it inside of `_value`, as anything that is no document.
        let fields = [plain::ID, plain::AT, plain::VALUE].map(|field| {
            doc! { "$eq": [{ "$type": format!("$$element.{field}") }, "missing"] }
        });
        let mut fits = vec![doc! { "$eq": [{ "$type": "$$element" }, "object"] }];
        fits.extend(fields);
        let item = doc! { "$cond": [
            { "$and": fits },
            { "$mergeObjects": ["$$element", "$$new.stamp"] },
            { "$mergeObjects": [{ plain::VALUE: "$$element" }, "$$new.stamp"] },
        ] };
        let item =
            doc! { "$let": { "vars": { "element": { "$arrayElemAt": [&now, "$$new.place"] } }, "in": item } };
        let items = doc! { "$map": {
            "input": { "$slice": [{ "$literal": stamps }, &grown] }, "as": "new", "in": item,
        } };
        let head = list.remove("head").unwrap_or(Bson::Array(Vec::new()));
        let count = list.remove("count").unwrap_or(Bson::Int64(0));
        let list = doc! { "$mergeObjects": [
            {
                "count": { "$add": [count, &grown] },
                "head": { "$concatArrays": [{ "$reverseArray": items }, { "$literal": head }] },
            },
            { "$literal": list },
        ] };
        let change = vec![
            doc! { "$set": { self.field(): list } },
            doc! { "$unset": self.counter() },
        ];
        Update::one(guard, change)
    }
}
