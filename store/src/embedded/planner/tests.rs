#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use std::sync::Arc;

use bson::{Document, doc};

use super::plan;
use crate::embedded::filter::Filter;
use crate::embedded::index::Definition;
use crate::embedded::sort::Order;
use crate::port::Index;

/// The feed's indexes.
fn indexes() -> Vec<Arc<Definition>> {
    let definition = |index: Index, multikey: Option<usize>| {
        let mut definition = Definition::new(&index).unwrap();
        if let Some(field) = multikey {
            definition.multikey[field] = true;
        }
        Arc::new(definition)
    };
    vec![
        definition(
            Index::unique_on(doc! { "owner": 1, "relation": 1, "page": 1 }),
            None,
        ),
        definition(
            Index::on(doc! { "owner": 1, "relation": 1, "items.by": 1 }),
            Some(2),
        ),
        definition(
            Index::on(doc! { "owner": 1, "relation": 1, "items.id": 1 }),
            Some(2),
        ),
        definition(
            Index::on(doc! { "owner": 1, "relation": 1, "last": 1, "page": 1 }),
            None,
        ),
        definition(Index::on(doc! { "author": 1, "at": -1, "_id": -1 }), None),
        definition(Index::on(doc! { "at": -1, "_id": -1 }), None),
        definition(Index::on(doc! { "likes.count": -1, "_id": -1 }), None),
        definition(Index::on(doc! { "tags": 1 }), Some(0)),
    ]
}

#[track_caller]
fn assert_plan(filter: Document, sort: Document, limited: bool, expected: &str) {
    let plan = plan(
        &Filter::parse(&filter).unwrap(),
        &Order::parse(&sort).unwrap(),
        limited,
        &indexes(),
    );
    assert_eq!(plan.to_string(), expected, "{filter} sorted by {sort}");
}

#[test]
fn ids_are_looked_up() {
    assert_plan(doc! { "_id": 1 }, doc! {}, false, "ids 1");
    assert_plan(
        doc! { "_id": { "$in": [3, 1, 3] }, "author": "a" },
        doc! {},
        false,
        "ids 2",
    );
    assert_plan(
        doc! { "_id": { "$in": [1, 2] } },
        doc! { "_id": -1 },
        true,
        "ids 2 ordered backwards",
    );
    assert_plan(
        doc! { "$and": [{ "_id": 1 }, { "_id": 2 }] },
        doc! {},
        false,
        "ids 0",
    );
    assert_plan(
        doc! { "_id": { "$gt": 3 } },
        doc! { "_id": 1 },
        true,
        "collection by _id range ordered",
    );
}

#[test]
fn pages_are_found_by_number_and_by_item() {
    let page = |field: &str| doc! { "owner": "o", "relation": "likes", field: 1 };
    assert_plan(
        page("page"),
        doc! {},
        false,
        "index owner_1_relation_1_page_1 eq 3",
    );
    assert_plan(
        page("items.by"),
        doc! {},
        false,
        "index owner_1_relation_1_items.by_1 eq 3",
    );
    assert_plan(
        page("items.id"),
        doc! {},
        false,
        "index owner_1_relation_1_items.id_1 eq 3",
    );
    let any = doc! { "owner": "o", "relation": "likes", "items.by": { "$in": ["a", "b"] } };
    assert_plan(any, doc! {}, false, "index owner_1_relation_1_items.by_1 eq 3 x2");
    let element =
        doc! { "owner": "o", "relation": "likes", "items": { "$elemMatch": { "by": "a", "at": 1 } } };
    assert_plan(
        element,
        doc! {},
        false,
        "index owner_1_relation_1_items.by_1 eq 3",
    );
}

#[test]
fn a_scroll_through_pages_starts_where_it_left_off() {
    let filter = doc! { "owner": "o", "relation": "likes", "page": { "$lt": 9 }, "last": { "$lte": 5 } };
    assert_plan(
        filter.clone(),
        doc! { "last": -1, "page": -1 },
        true,
        "index owner_1_relation_1_last_1_page_1 eq 2 range ordered backwards",
    );
    assert_plan(
        filter,
        doc! { "page": -1 },
        true,
        "index owner_1_relation_1_page_1 eq 2 range ordered backwards",
    );
}

#[test]
fn feeds_are_read_from_the_cursor_on() {
    let newest = doc! { "at": -1, "_id": -1 };
    assert_plan(doc! {}, newest.clone(), true, "index at_-1__id_-1 eq 0 ordered");
    assert_plan(
        doc! { "author": "a" },
        newest.clone(),
        true,
        "index author_1_at_-1__id_-1 eq 1 ordered",
    );
    let cursor = doc! { "$or": [{ "at": { "$lt": 5 } }, { "at": 5, "_id": { "$lt": 3 } }] };
    assert_plan(
        cursor.clone(),
        newest.clone(),
        true,
        "index at_-1__id_-1 eq 0 range ordered",
    );
    let own = doc! { "author": "a", "$and": [cursor] };
    assert_plan(
        own,
        newest,
        true,
        "index author_1_at_-1__id_-1 eq 1 range ordered",
    );
    let most = doc! { "$or": [{ "likes.count": { "$lt": 5 } }, { "likes.count": 5, "_id": { "$lt": 3 } }] };
    assert_plan(
        most,
        doc! { "likes.count": -1, "_id": -1 },
        true,
        "index likes.count_-1__id_-1 eq 0 range ordered",
    );
}

#[test]
fn a_cursor_condition_starts_the_scan_at_the_cursor() {
    let at = |condition: Document| {
        let order = Order::parse(&doc! { "at": -1, "_id": -1 }).unwrap();
        plan(&Filter::parse(&condition).unwrap(), &order, true, &indexes()).ranges
    };
    let cursor = at(doc! { "$or": [{ "at": { "$lt": 5 } }, { "at": 5, "_id": { "$lt": 3 } }] });
    assert_eq!(cursor, at(doc! { "at": { "$lte": 5 } }));
}

#[test]
fn arrays_neither_sort_nor_combine_bounds() {
    assert_plan(
        doc! { "tags": { "$gt": "a" } },
        doc! { "tags": 1 },
        true,
        "index tags_1 eq 0 range",
    );
    let between = plan(
        &Filter::parse(&doc! { "tags": { "$gt": "m", "$lt": "c" } }).unwrap(),
        &Order::default(),
        false,
        &indexes(),
    );
    assert_eq!(
        between.ranges.len(),
        1,
        "one element can be above m and another below c"
    );
}

#[test]
fn what_no_index_serves_is_a_scan() {
    assert_plan(doc! { "text": "x" }, doc! {}, false, "collection scan");
    assert_plan(
        doc! { "owner": { "$ne": "o" } },
        doc! {},
        false,
        "collection scan",
    );
    assert_plan(doc! {}, doc! { "at": -1, "_id": -1 }, false, "collection scan");
    assert_plan(doc! {}, doc! { "at": -1, "_id": 1 }, true, "collection scan");
    assert_plan(
        doc! { "$or": [{ "author": "a" }, { "owner": "o" }] },
        doc! {},
        false,
        "collection scan",
    );
    assert_plan(
        doc! { "$or": [{ "author": "a" }, { "author": "b" }] },
        doc! {},
        false,
        "index author_1_at_-1__id_-1 eq 1 x2",
    );
}
