use bson::doc;

use super::*;

async fn shown(console: &mut Console, line: &str) -> Shown {
    match console.enter(line).await.outcome {
        Outcome::Shown(shown) => shown,
        other => panic!("{line}: {other:?}"),
    }
}

async fn value(console: &mut Console, line: &str) -> Bson {
    match shown(console, line).await {
        Shown::Value(value) => value,
        other => panic!("{line}: {other:?}"),
    }
}

#[tokio::test]
async fn a_console_begins_with_a_post_whose_likes_overflow() {
    let mut console = Console::open().await.unwrap();
    let (owner, pages) = console.documents().await.unwrap();
    let likes = owner.unwrap().get_document("likes").unwrap().clone();
    assert_eq!(likes.get_i64("count").unwrap(), 12);
    assert_eq!(pages.len(), 3);
    let count = value(&mut console, "db.pages.countDocuments({relation: 'likes'})").await;
    assert_eq!(count, Bson::Int32(3));
    assert_eq!(
        shown(&mut console, "show collections").await,
        Shown::Lines(["pages", "posts", "users"].map(str::to_owned).to_vec())
    );
}

#[tokio::test]
async fn lines_are_answered_as_by_the_shell_with_what_they_cost() {
    let mut console = Console::open().await.unwrap();
    for (line, expected) in [
        (
            "db.c.insertOne({_id: 1, a: [1]})",
            doc! { "acknowledged": true, "insertedId": 1 },
        ),
        (
            "db.c.updateOne({_id: 1}, {$push: {a: 2}})",
            doc! { "acknowledged": true, "insertedId": null, "matchedCount": 1, "modifiedCount": 1, "upsertedCount": 0 },
        ),
        (
            "db.c.updateOne({_id: 2}, {$set: {a: []}}, {upsert: true})",
            doc! { "acknowledged": true, "insertedId": 2, "matchedCount": 0, "modifiedCount": 0, "upsertedCount": 1 },
        ),
        ("db.c.findOne({_id: 1})", doc! { "_id": 1, "a": [1, 2] }),
        (
            "db.c.deleteMany({})",
            doc! { "acknowledged": true, "deletedCount": 2 },
        ),
        (
            "db.c.insertMany([{_id: 3}, {_id: 4}])",
            doc! { "acknowledged": true, "insertedIds": { "0": 3, "1": 4 } },
        ),
    ] {
        assert_eq!(
            value(&mut console, line).await,
            Bson::Document(expected),
            "{line}"
        );
    }
    let entered = console.enter("db.c.find({_id: 3})").await;
    let cost = entered.cost.unwrap();
    assert_eq!((cost.read, cost.written), ((1, 14), (0, 0)));
    assert_eq!(cost.in_words(), "1 document, 14 bytes read");
}

#[tokio::test]
async fn a_cursor_goes_on_with_it_and_an_array_is_whole() {
    let mut console = Console::open().await.unwrap();
    let documents: Vec<String> = (0..250).map(|nth| format!("{{_id: {nth}}}")).collect();
    console
        .enter(&format!("db.c.insertMany([{}])", documents.join(",")))
        .await;
    let mut batches = Vec::new();
    let mut line = "db.c.find()";
    loop {
        let Shown::Documents { documents, cursor } = shown(&mut console, line).await else {
            panic!("{line}");
        };
        batches.push(documents.len());
        line = "it";
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(batches.iter().sum::<usize>(), 250);
    assert_eq!(batches[0], 20);
    assert_eq!(
        shown(&mut console, "it").await,
        Shown::Lines(vec!["no cursor".to_owned()])
    );
    let all = value(&mut console, "db.c.find().toArray()").await;
    assert_eq!(all.as_array().unwrap().len(), 250);
}

#[tokio::test]
async fn errors_are_those_of_the_server_or_of_the_shell() {
    let mut console = Console::open().await.unwrap();
    console.enter("db.c.insertOne({_id: 1})").await;
    for (line, code, words) in [
        ("db.c.insertOne({_id: 1})", 11_000, "duplicate key"),
        ("db.c.find({$what: 1})", 2, "$what"),
        ("db.c.updateOne({_id: 1}, {$push: {_id: 1}})", 0, "_id"),
        ("db.runCommand({fly: 1})", 59, "no such command"),
    ] {
        let Shown::Failed {
            message, code: found, ..
        } = shown(&mut console, line).await
        else {
            panic!("{line}");
        };
        assert!(message.contains(words), "{line}: {message}");
        assert!(code == 0 || found == Some(code), "{line}: {found:?} {message}");
    }
    let refused = console.enter("db.c.find(").await;
    assert!(matches!(refused.outcome, Outcome::Refused(_)), "{refused:?}");
    assert_eq!(refused.cost, None);
}

#[tokio::test]
async fn a_console_that_is_full_takes_deletions_only() {
    let mut console = Console::open().await.unwrap();
    let text = "x".repeat(9_900);
    let mut refused = None;
    for _ in 0..400 {
        let entered = console.enter(&format!("db.c.insertOne({{t: '{text}'}})")).await;
        if let Outcome::Refused(error) = entered.outcome {
            refused = Some(error);
            break;
        }
    }
    let refused = refused.unwrap();
    assert!(refused.message.contains("2 MB"), "{refused}");
    value(&mut console, "db.c.deleteMany({})").await;
    value(&mut console, "db.c.insertOne({t: 1})").await;
}
