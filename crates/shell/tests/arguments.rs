//! Arguments that methods do not take, and what the shell shows of writes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bson::doc;

use support::{are_refused, run};

mod support;

#[test]
fn arguments_that_a_method_does_not_take_are_refused() {
    are_refused(&[
        (
            "db.posts.updateOne({})",
            "MongoshInvalidInputError",
            "a filter and a change",
        ),
        (
            "db.posts.find({}, {}, {wait: 1})",
            "MongoshInvalidInputError",
            "no option `wait`",
        ),
        ("db.posts.deleteOne()", "MongoshInvalidInputError", "a filter"),
        (
            "db.posts.insertOne()",
            "MongoshInvalidInputError",
            "position 0 (Collection.insertOne)",
        ),
        ("db.posts.dropIndex('a_1')", "TypeError", "not available here"),
        ("db.posts.getIndices()", "TypeError", "Use getIndexes"),
        ("db.getRoles()", "TypeError", "db.getRoles is not available here"),
        ("db.stats", "TypeError", "Write db.stats()"),
        (
            "db.getCollection('').find()",
            "MongoshInvalidInputError",
            "name of a collection",
        ),
        (
            "show users",
            "MongoshInvalidInputError",
            "`show users` is not available",
        ),
        (
            "show xyz",
            "MongoshInvalidInputError",
            "[COMMON-10001] 'xyz' is not a valid argument for \"show\".",
        ),
        (
            "db.adminCommand({find: 'posts'})",
            "MongoshInvalidInputError",
            "the database admin, which is not here",
        ),
        (
            "db.posts.findAndModify({update: {$set: {a: 1}}})",
            "MongoshInvalidInputError",
            "[COMMON-10001] Missing required property: \"query\"",
        ),
        (
            "db.posts.findAndModify({query: {_id: 3}})",
            "MongoshInvalidInputError",
            "Must specify options.update or options.remove",
        ),
        (
            "db.dropDatabase()",
            "TypeError",
            "db.dropDatabase is not available here",
        ),
        (
            "db.posts.distinct({})",
            "MongoshInvalidInputError",
            "name of a field",
        ),
        (
            "db.posts.aggregate([1])",
            "MongoshInvalidInputError",
            "array of stages",
        ),
    ]);
}

#[test]
fn arguments_that_a_driver_does_not_take_are_refused_as_by_it() {
    are_refused(&[
        (
            "db.posts.updateOne({}, {a: 1})",
            "MongoInvalidArgumentError",
            "requires atomic operators",
        ),
        (
            "db.posts.replaceOne({}, {$set: {a: 1}})",
            "MongoInvalidArgumentError",
            "must not contain atomic operators",
        ),
        (
            "db.posts.find().limit(null)",
            "MongoInvalidArgumentError",
            "Operation \"limit\" requires an integer",
        ),
        (
            "db.posts.find().maxTimeMS('a')",
            "MongoInvalidArgumentError",
            "Argument for maxTimeMS must be a number",
        ),
        (
            "db.posts.find(1)",
            "MongoInvalidArgumentError",
            "Query filter must be a plain object or ObjectId",
        ),
        (
            "db.posts.find().sort({a: 'up'})",
            "MongoInvalidArgumentError",
            "Invalid sort direction: \"up\"",
        ),
        (
            "db.posts.find({}, {}, {sort: {a: 2}})",
            "MongoInvalidArgumentError",
            "Invalid sort direction: 2",
        ),
        (
            "db.posts.find().sort(1)",
            "MongoInvalidArgumentError",
            "Invalid sort format: 1",
        ),
        (
            "db.posts.insertMany([])",
            "MongoInvalidArgumentError",
            "Invalid BulkOperation, Batch cannot be empty",
        ),
    ]);
}

#[test]
fn a_write_that_is_not_to_be_acknowledged_has_no_numbers() {
    let answer = doc! { "ok": 1.0, "n": 1, "nModified": 1 };
    for (line, expected) in [
        (
            "db.c.insertOne({ _id: 22 }, { writeConcern: { w: 0 } })",
            "{ acknowledged: false, insertedId: 22 }",
        ),
        (
            "db.c.deleteMany({}, { writeConcern: { w: 0 } })",
            "{ acknowledged: false, deletedCount: 0 }",
        ),
        (
            "db.c.deleteMany({}, { writeConcern: { w: 1 } })",
            "{ acknowledged: true, deletedCount: 1 }",
        ),
    ] {
        let (_, shape) = run(line);
        let shell::Shown::Value(shown) = shell::show(&answer, &shape) else {
            panic!("{line}");
        };
        assert_eq!(shell::printed(&shown), expected, "{line}");
    }
}

#[test]
fn an_insert_of_several_says_what_was_inserted_and_what_was_not() {
    let (_, shape) = run("db.c.insertMany([{ _id: 1 }, { _id: 1 }, { _id: 2 }])");
    let error = "E11000 duplicate key error collection: console.c index: _id_ dup key: { _id: 1 }";
    let answer = doc! { "ok": 1.0, "n": 1, "writeErrors": [{ "index": 1, "code": 11000, "errmsg": error }] };
    let shell::Shown::Failed { kind, message } = shell::show(&answer, &shape) else {
        panic!("{answer}");
    };
    assert_eq!(kind, "MongoBulkWriteError");
    let expected = format!(
        "{error}
Result: BulkWriteResult {{
  insertedCount: 1,
  matchedCount: 0,
  modifiedCount: 0,
  deletedCount: 0,
  upsertedCount: 0,
  upsertedIds: {{}},
  insertedIds: {{ '0': 1 }}
}}
Write Errors: [
  WriteError {{
    err: {{
      index: 1,
      code: 11000,
      errmsg: '{error}',
      errInfo: undefined,
      op: {{ _id: 1 }}
    }}
  }}
]"
    );
    assert_eq!(message, expected);
}
