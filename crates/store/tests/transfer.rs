//! Exporting a whole store to a file and importing it: equality, resuming, concurrent writers, and refusals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/lists.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod lists;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Engine, Find, Layer, Result};
use embedded::Embedded;
use lists::{handle, like, post, small_store};
use model::{Relation, Timestamp};
use store::Store;
use store::overflow::{Key, Owner, PAGES};
use store::people::User;
use store::shared_posts::SharedPost;
use store::transfer::{ImportError, ImportReport, LineError, Lines, export, import, is_under_way};
use store::upkeep::{CheckOptions, Severity, check};
use tokio::sync::OnceCell;
use uuid::Uuid;

async fn exported(store: &Store) -> Vec<u8> {
    let mut file = Vec::new();
    export(store, &mut file, &|_, _| {}).await.unwrap();
    file
}

async fn imported(store: &Store, file: &[u8]) -> std::result::Result<ImportReport, ImportError> {
    import(store, &mut Lines::begin(file)?, &|_| {}).await
}

/// Posts with and without overflow, and a person.
async fn town(likes: u64) -> (Store, Owner) {
    let store = small_store(5, 3).await;
    let user = User {
        person: model::Person {
            handle: handle(0),
            name: "Ada".parse().unwrap(),
        },
        bio: "é \"quoted\" \u{1}".to_owned(),
        password: Some("$argon2id$…".to_owned()),
        at: Timestamp::from_millis(1),
    };
    store.people().insert(&user, Uuid::from_u128(5)).await.unwrap();
    post(&store, 1).await;
    let viral = post(&store, 2).await;
    for number in 1..=likes {
        store
            .list(Relation::Likes)
            .append(&viral, like(number))
            .await
            .unwrap();
    }
    let shared = SharedPost {
        id: Uuid::from_u128(6),
        born: Uuid::from_u128(7),
        of: Uuid::from_u128(1).into(),
        by: handle(0),
        at: Timestamp::from_millis(2),
    };
    store.shared_posts().insert_all(&[shared]).await.unwrap();
    store
        .engine()
        .insert("meta", vec![doc! { "_id": "town", "state": "complete" }])
        .await
        .unwrap();
    (store, viral)
}

async fn sound(store: &Store) {
    let options = CheckOptions {
        lists_only: true,
        ..CheckOptions::default()
    };
    let checked = check(store, options, &|_, _| {}).await.unwrap();
    assert!(checked.is_sound(), "{:#?}", checked.findings);
}

#[tokio::test]
async fn a_store_that_was_moved_exports_the_same_bytes() {
    let (store, _) = town(40).await;
    let file = exported(&store).await;
    let other = small_store(5, 3).await;
    let all = ImportReport {
        written: 17,
        equal: 0,
    };
    assert_eq!(imported(&other, &file).await.unwrap(), all);
    assert_eq!(
        String::from_utf8(exported(&other).await).unwrap(),
        String::from_utf8(file).unwrap()
    );
    sound(&other).await;
    assert!(!is_under_way(&other).await.unwrap());
}

#[tokio::test]
async fn a_handle_that_is_held_stays_held_at_the_new_place() {
    let (store, _) = town(1).await;
    let (now, until) = (
        Timestamp::from_millis(1),
        Timestamp::from_millis(1_900_000_000_000),
    );
    store.held_handles().hold(&handle(7), until).await.unwrap();
    let other = small_store(5, 3).await;
    imported(&other, &exported(&store).await).await.unwrap();
    assert!(other.held_handles().holds(&handle(7), now).await.unwrap());
    assert!(!other.held_handles().holds(&handle(8), now).await.unwrap());
}

#[tokio::test]
async fn importing_again_finds_every_document_present() {
    let (store, _) = town(40).await;
    let file = exported(&store).await;
    let again = imported(&store, &file).await.unwrap();
    assert_eq!(
        again,
        ImportReport {
            written: 0,
            equal: 17
        }
    );
}

#[tokio::test]
async fn an_interrupted_import_continues() {
    let (store, _) = town(40).await;
    for number in 100..700 {
        post(&store, number).await;
    }
    let file = exported(&store).await;
    let lines: Vec<usize> = file
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at)
        .collect();
    let other = small_store(5, 3).await;
    for cut in [lines[300], lines[590], lines[600] + 20] {
        let stopped = imported(&other, &file[..=cut]).await.unwrap_err();
        assert!(
            matches!(stopped, ImportError::Line(LineError::Truncated { .. })),
            "{stopped}"
        );
        assert!(is_under_way(&other).await.unwrap(), "nobody should use it yet");
    }
    let rest = imported(&other, &file).await.unwrap();
    assert!(rest.equal >= 512, "what was written stays: {rest:?}");
    assert!(exported(&other).await == file, "the exports differ");
    assert!(!is_under_way(&other).await.unwrap());
}

#[tokio::test]
async fn a_store_with_other_documents_is_left_alone() {
    let (store, viral) = town(40).await;
    let file = exported(&store).await;

    let (other, _) = town(3).await;
    let before = exported(&other).await;
    let refused = imported(&other, &file).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ImportError::NotEmpty {
                collection: PAGES,
                ..
            }
        ),
        "{refused}"
    );
    assert_eq!(exported(&other).await, before);

    store
        .list(Relation::Likes)
        .append(&viral, like(41))
        .await
        .unwrap();
    let refused = imported(&store, &file).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ImportError::Differs {
                collection: "posts",
                ..
            }
        ),
        "{refused}"
    );

    let equal_and_more = small_store(5, 3).await;
    imported(&equal_and_more, &file).await.unwrap();
    post(&equal_and_more, 77).await;
    let refused = imported(&equal_and_more, &file).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ImportError::More {
                collection: "posts",
                there: 3,
                stated: 2
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn documents_that_differ_only_in_field_order_differ() {
    let (store, _) = town(1).await;
    let file = String::from_utf8(exported(&store).await).unwrap();
    let turned = file.replace(
        r#""_id":"town","state":"complete""#,
        r#""state":"complete","_id":"town""#,
    );
    assert_ne!(turned, file);
    let refused = imported(&store, turned.as_bytes()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ImportError::Differs {
                collection: "meta",
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn sessions_and_pages_without_an_owner_are_not_exported() {
    let (store, viral) = town(40).await;
    let session = doc! { "_id": "digest", "user": "actor0" };
    store.engine().insert("sessions", vec![session]).await.unwrap();
    store
        .posts()
        .delete(match &viral {
            model::Topic::Post(id) => *id,
            user @ model::Topic::User(_) => panic!("{user}"),
        })
        .await
        .unwrap();
    let orphan = doc! { "_id": "p", "owner": "nobody", "relation": "likes", "born": 1, "page": 0_i64 };
    store.engine().insert(PAGES, vec![orphan]).await.unwrap();
    let file = String::from_utf8(exported(&store).await).unwrap();
    assert!(!file.contains("digest") && !file.contains("nobody"), "{file}");
}

#[tokio::test]
async fn an_owner_is_written_with_the_pages_that_it_had() {
    let (store, viral) = town(40).await;
    let meddled = Arc::new(Meddler {
        engine: Arc::clone(store.engine()),
        others: OnceCell::new(),
        met: AtomicBool::new(false),
    });
    let seen = Store::open(Arc::clone(&meddled) as Engine, store.settings().clone())
        .await
        .unwrap();
    meddled.others.set((store, viral)).ok().unwrap();
    let file = exported(&seen).await;
    assert!(meddled.met.load(Ordering::SeqCst), "the removal came in between");
    let other = small_store(5, 3).await;
    imported(&other, &file).await.unwrap();
    sound(&other).await;
}

/// Removes a like between the reading of an owner and of its pages, once.
struct Meddler {
    engine: Engine,
    others: OnceCell<(Store, Owner)>,
    met: AtomicBool,
}

#[async_trait]
impl Layer for Meddler {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        if let Some((store, viral)) = self.others.get()
            && collection == PAGES
            && !self.met.swap(true, Ordering::SeqCst)
        {
            let oldest = Key::By(handle(1));
            let removed = store.list(Relation::Likes).remove(viral, &oldest).await?;
            assert!(removed.item.is_some());
        }
        self.engine.find(collection, find).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_export_beside_writers_has_no_torn_list() {
    let (store, viral) = town(60).await;
    let (done, removals) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    // An owner is read again after a removal. However slow the export is, few removals are beside each one.
    let allowed = Arc::new(AtomicU64::new(4));
    let writers: Vec<_> = (1..=3)
        .map(|writer| {
            let (store, viral) = (store.clone(), viral.clone());
            let (done, removals) = (Arc::clone(&done), Arc::clone(&removals));
            let allowed = Arc::clone(&allowed);
            tokio::spawn(async move {
                let mut number = writer * 1_000_000;
                while !done.load(Ordering::SeqCst) {
                    number += 1;
                    let likes = store.list(Relation::Likes);
                    likes.append(&viral, like(number)).await.unwrap();
                    let may_remove = removals.load(Ordering::SeqCst) < allowed.load(Ordering::SeqCst);
                    if number % 50 == 0 && may_remove {
                        likes.remove(&viral, &Key::By(handle(number - 49))).await.unwrap();
                        removals.fetch_add(1, Ordering::SeqCst);
                    }
                }
            })
        })
        .collect();
    let mut files = Vec::new();
    while removals.load(Ordering::SeqCst) < 16 {
        files.push(exported(&store).await);
        allowed.fetch_add(4, Ordering::SeqCst);
    }
    done.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    for file in files {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        let other = Store::open(engine, store.settings().clone()).await.unwrap();
        imported(&other, &file).await.unwrap();
        let options = CheckOptions {
            lists_only: true,
            ..CheckOptions::default()
        };
        let checked = check(&other, options, &|_, _| {}).await.unwrap();
        // A removal that was under way is under way in the copy too, and the next writer finishes it.
        let broken = checked
            .findings
            .iter()
            .find(|finding| finding.severity == Severity::Broken);
        assert!(broken.is_none(), "{broken:#?}");
    }
}
