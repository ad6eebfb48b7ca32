#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use bson::{Document, RawDocumentBuf, doc};

use super::Projection;
use document::Error;

#[track_caller]
fn assert_projects(projection: Document, document: &Document, expected: Document) {
    let encoded = RawDocumentBuf::try_from(document).unwrap();
    let compiled = Projection::parse(&projection).unwrap();
    assert_eq!(compiled.apply(&encoded).unwrap(), expected, "{projection}");
    let expected = RawDocumentBuf::try_from(&expected).unwrap();
    assert_eq!(compiled.encode(&encoded).unwrap(), expected, "{projection}");
}

#[test]
fn fields_are_included_or_excluded() {
    let post = doc! { "_id": 1, "a": 1, "b": { "c": 2, "d": 3 }, "e": [{ "x": 1, "y": 2 }, 5] };
    assert_projects(doc! {}, &post, post.clone());
    assert_projects(doc! { "a": 1 }, &post, doc! { "_id": 1, "a": 1 });
    assert_projects(doc! { "_id": 0, "a": true }, &post, doc! { "a": 1 });
    assert_projects(doc! { "_id": 1 }, &post, doc! { "_id": 1 });
    assert_projects(
        doc! { "b.c": 1, "e.x": 1 },
        &post,
        doc! { "_id": 1, "b": { "c": 2 }, "e": [{ "x": 1 }] },
    );
    assert_projects(
        doc! { "b.c": 1, "b.d": 1, "_id": 0 },
        &post,
        doc! { "b": { "c": 2, "d": 3 } },
    );
    assert_projects(doc! { "a.z": 1 }, &post, doc! { "_id": 1 });
    assert_projects(
        doc! { "_id": 0, "e": 0 },
        &post,
        doc! { "a": 1, "b": { "c": 2, "d": 3 } },
    );
    assert_projects(
        doc! { "b.c": 0, "e.x": 0 },
        &post,
        doc! { "_id": 1, "a": 1, "b": { "d": 3 }, "e": [{ "y": 2 }, 5] },
    );
}

#[test]
fn arrays_are_sliced() {
    let list = doc! { "_id": 1, "a": [1, 2, 3, 4], "b": { "c": [5, 6] }, "d": 7 };
    assert_projects(
        doc! { "a": { "$slice": 2 }, "d": 1 },
        &list,
        doc! { "_id": 1, "a": [1, 2], "d": 7 },
    );
    assert_projects(
        doc! { "a": { "$slice": -1 }, "b": 0 },
        &list,
        doc! { "_id": 1, "a": [4], "d": 7 },
    );
    assert_projects(
        doc! { "a": { "$slice": [1, 2] }, "d": 1 },
        &list,
        doc! { "_id": 1, "a": [2, 3], "d": 7 },
    );
    assert_projects(
        doc! { "a": { "$slice": [-3, 2] }, "d": 1 },
        &list,
        doc! { "_id": 1, "a": [2, 3], "d": 7 },
    );
    assert_projects(
        doc! { "b.c": { "$slice": 1 } },
        &list,
        doc! { "_id": 1, "a": [1, 2, 3, 4], "b": { "c": [5] }, "d": 7 },
    );
    assert_projects(
        doc! { "d": { "$slice": 1 }, "_id": 1 },
        &list,
        doc! { "_id": 1, "d": 7 },
    );
}

#[test]
fn the_first_matching_element_is_picked() {
    let list = doc! { "_id": 1, "a": [{ "x": 1 }, { "x": 2, "y": 1 }, { "x": 2 }], "n": [1, 5, 9] };
    assert_projects(
        doc! { "a": { "$elemMatch": { "x": 2 } } },
        &list,
        doc! { "_id": 1, "a": [{ "x": 2, "y": 1 }] },
    );
    assert_projects(
        doc! { "n": { "$elemMatch": { "$gt": 1 } } },
        &list,
        doc! { "_id": 1, "n": [5] },
    );
    assert_projects(
        doc! { "a": { "$elemMatch": { "x": 3 } } },
        &list,
        doc! { "_id": 1 },
    );
}

#[test]
fn mixtures_and_expressions_are_refused() {
    for (projection, expected) in [
        (doc! { "a": 1, "b": 0 }, 31254),
        (doc! { "a": 0, "b": 1 }, 31253),
        (doc! { "a": 1, "a.b": 1 }, 31249),
        (doc! { "a.b": 1, "a": 1 }, 31250),
        (doc! { "a": { "$meta": "x" } }, 2),
        (doc! { "a": "$b" }, 2),
        (doc! { "a.$": 1 }, 2),
        (doc! { "a": { "$slice": [1, 0] } }, 28724),
        (doc! { "a.b": { "$elemMatch": { "x": 1 } } }, 31275),
    ] {
        match Projection::parse(&projection) {
            Err(Error::Refused { code, .. }) => assert_eq!(code, expected, "{projection}"),
            other => panic!("{projection}: {other:?}"),
        }
    }
}
