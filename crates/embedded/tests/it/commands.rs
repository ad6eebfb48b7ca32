//! Random documents, indexes, queries and updates, whose values are often equal or nearly so.

use bson::{Bson, DateTime, Document, doc};
use document::{Find, Index};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// The fields of the test documents: `a` may be an array, `list` is one of documents, `n` and `m` never hold arrays.
const SCALARS: [&str; 2] = ["n", "m"];

pub fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        6 => (0_i32..4).prop_map(Bson::Int32),
        2 => (0_i64..4).prop_map(Bson::Int64),
        1 => (0_i32..8).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
        1 => select(vec!["", "a", "b\0", "b"]).prop_map(Bson::from),
        1 => (0_i64..3).prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        1 => any::<bool>().prop_map(Bson::Boolean),
        1 => select(vec![Bson::Null, Bson::Double(f64::NAN), Bson::Double(-0.0)]),
    ]
}

fn element() -> impl Strategy<Value = Bson> {
    let document = (option::of(scalar()), scalar()).prop_map(|(x, y)| {
        let mut element = doc! { "y": y };
        if let Some(x) = x {
            element.insert("x", x);
        }
        Bson::Document(element)
    });
    prop_oneof![5 => document, 1 => scalar()]
}

pub fn document() -> impl Strategy<Value = Document> {
    let nested = prop_oneof![9 => scalar(), 1 => vec(scalar(), 0..3).prop_map(Bson::Array)];
    let a = prop_oneof![1 => scalar(), 1 => vec(nested, 0..4).prop_map(Bson::Array)];
    let fields = (
        option::of(a),
        option::of(scalar()),
        option::weighted(0.9, scalar()),
        option::of(vec(element(), 0..3).prop_map(Bson::Array)),
    );
    fields.prop_map(|(a, n, m, list)| {
        let named = [("a", a), ("n", n), ("m", m), ("list", list)];
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    })
}

fn field() -> impl Strategy<Value = &'static str> {
    select(vec![
        "a", "a", "a.0", "n", "n", "m", "m", "list.x", "list.y", "list.0.x", "_id", "missing",
    ])
}

fn comparison() -> impl Strategy<Value = &'static str> {
    select(vec!["$eq", "$gt", "$gte", "$lt", "$lte"])
}

/// A condition on the values of a field.
fn test() -> impl Strategy<Value = Bson> {
    let types = vec![
        "int", "long", "double", "string", "object", "array", "bool", "date", "null",
    ];
    prop_oneof![
        4 => scalar().prop_filter("a plain value", |value| !matches!(value, Bson::Document(_))),
        4 => (comparison(), scalar()).prop_map(|(name, value)| Bson::Document(doc! { name: value })),
        2 => (scalar(), scalar()).prop_map(|(low, high)| Bson::Document(doc! { "$gte": low, "$lt": high })),
        2 => vec(scalar(), 0..4).prop_map(|values| Bson::Document(doc! { "$in": values })),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "$ne": value })),
        1 => vec(scalar(), 0..3).prop_map(|values| Bson::Document(doc! { "$nin": values })),
        1 => any::<bool>().prop_map(|exists| Bson::Document(doc! { "$exists": exists })),
        1 => (comparison(), scalar()).prop_map(|(name, value)| Bson::Document(doc! { "$not": { name: value } })),
        1 => vec(scalar(), 0..3).prop_map(|values| Bson::Document(doc! { "$all": values })),
        1 => (0_i32..3).prop_map(|size| Bson::Document(doc! { "$size": size })),
        1 => select(types).prop_map(|name| Bson::Document(doc! { "$type": name })),
        1 => (scalar(), scalar())
            .prop_map(|(low, high)| Bson::Document(doc! { "$elemMatch": { "$gte": low, "$lte": high } })),
        1 => vec(scalar(), 1..3).prop_map(Bson::Array),
    ]
}

fn condition() -> impl Strategy<Value = Document> {
    let in_list = (scalar(), scalar())
        .prop_map(|(x, y)| doc! { "list": { "$elemMatch": { "x": x, "y": { "$gte": y } } } });
    // The query for a page of a list that starts after a cursor.
    let after = (select(SCALARS.to_vec()), scalar(), 0_i32..20, any::<bool>()).prop_map(
        |(field, value, id, down)| {
            let side = if down { "$lt" } else { "$gt" };
            doc! { "$or": [{ field: { side: &value } }, { field: &value, "_id": { side: id } }] }
        },
    );
    // Values near the edges of the partial indexes.
    let near = (comparison(), 0_i32..3, comparison(), 1_i32..4)
        .prop_map(|(of_m, m, of_n, n)| doc! { "m": { of_m: m }, "n": { of_n: n } });
    let range = (select(vec!["a", "list.x", "n", "m"]), comparison(), 0_i32..3)
        .prop_map(|(field, side, value)| doc! { field: { side: value } });
    prop_oneof![
        6 => (field(), test()).prop_map(|(field, test)| doc! { field: test }),
        3 => range,
        1 => in_list,
        2 => after,
        2 => near,
    ]
}

pub fn filter() -> impl Strategy<Value = Document> {
    let nested = condition().prop_recursive(2, 8, 3, |inner| {
        let operator = select(vec!["$and", "$and", "$or", "$or", "$nor"]);
        (operator, vec(inner, 1..4)).prop_map(|(name, branches)| doc! { name: branches })
    });
    prop_oneof![9 => nested, 1 => Just(Document::new())]
}

/// An order in which no two documents are equal.
pub fn order() -> impl Strategy<Value = Document> {
    let direction = || select(vec![1, -1]);
    let fields = vec((field(), direction()), 0..3);
    (fields, direction()).prop_map(|(fields, last)| {
        let mut order: Document = fields
            .into_iter()
            .filter(|(field, _)| *field != "_id")
            .map(|(field, direction)| (field.to_owned(), Bson::Int32(direction)))
            .collect();
        order.insert("_id", last);
        order
    })
}

pub fn projection() -> impl Strategy<Value = Document> {
    let slice = prop_oneof![
        (-2_i32..3).prop_map(Bson::Int32),
        (-3_i32..3, 1_i32..3).prop_map(|(skip, take)| Bson::Array(vec![skip.into(), take.into()])),
    ];
    prop_oneof![
        2 => Just(Document::new()),
        3 => (subsequence(vec!["a", "n", "m"], 1..=3), any::<bool>()).prop_map(|(fields, id)| {
            let mut projection: Document = fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(1))).collect();
            if !id {
                projection.insert("_id", 0);
            }
            projection
        }),
        1 => Just(doc! { "_id": 1 }),
        1 => subsequence(vec!["list.x", "list.y", "n"], 1..=3)
            .prop_map(|fields| fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(1))).collect()),
        1 => subsequence(vec!["a", "list.x", "n"], 1..=3)
            .prop_map(|fields| fields.into_iter().map(|name| (name.to_owned(), Bson::Int32(0))).collect()),
        1 => slice.clone().prop_map(|slice| doc! { "list": { "$slice": slice } }),
        1 => slice.prop_map(|slice| doc! { "list": { "$slice": slice }, "n": 1 }),
        1 => scalar().prop_map(|x| doc! { "list": { "$elemMatch": { "x": x } } }),
        1 => scalar().prop_map(|low| doc! { "a": { "$elemMatch": { "$gte": low } }, "n": 1 }),
    ]
}

pub fn find() -> impl Strategy<Value = Find> {
    let sorted = (filter(), order(), projection(), 0_u64..3, 0_u64..6).prop_map(
        |(filter, sort, projection, skip, limit)| Find {
            filter,
            projection,
            sort,
            skip,
            limit,
        },
    );
    let unsorted = (filter(), projection()).prop_map(|(filter, projection)| {
        let mut find = Find::matching(filter).project(projection);
        // Results without an order are sorted by their `_id`.
        find.projection.remove("_id");
        find
    });
    // The newest of several, after a cursor or not: these runs are merged.
    let several = (
        any::<bool>(),
        vec(0_i32..4, 1..4),
        option::of(condition()),
        any::<bool>(),
        1_u64..6,
    );
    let merged = several.prop_map(|(swapped, values, also, down, limit)| {
        let (several, by) = if swapped { ("m", "n") } else { ("n", "m") };
        let also: Vec<Document> = also
            .into_iter()
            .chain([doc! { several: { "$in": values } }])
            .collect();
        let direction = if down { -1 } else { 1 };
        Find::matching(doc! { "$and": also })
            .sort(doc! { by: direction, "_id": direction })
            .limit(limit)
    });
    prop_oneof![3 => sorted, 1 => unsorted, 2 => merged]
}

pub fn update() -> impl Strategy<Value = Document> {
    let anywhere = || select(vec!["a", "n", "m", "list.0.x", "list.1", "n.x"]);
    let in_arrays = || select(vec!["a", "list"]);
    let number = prop_oneof![
        (1_i32..3).prop_map(Bson::Int32),
        (1_i64..3).prop_map(Bson::Int64),
        Just(Bson::Double(0.5))
    ];
    let push = (
        vec(element(), 0..3),
        option::of(-2_i32..3),
        option::of(-3_i32..4),
        option::of(select(vec![
            Bson::from(1),
            Bson::from(-1),
            Bson::from(doc! { "y": 1 }),
            Bson::from(doc! { "y": -1 }),
        ])),
    );
    let push = push.prop_map(|(each, position, slice, sort)| {
        let mut modifiers = doc! { "$each": each };
        if let Some(position) = position {
            modifiers.insert("$position", position);
        }
        if let Some(slice) = slice {
            modifiers.insert("$slice", slice);
        }
        if let Some(sort) = sort {
            modifiers.insert("$sort", sort);
        }
        modifiers
    });
    prop_oneof![
        4 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$set": { field: value } }),
        2 => (scalar(), scalar()).prop_map(|(n, m)| doc! { "$set": { "n": n }, "$setOnInsert": { "m": m } }),
        2 => anywhere().prop_map(|field| doc! { "$unset": { field: 1 } }),
        2 => (anywhere(), number).prop_map(|(field, by)| doc! { "$inc": { field: by } }),
        1 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$min": { field: value } }),
        1 => (anywhere(), scalar()).prop_map(|(field, value)| doc! { "$max": { field: value } }),
        1 => scalar().prop_map(|value| doc! { "$push": { "a": value } }),
        2 => push.prop_map(|modifiers| doc! { "$push": { "list": modifiers } }),
        1 => scalar().prop_map(|value| doc! { "$addToSet": { "a": value } }),
        1 => vec(scalar(), 0..3).prop_map(|each| doc! { "$addToSet": { "a": { "$each": each } } }),
        1 => scalar().prop_map(|value| doc! { "$pull": { "a": value } }),
        1 => scalar().prop_map(|low| doc! { "$pull": { "a": { "$gte": low } } }),
        1 => (scalar(), scalar()).prop_map(|(x, y)| doc! { "$pull": { "list": { "x": x, "y": { "$ne": y } } } }),
        1 => vec(scalar(), 0..3).prop_map(|values| doc! { "$pullAll": { "a": values } }),
        1 => (in_arrays(), select(vec![1, -1])).prop_map(|(field, end)| doc! { "$pop": { field: end } }),
    ]
}

pub fn indexes() -> impl Strategy<Value = Vec<Index>> {
    let pool = vec![
        Index::on(doc! { "a": 1 }),
        Index::on(doc! { "n": 1 }),
        Index::on(doc! { "n": -1, "a": 1 }),
        Index::on(doc! { "n": 1, "_id": -1 }),
        Index::on(doc! { "list.x": 1, "n": 1 }),
        Index::on(doc! { "a": -1, "n": -1, "_id": -1 }),
        Index::on(doc! { "n": 1, "m": -1, "_id": -1 }),
        Index::on(doc! { "m": 1, "n": 1 }),
        Index::on(doc! { "m": -1, "_id": 1 }).only(doc! { "n": { "$gte": 1 } }),
        Index::on(doc! { "n": -1, "m": 1 }).only(doc! { "a": { "$exists": true } }),
        Index::on(doc! { "m": -1 }).only(doc! { "m": { "$gt": 0 }, "n": { "$lt": 3 } }),
        Index::unique_on(doc! { "n": 1, "m": 1, "a": 1 }),
        Index::unique_on(doc! { "m": 1, "list.y": 1 }).only(doc! { "n": { "$in": [1, 2] } }),
    ];
    subsequence(pool, 0..9)
}
