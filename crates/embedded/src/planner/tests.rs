#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use std::sync::Arc;

use bson::{Document, doc};

use super::{Plan, Range};
use crate::index::Definition;
use crate::query::Query;
use document::Index;

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

fn plan(filter: &Document, sort: &Document, limited: bool) -> Plan {
    let query = Query::parse(filter, sort, 0, u64::from(limited)).unwrap();
    super::plan(&query, &indexes())
}

fn ranges(plan: &Plan) -> Vec<Range> {
    plan.runs.iter().flat_map(|run| run.ranges.clone()).collect()
}

#[track_caller]
fn assert_plan(filter: Document, sort: Document, limited: bool, expected: &str) {
    let plan = plan(&filter, &sort, limited);
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
fn of_two_indexes_with_as_many_equalities_the_one_that_ends_there_is_taken() {
    let wide = Index::on(doc! { "owner": 1, "born": 1, "page": 1 });
    let exact = Index::on(doc! { "owner": 1, "items.by": 1 });
    let both = [wide, exact].map(|index| Arc::new(Definition::new(&index).unwrap()));
    let filter = doc! { "owner": "o", "born": 1, "items.by": "a" };
    let query = Query::parse(&filter, &doc! {}, 0, 0).unwrap();
    assert_eq!(
        super::plan(&query, &both).to_string(),
        "index owner_1_items.by_1 eq 2"
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
        "index at_-1__id_-1 eq 0 range x2 ordered",
    );
    let own = doc! { "author": "a", "$and": [cursor] };
    assert_plan(
        own,
        newest,
        true,
        "index author_1_at_-1__id_-1 eq 1 range x2 ordered",
    );
    let most = doc! { "$or": [{ "likes.count": { "$lt": 5 } }, { "likes.count": 5, "_id": { "$lt": 3 } }] };
    assert_plan(
        most,
        doc! { "likes.count": -1, "_id": -1 },
        true,
        "index likes.count_-1__id_-1 eq 0 range x2 ordered",
    );
}

#[test]
fn a_cursor_condition_starts_the_scan_at_the_cursor() {
    let newest = doc! { "at": -1, "_id": -1 };
    let cursor = doc! { "$or": [{ "at": { "$lt": 5 } }, { "at": 5, "_id": { "$lt": 3 } }] };
    let from_cursor = ranges(&plan(&cursor, &newest, true));
    let among_ties = ranges(&plan(&doc! { "at": 5, "_id": { "$lt": 3 } }, &newest, true));
    let below = ranges(&plan(&doc! { "at": { "$lt": 5 } }, &newest, true));
    assert_eq!(from_cursor, [among_ties, below].concat());
}

#[test]
fn an_order_within_each_of_several_equalities_is_merged() {
    let newest = doc! { "at": -1, "_id": -1 };
    let authors = doc! { "author": { "$in": ["a", "b", "c"] } };
    assert_plan(
        authors.clone(),
        newest.clone(),
        true,
        "index author_1_at_-1__id_-1 eq 1 x3 merged",
    );
    assert_plan(
        authors.clone(),
        doc! { "at": 1, "_id": 1 },
        true,
        "index author_1_at_-1__id_-1 eq 1 x3 merged backwards",
    );
    assert_plan(
        authors.clone(),
        doc! { "author": 1, "at": -1 },
        true,
        "index author_1_at_-1__id_-1 eq 1 x3 ordered",
    );
    assert_plan(
        authors.clone(),
        doc! { "author": -1, "at": -1 },
        true,
        "index author_1_at_-1__id_-1 eq 1 x3",
    );
    let mut after = authors;
    after.insert(
        "$or",
        vec![doc! { "at": { "$lt": 5 } }, doc! { "at": 5, "_id": { "$lt": 3 } }],
    );
    let plan = plan(&after, &newest, true);
    assert_eq!(
        plan.to_string(),
        "index author_1_at_-1__id_-1 eq 1 range x6 merged"
    );
    assert_eq!(plan.runs.len(), 3);
}

#[test]
fn a_partial_index_serves_only_queries_that_imply_its_filter() {
    let partial = Index::on(doc! { "at": 1 }).only(doc! { "open": true, "n": { "$gt": 3 } });
    let indexes = [Arc::new(Definition::new(&partial).unwrap())];
    for (filter, expected) in [
        (doc! { "at": 1 }, "collection scan"),
        (doc! { "at": 1, "open": true, "n": 3 }, "collection scan"),
        (doc! { "at": 1, "open": true, "n": 4 }, "index at_1 eq 1"),
        (doc! { "open": true, "n": { "$gte": 4 } }, "index at_1 eq 0"),
    ] {
        let query = Query::parse(&filter, &doc! {}, 0, 0).unwrap();
        assert_eq!(super::plan(&query, &indexes).to_string(), expected, "{filter}");
    }
}

#[test]
fn an_index_with_all_requested_fields_covers_the_query() {
    let fields = doc! { "owner": 1, "relation": 1, "born": 1, "last": 1, "page": 1, "count": 1 };
    let mut indexes = indexes();
    indexes.push(Arc::new(Definition::new(&Index::on(fields)).unwrap()));
    let filter = doc! { "owner": "o", "relation": "likes", "born": 1_i64, "last": { "$gte": 5_i64 } };
    let query = Query::parse(&filter, &doc! {}, 0, 0).unwrap();
    let name = "index owner_1_relation_1_born_1_last_1_page_1_count_1 eq 3 range";
    assert_eq!(super::plan(&query, &indexes).to_string(), name);
    for (needs, covered) in [
        (vec!["page", "count"], true),
        (vec!["page", "_id"], true),
        (Vec::new(), true),
        (vec!["page", "items"], false),
    ] {
        let query = query
            .clone()
            .needing(Some(needs.into_iter().map(str::to_owned).collect()));
        let plan = super::plan(&query, &indexes);
        assert_eq!(
            plan.to_string(),
            format!("{name}{}", if covered { " covered" } else { "" })
        );
    }
}

#[test]
fn arrays_neither_sort_nor_combine_bounds() {
    assert_plan(
        doc! { "tags": { "$gt": "a" } },
        doc! { "tags": 1 },
        true,
        "index tags_1 eq 0 range",
    );
    let between = plan(&doc! { "tags": { "$gt": "m", "$lt": "c" } }, &doc! {}, false);
    assert_eq!(
        ranges(&between).len(),
        1,
        "one element can be above m and another below c"
    );
}

#[test]
fn conditions_on_one_element_of_an_array_combine_their_bounds() {
    let first_of = |filter| ranges(&plan(&filter, &doc! {}, true))[0].clone();
    let within = first_of(doc! { "tags": { "$elemMatch": { "$gte": "b", "$lt": "c" } } });
    let (from, _) = first_of(doc! { "tags": { "$gte": "b" } });
    let (_, to) = first_of(doc! { "tags": { "$lt": "c" } });
    assert_eq!(within, (from, to));
}

#[test]
fn a_query_without_a_usable_index_is_a_scan() {
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
