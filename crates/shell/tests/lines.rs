//! Lines of the shell, right and wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bson::{Bson, DateTime, doc};
use shell::{Shape, Statement, parse};

use support::{are_refused, run};

mod support;

fn value(text: &str) -> Bson {
    let (command, _) = run(&format!("db.c.find({{ v: {text} }})"));
    command.get_document("filter").unwrap().get("v").unwrap().clone()
}

#[test]
fn literals_have_the_types_that_the_shell_sends() {
    for (text, expected) in [
        ("1", Bson::Int32(1)),
        ("-1", Bson::Int32(-1)),
        ("1.0", Bson::Int32(1)),
        ("1.5", Bson::Double(1.5)),
        ("1e3", Bson::Int32(1_000)),
        (".5", Bson::Double(0.5)),
        ("1_000", Bson::Int32(1_000)),
        ("0xff", Bson::Int32(255)),
        ("2147483647", Bson::Int32(i32::MAX)),
        ("2147483648", Bson::Double(2_147_483_648.0)),
        ("-2147483648", Bson::Int32(i32::MIN)),
        ("-0", Bson::Double(-0.0)),
        ("Infinity", Bson::Double(f64::INFINITY)),
        ("-Infinity", Bson::Double(f64::NEG_INFINITY)),
        ("true", Bson::Boolean(true)),
        ("null", Bson::Null),
        ("undefined", Bson::Null),
        ("'it\\'s'", "it's".into()),
        ("\"\\u00e9\\u{1f986}\\ud83e\\udd86\\x41\"", "é🦆🦆A".into()),
        ("NumberLong(7)", Bson::Int64(7)),
        (
            "NumberLong(\"9007199254740993\")",
            Bson::Int64(9_007_199_254_740_993),
        ),
        ("NumberInt(7)", Bson::Int32(7)),
        ("Double(7)", Bson::Double(7.0)),
        (
            "NumberDecimal(\"9.99\")",
            Bson::Decimal128("9.99".parse().unwrap()),
        ),
        (
            "ISODate(\"1970-01-01T00:00:01Z\")",
            DateTime::from_millis(1_000).into(),
        ),
        (
            "new Date(\"1970-01-02\")",
            DateTime::from_millis(86_400_000).into(),
        ),
        ("new Date(5)", DateTime::from_millis(5).into()),
        (
            "ISODate('1970-01-01T00:00:00.250+00:00')",
            DateTime::from_millis(250).into(),
        ),
        (
            "Timestamp({ t: 5, i: 6 })",
            Bson::Timestamp(bson::Timestamp {
                time: 5,
                increment: 6,
            }),
        ),
        (
            "Binary.createFromBase64('AQID', 0)",
            Bson::Binary(bson::Binary {
                subtype: bson::spec::BinarySubtype::Generic,
                bytes: vec![1, 2, 3],
            }),
        ),
        ("MinKey", Bson::MinKey),
        ("MaxKey()", Bson::MaxKey),
        (
            "[1, 'a', [],]",
            vec![Bson::Int32(1), "a".into(), Bson::Array(vec![])].into(),
        ),
        (
            "{ a: { 'b.c': 1, \"d\": 2, 3: 4, $e: 5, }, }",
            doc! { "a": { "3": 4, "b.c": 1, "d": 2, "$e": 5 } }.into(),
        ),
        ("/* a */ 1 // b\n", Bson::Int32(1)),
    ] {
        let read = value(text);
        assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{text}");
    }
    let digits = bson::Binary {
        subtype: bson::spec::BinarySubtype::Md5,
        bytes: vec![1, 10, 255],
    };
    assert_eq!(value("HexData(5, '010aFF')"), Bson::Binary(digits));
    assert_eq!(value("Timestamp()"), value("Timestamp(0, 0)"));
    let id = value("ObjectId(\"64b7f0c2a1b2c3d4e5f60718\")");
    assert_eq!(id.as_object_id().unwrap().to_hex(), "64b7f0c2a1b2c3d4e5f60718");
    let uuid = value("UUID('c1f0a4b2-7d3e-4a5b-8c6d-0123456789ab')");
    assert!(matches!(uuid, Bson::Binary(_)), "{uuid:?}");
    let regex = value("/^a\\/[/b]$/xi");
    assert_eq!(
        format!("{regex:?}"),
        format!(
            "{:?}",
            Bson::RegularExpression(bson::Regex {
                pattern: "^a/[/b]$".try_into().unwrap(),
                options: "ix".try_into().unwrap()
            })
        )
    );
}

#[test]
fn methods_become_the_commands_that_drivers_send() {
    for (line, command, shape) in [
        (
            "db.posts.find()",
            doc! { "find": "posts", "filter": {} },
            Shape::Cursor,
        ),
        (
            "db.posts.find({author: 'ada'}, {text: 1}).sort({at: -1}).skip(2).limit(5).toArray();",
            doc! { "find": "posts", "filter": { "author": "ada" }, "projection": { "text": 1 }, "sort": { "at": -1 }, "skip": 2, "limit": 5 },
            Shape::Array,
        ),
        (
            "db.getCollection('a-b')\n  .findOne({ _id: 1 })",
            doc! { "find": "a-b", "filter": { "_id": 1 }, "limit": 1, "singleBatch": true },
            Shape::One,
        ),
        (
            "db['posts'].find().count()",
            doc! { "count": "posts", "query": {} },
            Shape::Field("n"),
        ),
        (
            "db.posts.countDocuments({a: 1}, {limit: 5})",
            doc! { "aggregate": "posts", "pipeline": [{ "$match": { "a": 1 } }, { "$limit": 5 }, { "$group": { "_id": 1, "n": { "$sum": 1 } } }], "cursor": {} },
            Shape::Counted,
        ),
        (
            "db.posts.updateOne({_id: 1}, {$push: {'likes.head': {by: 'ada'}}}, {upsert: true})",
            doc! { "update": "posts", "updates": [{ "q": { "_id": 1 }, "u": { "$push": { "likes.head": { "by": "ada" } } }, "multi": false, "upsert": true }] },
            Shape::Updated,
        ),
        (
            "db.posts.deleteMany({})",
            doc! { "delete": "posts", "deletes": [{ "q": {}, "limit": 0 }] },
            Shape::Deleted,
        ),
        (
            "db.posts.aggregate({$match: {}}, {$count: 'n'})",
            doc! { "aggregate": "posts", "pipeline": [{ "$match": {} }, { "$count": "n" }], "cursor": {} },
            Shape::Cursor,
        ),
        (
            "db.posts.createIndex({author: 1, at: -1}, {unique: true})",
            doc! { "createIndexes": "posts", "indexes": [{ "key": { "author": 1, "at": -1 }, "name": "author_1_at_-1", "unique": true }] },
            Shape::Indexed("author_1_at_-1".to_owned()),
        ),
        (
            "db.posts.findOneAndUpdate({}, {$inc: {n: 1}}, {returnDocument: 'after', projection: {n: 1}})",
            doc! { "findAndModify": "posts", "query": {}, "update": { "$inc": { "n": 1 } }, "new": true, "upsert": false, "fields": { "n": 1 } },
            Shape::Field("value"),
        ),
        (
            "db.posts.find({a: 1}).explain('executionStats')",
            doc! { "explain": { "find": "posts", "filter": { "a": 1 } }, "verbosity": "executionStats" },
            Shape::Answer,
        ),
        (
            "db.posts.findAndModify({query: {_id: 1}, update: {$inc: {n: 1}}, new: true})",
            doc! { "findAndModify": "posts", "query": { "_id": 1 }, "update": { "$inc": { "n": 1 } }, "new": true },
            Shape::Field("value"),
        ),
        (
            "db.posts.explain().deleteOne({a: 1})",
            doc! { "explain": { "delete": "posts", "deletes": [{ "q": { "a": 1 }, "limit": 1 }] }, "verbosity": "queryPlanner" },
            Shape::Answer,
        ),
        (
            "db.posts.explain(\"executionStats\").find({}).sort({at: -1}).limit(5)",
            doc! { "explain": { "find": "posts", "filter": {}, "sort": { "at": -1 }, "limit": 5 }, "verbosity": "executionStats" },
            Shape::Answer,
        ),
        (
            "show collections",
            doc! { "listCollections": 1, "nameOnly": true },
            Shape::Names,
        ),
        (
            "show('collections')",
            doc! { "listCollections": 1, "nameOnly": true },
            Shape::Names,
        ),
        ("db.runCommand({ping: 1})", doc! { "ping": 1 }, Shape::Answer),
    ] {
        assert_eq!(run(line), (command, shape), "{line}");
    }
    let (command, shape) = run("db.posts.insertOne({text: 'Hello'})");
    let inserted = command.get_array("documents").unwrap()[0].as_document().unwrap();
    let (first, id) = inserted.iter().next().unwrap();
    assert_eq!((first.as_str(), shape), ("_id", Shape::Inserted(id.clone())));
}

#[test]
fn what_is_no_command_is_refused_with_a_remedy() {
    are_refused(&[
        ("const a = 1", "SyntaxError", "JavaScript is not evaluated"),
        ("posts.find()", "SyntaxError", "begins with `db`"),
        ("db.posts.find({", "SyntaxError", "line ends"),
        ("db.posts.find({a 1})", "SyntaxError", "{ a: 1 }"),
        ("db.posts.find({a: \"x})", "SyntaxError", "closing quote"),
        ("db.posts.find({a: b})", "ReferenceError", "`b` is not defined"),
        (
            "db.posts.find({a: HexData(0, 'abc')})",
            "SyntaxError",
            "HexData(0,",
        ),
        (
            "db.posts.find({a: HexData(0, '+1')})",
            "SyntaxError",
            "HexData(0,",
        ),
        (
            "db.posts.find({a: DBRef('c', 1)})",
            "SyntaxError",
            "`DBRef` is not supported here",
        ),
        (
            "db.posts.find({a: Code('1')})",
            "SyntaxError",
            "`Code` is not supported here",
        ),
        ("db.posts.find({a: 1 + 1})", "SyntaxError", "Unexpected `+`"),
        (
            "db.posts.find({a: ObjectId('x')})",
            "SyntaxError",
            "24 hexadecimal",
        ),
        (
            "db.posts.find({a: ISODate('yesterday')})",
            "SyntaxError",
            "ISODate(\"2026",
        ),
        ("db.posts.find({a: /x/g})", "SyntaxError", "`g`"),
        ("db.posts.find({a: 12px})", "SyntaxError", "`12px`"),
        (
            "db.posts.find() db.posts.find()",
            "SyntaxError",
            "one command at a time",
        ),
        ("db.posts.find().forEach(print)", "TypeError", "takes a function"),
        ("db.posts.findMany()", "TypeError", "is not a function"),
        ("db.posts.insert({})", "TypeError", "insertOne"),
        ("db.posts.find().where({})", "TypeError", "no method `where`"),
        (
            "db.posts.findOne().sort({a: 1})",
            "TypeError",
            "Nothing can follow",
        ),
        (
            "db.posts.deleteMany({}).explain()",
            "TypeError",
            "Nothing can follow",
        ),
        ("db.posts.findOne()._id", "SyntaxError", "reads a property"),
        ("db.fine()", "TypeError", "db.fine is not a function"),
    ]);
    let deep = format!("db.c.find({{a: {}{}}})", "[".repeat(200), "]".repeat(200));
    assert!(parse(&deep).unwrap_err().message.contains("100 deep"));
    assert_eq!(parse(" // nothing\n"), Ok(Statement::Nothing));
    assert_eq!(parse("use my-db;"), Ok(Statement::Use("my-db".to_owned())));
    assert_eq!(parse("use('my-db')"), Ok(Statement::Use("my-db".to_owned())));
    assert_eq!(parse("help()"), Ok(Statement::Help));
    assert_eq!(parse("it()"), Ok(Statement::More));
    assert_eq!(parse("db.posts"), Ok(Statement::Name(Some("posts".to_owned()))));
}

#[test]
fn orders_are_those_that_drivers_take() {
    for (sort, expected) in [
        ("{ at: -1 }", doc! { "at": -1 }),
        ("{ at: 'desc', _id: 'Ascending' }", doc! { "at": -1, "_id": 1 }),
        ("'at'", doc! { "at": 1 }),
        ("'at', -1", doc! { "at": -1 }),
        ("['at', 'desc']", doc! { "at": -1 }),
        ("['at', 'text']", doc! { "at": 1, "text": 1 }),
        ("[['at', -1], ['_id', 1]]", doc! { "at": -1, "_id": 1 }),
    ] {
        let (command, _) = run(&format!("db.c.find().sort({sort})"));
        assert_eq!(command.get_document("sort").unwrap(), &expected, "{sort}");
    }
    let (command, _) = run("db.c.find().sort({})");
    assert_eq!(command.get("sort"), None);
}

#[test]
fn whole_numbers_are_the_first_fields_of_an_object() {
    let (command, _) = run("db.c.find({ _id: 25, b: 1, 10: 'ten', 2: 'two', '01': 0 })");
    let names: Vec<&String> = command.get_document("filter").unwrap().keys().collect();
    assert_eq!(names, ["2", "10", "_id", "b", "01"]);
    let stored = doc! { "_id": 25, "2": "two", "1": "one" };
    assert_eq!(
        shell::printed(&Bson::Document(stored)),
        "{ '1': 'one', '2': 'two', _id: 25 }"
    );
}
