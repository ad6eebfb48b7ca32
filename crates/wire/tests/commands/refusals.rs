//! The words with which commands are refused: those of MongoDB 7.0.

use bson::{Document, doc};

use crate::Shell;

/// Why a command, or the first write in it, was refused.
async fn refusal(shell: &mut Shell, command: Document) -> String {
    let answer = shell.ask(command).await;
    let failed = match answer.get_array("writeErrors") {
        Ok(errors) => errors[0].as_document().unwrap(),
        Err(_) => &answer,
    };
    failed.get_str("errmsg").unwrap_or_default().to_owned()
}

async fn with_a_thing() -> Shell {
    let mut shell = Shell::open().await;
    let thing = doc! { "_id": 1, "a": 5, "s": "x", "l": [1, 2], "big": i64::MAX };
    shell.run(doc! { "insert": "things", "documents": [thing] }).await;
    shell
}

#[tokio::test]
async fn updates_are_refused_with_the_document_that_they_would_change() {
    let mut shell = with_a_thing().await;
    for (update, words) in [
        (
            doc! { "$inc": { "s": 1 } },
            "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 's' of non-numeric type string",
        ),
        (
            doc! { "$inc": { "big": 1 } },
            "Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}",
        ),
        (
            doc! { "$inc": { "a": { "x": "y" } } },
            "Cannot increment with non-numeric argument: {a: { x: \"y\" }}",
        ),
        (
            doc! { "$push": { "a": 1 } },
            "The field 'a' must be an array but is of type int in document {_id: 1}",
        ),
        (
            doc! { "$addToSet": { "a": 1 } },
            "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int",
        ),
        (
            doc! { "$pull": { "a": 1 } },
            "Cannot apply $pull to a non-array value",
        ),
        (
            doc! { "$pop": { "a": 1 } },
            "Path 'a' contains an element of non-array type 'int'",
        ),
        (doc! { "$pop": { "l": 2 } }, "$pop expects 1 or -1, found: 2"),
        (doc! { "$pop": { "l": 1.5 } }, "Expected an integer: l: 1.5"),
        (doc! { "$pop": { "l": "x" } }, "Expected a number in: l: \"x\""),
        (
            doc! { "$set": { "a.b": 1 } },
            "Cannot create field 'b' in element {a: 5}",
        ),
        (
            doc! { "$set": { "l.b": 1 } },
            "Cannot create field 'b' in element {l: [ 1, 2 ]}",
        ),
        (
            doc! { "$set": { "_id": 2 } },
            "Performing an update on the path '_id' would modify the immutable field '_id'",
        ),
        (
            doc! { "$set": 5 },
            "Modifiers operate on fields but we found type int instead. For example: {$mod: {<field>: ...}} not {$set: 5}",
        ),
    ] {
        let write = doc! { "q": { "_id": 1 }, "u": update.clone() };
        let command = doc! { "update": "things", "updates": [write] };
        assert_eq!(refusal(&mut shell, command).await, words, "{update}");
    }
}

#[tokio::test]
async fn find_and_modify_says_when_it_was_refused() {
    let mut shell = with_a_thing().await;
    let while_it_runs = "Plan executor error during findAndModify :: caused by :: ";
    for (update, words) in [
        (
            doc! { "$push": { "a": 1 } },
            format!(
                "{while_it_runs}The field 'a' must be an array but is of type int in document {{_id: 1}}"
            ),
        ),
        (
            doc! { "$inc": { "a": "x" } },
            "Cannot increment with non-numeric argument: {a: \"x\"}".to_owned(),
        ),
    ] {
        let command = doc! { "findAndModify": "things", "query": { "_id": 1 }, "update": update.clone() };
        assert_eq!(refusal(&mut shell, command).await, words, "{update}");
    }
    let unique = doc! { "key": { "a": 1 }, "name": "a_1", "unique": true };
    shell
        .run(doc! { "createIndexes": "things", "indexes": [unique] })
        .await;
    let again = doc! { "findAndModify": "things", "query": { "_id": 2 }, "update": { "$set": { "a": 5 } }, "upsert": true };
    let duplicate = "E11000 duplicate key error collection: spillway.things index: a_1 dup key: { a: 5 }";
    assert_eq!(
        refusal(&mut shell, again).await,
        format!("{while_it_runs}{duplicate}")
    );
}

#[tokio::test]
async fn filters_and_stages_are_refused_with_their_operator() {
    let mut shell = with_a_thing().await;
    for (filter, words) in [
        (
            doc! { "$foo": 1 },
            "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using \
             $getField or $setField.",
        ),
        (doc! { "a": { "$foo": 1 } }, "unknown operator: $foo"),
        (
            doc! { "l": { "$size": "x" } },
            "Failed to parse $size. Expected a number in: $size: \"x\"",
        ),
        (
            doc! { "l": { "$size": -1 } },
            "Failed to parse $size. Expected a non-negative number in: $size: -1",
        ),
        (
            doc! { "l": { "$size": 1.5 } },
            "Failed to parse $size. Expected an integer: $size: 1.5",
        ),
    ] {
        let command = doc! { "find": "things", "filter": filter.clone() };
        assert_eq!(refusal(&mut shell, command).await, words, "{filter}");
    }
    for (stage, words) in [
        (
            doc! { "$limit": -1 },
            "invalid argument to $limit stage: Expected a non-negative number in: $limit: -1",
        ),
        (
            doc! { "$skip": "x" },
            "invalid argument to $skip stage: Expected a number in: $skip: \"x\"",
        ),
        (doc! { "$limit": 0 }, "the limit must be positive"),
        (
            doc! { "$project": { "n": { "$add": [1, "$s"] } } },
            "PlanExecutor error during aggregation :: caused by :: $add only supports numeric or date types, not string",
        ),
        (
            doc! { "$project": { "n": { "$add": [1], "$x": { "y": 1 } } } },
            "Invalid $project :: caused by :: An object representing an expression must have exactly one field: \
             { $add: [ 1 ], $x: { y: 1 } }",
        ),
        (
            doc! { "$set": { "n": { "$foo": 1 } } },
            "Invalid $set :: caused by :: Unrecognized expression '$foo'",
        ),
    ] {
        let command = doc! { "aggregate": "things", "pipeline": [stage.clone()], "cursor": {} };
        assert_eq!(refusal(&mut shell, command).await, words, "{stage}");
    }
}

#[tokio::test]
async fn indexes_are_refused_with_their_specification() {
    let mut shell = with_a_thing().await;
    for (key, why) in [
        (doc! { "a": 0 }, "Values in the index key pattern cannot be 0."),
        (doc! { "a": "foo" }, "Unknown index plugin 'foo'"),
        (
            doc! { "a": true },
            "Values in v:2 index key pattern cannot be of type bool. Only numbers > 0, numbers < 0, and strings are \
             allowed.",
        ),
        (doc! { "a..b": 1 }, "Index keys cannot contain an empty field."),
        (doc! {}, "Index keys cannot be empty."),
        (
            doc! { "a": "text" },
            "the embedded engine does not support 'text' indexes",
        ),
    ] {
        let index = doc! { "key": key.clone(), "name": document::Index::on(key.clone()).name() };
        let command = doc! { "createIndexes": "things", "indexes": [index] };
        let shown = document::dup_key(&key);
        assert_eq!(
            refusal(&mut shell, command).await,
            format!("Error in specification {shown} :: caused by :: {why}")
        );
    }
}
