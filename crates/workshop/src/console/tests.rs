use super::*;

async fn text(console: &mut Console, line: &str) -> String {
    console.enter(line).await.unwrap().text.clone()
}

async fn cost(console: &mut Console, line: &str) -> Option<String> {
    console.enter(line).await.unwrap().cost.clone()
}

#[tokio::test]
async fn a_console_begins_with_a_post_whose_likes_overflow() {
    let mut console = Console::open().await.unwrap();
    let screen = console.screen().await.unwrap();
    assert_eq!(screen.collections, ["pages", "posts", "users"]);
    assert_eq!(screen.after.len(), 4);
    let likes = screen.after[0].document.get_document("likes").unwrap();
    assert_eq!(likes.get_i64("count").unwrap(), 12);
    assert_eq!(
        text(&mut console, "db.pages.countDocuments({relation: 'likes'})").await,
        "3"
    );
    assert_eq!(
        text(&mut console, "show collections").await,
        "pages\nposts\nusers"
    );
    assert_eq!(text(&mut console, "db.posts").await, "console.posts");
}

#[tokio::test]
async fn lines_are_answered_as_by_the_shell_with_what_they_cost() {
    let mut console = Console::open().await.unwrap();
    for (line, expected) in [
        (
            "db.c.insertOne({_id: 1, a: [1]})",
            "{ acknowledged: true, insertedId: 1 }",
        ),
        (
            "db.c.updateOne({_id: 1}, {$push: {a: 2}})",
            "{\n  acknowledged: true,\n  insertedId: null,\n  matchedCount: 1,\n  modifiedCount: 1,\n  upsertedCount: 0\n}",
        ),
        ("db.c.findOne({_id: 1})", "{ _id: 1, a: [ 1, 2 ] }"),
        ("db.c.find({}, {a: 0})", "[ { _id: 1 } ]"),
        ("db.c.findOne({_id: 9})", "null"),
        ("db.c.distinct('a')", "[ 1, 2 ]"),
        ("db.c.createIndex({a: 1})", "a_1"),
        ("db.c.deleteMany({})", "{ acknowledged: true, deletedCount: 1 }"),
        (
            "db.c.insertMany([{_id: 3}, {_id: 4}])",
            "{ acknowledged: true, insertedIds: { '0': 3, '1': 4 } }",
        ),
        ("db.c.aggregate([{$count: 'n'}])", "[ { n: 2 } ]"),
        ("db.c.find({_id: 9})", ""),
        ("db.e.createIndexes([{b: 1}])", "[ 'b_1' ]"),
        ("db.createCollection('d')", "{ ok: 1 }"),
        ("show collections", "c\nd\ne\npages\nposts\nusers"),
        ("use console", "already on db console"),
        ("db.c.find().hasNext()", "true"),
        ("db.d.find().hasNext()", "false"),
    ] {
        assert_eq!(text(&mut console, line).await, expected, "{line}");
    }
    for (line, expected) in [
        ("db.c.findOne({_id: 3})", Some("1 document, 14 bytes read")),
        ("db.c.insertOne({_id: 5})", Some("1 document, 14 bytes written")),
        ("db.c.find({_id: 9})", Some("no document read")),
        (
            "db.c.find({b: 1}).explain()",
            Some("It reads the whole collection."),
        ),
        (
            "db.c.find({_id: 3}).explain('executionStats')",
            Some("It finds the document by its _id. It did: 1 document, 14 bytes read."),
        ),
        (
            "db.c.find({a: 1}).explain()",
            Some("It reads a range of the index a_1."),
        ),
        (
            "db.c.deleteMany({_id: 5})",
            Some("2 documents, 28 bytes read; 1 document removed"),
        ),
        ("help", None),
        ("db.c.find(", None),
    ] {
        assert_eq!(cost(&mut console, line).await.as_deref(), expected, "{line}");
    }
}

#[tokio::test]
async fn a_cursor_goes_on_with_it_and_an_array_is_whole() {
    let mut console = Console::open().await.unwrap();
    let documents: Vec<String> = (0..45).map(|nth| format!("{{_id: {nth}}}")).collect();
    console
        .enter(&format!("db.c.insertMany([{}])", documents.join(",")))
        .await
        .unwrap();
    let mut found = Vec::new();
    for line in ["db.c.find()", "it", "it"] {
        let text = text(&mut console, line).await;
        found.push((text.matches("_id").count(), text.contains("Type \"it\" for more")));
    }
    assert_eq!(found, [(20, true), (20, true), (5, false)]);
    assert_eq!(text(&mut console, "it").await, "no cursor");
    let all = text(&mut console, "db.c.find().batchSize(10).toArray()").await;
    assert_eq!(all.matches("_id").count(), 45);
}

/// A scan reads ahead, so how much it has read when somebody stops depends on the moment.
#[tokio::test]
async fn a_cursor_is_read_at_once_and_shown_in_parts() {
    let mut console = Console::open().await.unwrap();
    let documents: Vec<String> = (0..100).map(|number| format!("{{_id: {number}}}")).collect();
    let line = format!("db.c.insertMany([{}])", documents.join(","));
    console.enter(&line).await.unwrap();
    for line in ["db.c.find()", "db.c.find().batchSize(1)"] {
        let entered = console.enter(line).await.unwrap();
        assert!(
            entered.text.contains("_id: 19 ") && !entered.text.contains("_id: 20 "),
            "{line}"
        );
        assert_eq!(
            entered.cost.as_deref(),
            Some("100 documents, 1 KB read"),
            "{line}"
        );
    }
    for line in ["db.c.find().next()", "db.c.find().hasNext()"] {
        let entered = console.enter(line).await.unwrap();
        assert_eq!(
            entered.cost.as_deref(),
            Some("100 documents, 1 KB read"),
            "{line}"
        );
    }
    assert_eq!(text(&mut console, "db.c.find().limit(-2).count()").await, "2");
    assert_eq!(
        text(&mut console, "db.c.find().limit(-2)").await,
        "[ { _id: 0 }, { _id: 1 } ]"
    );
    console.enter("db.c.find()").await.unwrap();
    console.enter("db.c.countDocuments()").await.unwrap();
    assert!(
        text(&mut console, "it").await.contains("_id: 39 "),
        "a count leaves the cursor"
    );
}

#[tokio::test]
async fn errors_are_those_of_the_server_or_of_the_shell() {
    let mut console = Console::open().await.unwrap();
    console.enter("db.c.insertOne({_id: 1})").await.unwrap();
    for (line, words) in [
        (
            "db.c.insertOne({_id: 1})",
            "MongoServerError: E11000 duplicate key error collection: console.c index: _id_ dup key: { _id: 1 }",
        ),
        ("db.c.insertMany([{_id: 1}])", "MongoBulkWriteError: E11000"),
        (
            "db.c.find({$what: 1})",
            "MongoServerError[BadValue]: unknown top level operator: $what",
        ),
        ("db.c.updateOne({_id: 1}, {$push: {_id: 1}})", "_id"),
        ("db.c.createIndex({a: 'text'})", "text"),
        ("db.runCommand({fly: 1})", "no such command: 'fly'"),
        ("db.c.find(", "SyntaxError: "),
        (
            "db.c.createIndex({_id: -1})",
            "an _id index must be {_id: 1}, but got { _id: -1 }",
        ),
        ("db.c.find().maxTimeMS(-1)", "maxTimeMS"),
        ("db.c.updateOne({}, [])", "MongoInvalidArgumentError"),
        ("db.c.insertOne({a: 010})", "begins with 0"),
        ("db.c.insertOne({a: Date()})", "Write new Date()"),
        (
            "db.c.insertOne({a: DBRef('c', 1)})",
            "`DBRef` is not supported here",
        ),
        ("db.stats('all')", "db.stats() takes no argument here"),
        (
            "db.c.aggregate([{$group: {_id: 1, a: {$top: 1}}}])",
            "does not support '$top'",
        ),
        ("db.c.find", "db.c.find is a method. Write db.c.find()."),
        (
            "db.c.find().forEach(printjson)",
            "TypeError: .forEach() takes a function",
        ),
        ("db.serverStatus().connections", "`.connections` reads a property"),
        ("use elsewhere", "There is no database elsewhere here"),
        ("db.createCollection('a$b')", "Invalid collection name"),
        (
            "db.getCollection('x..y').insertOne({})",
            "Invalid collection name: 'x..y'",
        ),
        ("use my-db", "There is no database my-db here"),
        (
            "db.c.aggregate([{$set: {a: '$$NOW'}}])",
            "the embedded engine does not support '$$NOW'",
        ),
        (
            "db.c.find({}, {a: {$literal: 1}})",
            "does not support '$literal' in a projection",
        ),
        (
            "db.c.find({}, {o: 1, 'o.p': 1})",
            "[Location31249]: Path collision at o.p remaining portion p",
        ),
        (
            "db.c.find({}, {'o.p': 1, o: 1})",
            "[Location31250]: Path collision at o",
        ),
        (
            "db.runCommand({find: 'c', filter: 1})",
            "is the wrong type 'int', expected type 'object'",
        ),
        (
            "db.c.aggregate([{$lookup: {}}])",
            "the embedded engine does not support '$lookup'",
        ),
        ("db.c.aggregate([{$out: 'd'}])", "$out"),
        (
            "db.c.aggregate([{$project: {a: {$foo: 1}}}])",
            "[Location31325]: Invalid $project :: caused by :: Unknown expression $foo",
        ),
        (
            "db.c.aggregate([{$addFields: {a: {$foo: 1}}}])",
            "[InvalidPipelineOperator]: Invalid $addFields :: caused by :: Unrecognized expression '$foo'",
        ),
        (
            "db.c.aggregate([{$set: {}}])",
            "Invalid $set :: caused by :: specification must have at least one field",
        ),
        (
            "db.c.find().skip(-1)",
            "[Location51024]: BSON field 'skip' value must be >= 0, actual value '-1'",
        ),
    ] {
        let entered = console.enter(line).await.unwrap();
        assert!(entered.failed, "{entered:?}");
        assert!(entered.text.contains(words), "{entered:?}");
    }
}

/// Each is known as an operator of a filter, of an update or of `$push`, as a stage, or as an expression.
#[tokio::test]
async fn the_operators_that_are_offered_are_known() {
    let mut console = Console::open().await.unwrap();
    for operator in OPERATORS {
        let mut known = false;
        for line in [
            format!("db.c.find({{a: {{{operator}: 1}}}})"),
            format!("db.c.find({{{operator}: 1}})"),
            format!("db.c.updateOne({{}}, {{{operator}: {{a: 1}}}})"),
            format!("db.c.updateOne({{}}, {{$push: {{a: {{$each: [1], {operator}: 1}}}}}})"),
            format!("db.c.aggregate([{{{operator}: 1}}])"),
            format!("db.c.aggregate([{{$project: {{a: {{{operator}: 1}}}}}}])"),
        ] {
            let answer = text(&mut console, &line).await.to_lowercase();
            known |= !["unknown", "unrecognized", "not support"]
                .iter()
                .any(|refusal| answer.contains(refusal));
        }
        assert!(known, "{operator}");
    }
}

#[tokio::test]
async fn databases_are_shown_with_their_sizes() {
    let mut console = Console::open().await.unwrap();
    let shown = text(&mut console, "show dbs").await;
    let (name, size) = shown.split_once("  ").unwrap();
    assert_eq!(name, "console");
    assert!(size.ends_with(" KiB"), "{shown}");
}

#[tokio::test]
async fn a_console_that_is_full_takes_deletions_only() {
    let mut console = Console::open().await.unwrap();
    let line = format!("db.c.insertOne({{t: '{}'}})", "x".repeat(4_900));
    let mut refused = None;
    for _ in 0..200 {
        let entered = console.enter(&line).await.unwrap();
        if entered.failed {
            refused = Some(entered.text.clone());
            break;
        }
    }
    assert!(refused.unwrap().contains("A console holds"));
    console.enter("db.c.deleteMany({})").await.unwrap();
    assert!(!console.enter(&line).await.unwrap().failed);
    assert_eq!(console.screen().await.unwrap().entered.len(), KEPT);
}

#[tokio::test]
async fn a_line_that_computes_too_much_is_stopped() {
    let mut console = Console::open().await.unwrap();
    let double = "{$set: {'likes.head': {$concatArrays: ['$likes.head', '$likes.head']}}},".repeat(30);
    let entered = console
        .enter(&format!("db.posts.aggregate([{double}])"))
        .await
        .unwrap();
    assert!(entered.text.contains("exceeded the work"), "{entered:?}");
}

#[tokio::test]
async fn exercises_are_asked_and_checked() {
    let mut console = Console::open().await.unwrap();
    assert!(
        text(&mut console, "exercise")
            .await
            .contains("exercise 5: The place")
    );
    assert!(
        text(&mut console, "exercise 5")
            .await
            .contains("a head holds 160")
    );
    assert_eq!(
        text(&mut console, "exercise 5 2").await,
        "Right. Page 2 has the likes 257 to 384."
    );
    assert!(
        text(&mut console, "exercise 2 aabb")
            .await
            .starts_with("Not yet.")
    );
    assert!(text(&mut console, "exercise 9").await.contains("from 1 to 6"));
}
