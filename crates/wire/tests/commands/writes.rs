//! Answers to commands that write.

use bson::{Bson, Document, doc};

use crate::Shell;

#[tokio::test]
async fn an_insertion_stops_at_a_repeated_id_and_tells_where() {
    let mut shell = Shell::open().await;
    for (documents, index) in [
        (vec![doc! { "_id": 1 }, doc! { "_id": 1 }, doc! { "_id": 2 }], 1),
        (vec![doc! { "_id": 3 }, doc! { "_id": 4 }, doc! { "_id": 3.0 }], 2),
        (vec![doc! { "_id": 5 }, doc! { "_id": 1 }, doc! { "_id": 1 }], 1),
    ] {
        let insert = doc! { "insert": "things", "documents": documents.clone() };
        let answer = shell.ask(insert).await;
        let errors = answer.get_array("writeErrors").unwrap();
        assert_eq!(errors.len(), 1, "{documents:?}");
        assert_eq!(
            errors[0].as_document().unwrap().get_i32("index").unwrap(),
            index,
            "{documents:?}"
        );
        assert_eq!(answer.get_i32("n").unwrap(), index, "{documents:?}");
    }
    let ids = shell.run(doc! { "distinct": "things", "key": "_id" }).await;
    assert_eq!(ids.get_array("values").unwrap(), &[1, 3, 4, 5].map(Bson::Int32));
}

#[tokio::test]
async fn an_upsert_takes_its_id_from_the_only_branch_or_element() {
    let mut shell = Shell::open().await;
    for (number, filter) in [
        (0, doc! { "$or": [{ "_id": 0 }] }),
        (1, doc! { "_id": { "$all": [1] } }),
        (
            2,
            doc! { "$and": [{ "$or": [{ "$and": [{ "_id": { "$in": [2] } }] }] }] },
        ),
    ] {
        let update = doc! { "q": filter, "u": { "$set": { "a": true } }, "upsert": true };
        let answer = shell.run(doc! { "update": "things", "updates": [update] }).await;
        let upserted = answer.get_array("upserted").unwrap()[0].as_document().unwrap();
        assert_eq!(upserted.get_i32("_id").unwrap(), number);
    }
}

#[tokio::test]
async fn find_and_modify_tells_whether_it_inserted() {
    let mut shell = Shell::open().await;
    let mut ask = async |arguments: Document| {
        let mut command = doc! { "findAndModify": "things", "upsert": true };
        command.extend(arguments);
        let mut answer = shell.run(command).await;
        let last = answer.remove("lastErrorObject").unwrap();
        (
            last.as_document().unwrap().clone(),
            answer.remove("value").unwrap(),
        )
    };
    let change = doc! { "$inc": { "a": 1 } };
    let inserted = doc! { "n": 1, "updatedExisting": false, "upserted": 1 };
    let query = doc! { "query": { "_id": 1 }, "update": change.clone() };
    assert_eq!(ask(query.clone()).await, (inserted, Bson::Null));
    let existing = doc! { "n": 1, "updatedExisting": true };
    assert_eq!(
        ask(query).await,
        (existing.clone(), doc! { "_id": 1, "a": 1 }.into())
    );

    let query = doc! { "query": { "_id": 2 }, "update": change.clone(), "new": true, "fields": { "_id": 0 } };
    let inserted = doc! { "n": 1, "updatedExisting": false, "upserted": 2 };
    assert_eq!(ask(query.clone()).await, (inserted, doc! { "a": 1 }.into()));
    assert_eq!(ask(query).await, (existing.clone(), doc! { "a": 2 }.into()));

    let query = doc! { "query": { "b": 3 }, "update": { "c": 4 }, "new": true };
    let (last, value) = ask(query.clone()).await;
    let value = value.as_document().unwrap();
    assert_eq!(last.get("upserted"), value.get("_id"));
    assert!(value.get_object_id("_id").is_ok());
    assert_eq!(value.get_i32("c").unwrap(), 4);

    let query = doc! { "query": { "_id": 9 }, "update": change, "upsert": false };
    let nothing = doc! { "n": 0, "updatedExisting": false };
    assert_eq!(ask(query).await, (nothing, Bson::Null));
    let remove = doc! { "query": { "_id": 1 }, "remove": true, "upsert": false };
    assert_eq!(
        ask(remove).await,
        (doc! { "n": 1 }, doc! { "_id": 1, "a": 2 }.into())
    );
}

/// MongoDB's manual: the document that a replacement inserts has nothing of the filter but the `_id`.
#[tokio::test]
async fn an_upsert_by_a_replacement_takes_only_the_id_of_the_filter() {
    let mut shell = Shell::open().await;
    for (filter, replacement, inserted) in [
        (
            doc! { "_id": 1, "$and": [{ "a": 1 }, { "a": 2 }] },
            doc! { "b": 1 },
            doc! { "_id": 1, "b": 1 },
        ),
        (
            doc! { "a": 1, "$and": [{ "a": 2 }] },
            doc! { "_id": 2, "b": 1 },
            doc! { "_id": 2, "b": 1 },
        ),
        (
            doc! { "a.b": 1, "a": { "$eq": 2 }, "_id": 3 },
            doc! { "c": "$a" },
            doc! { "_id": 3, "c": "$a" },
        ),
    ] {
        let update = doc! { "q": filter.clone(), "u": replacement, "upsert": true };
        shell.run(doc! { "update": "things", "updates": [update] }).await;
        let id = inserted.get("_id").cloned();
        let found = shell
            .run(doc! { "find": "things", "filter": { "_id": id } })
            .await;
        let found = found
            .get_document("cursor")
            .unwrap()
            .get_array("firstBatch")
            .unwrap();
        assert_eq!(found, &[Bson::from(inserted)], "{filter}");
    }
    let update = doc! { "q": { "a": 7, "$and": [{ "a": 8 }] }, "u": { "b": 1 }, "upsert": true };
    let answer = shell.run(doc! { "update": "things", "updates": [update] }).await;
    let upserted = answer.get_array("upserted").unwrap()[0].as_document().unwrap();
    assert!(upserted.get_object_id("_id").is_ok(), "{answer}");
    for (filter, replacement, code) in [
        (doc! { "_id.a": 1 }, doc! { "b": 1 }, 55),
        (doc! { "_id": 4, "$and": [{ "_id": 5 }] }, doc! { "b": 1 }, 54),
        (doc! { "_id": 4 }, doc! { "_id": 5 }, 66),
        (doc! { "_id": 1 }, doc! { "_id": 5 }, 66),
    ] {
        let update = doc! { "q": filter.clone(), "u": replacement, "upsert": true };
        let answer = shell.ask(doc! { "update": "things", "updates": [update] }).await;
        let error = answer.get_array("writeErrors").unwrap()[0].as_document().unwrap();
        assert_eq!(error.get_i32("code").unwrap(), code, "{filter}: {answer}");
    }
}
