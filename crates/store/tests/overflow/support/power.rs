//! Likes, unlikes and deletions on a disk, and what must exist when the power is back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
use document::{Find, Update};
use embedded::Embedded;
use model::Topic;
use store::Store;
use store::overflow::{Item, Key, Owner, PAGES, owner_id};
use store::upkeep::{CheckOptions, CheckReport, Defect, Severity, Violation, check};
use uuid::Uuid;

use super::operations::LIKES;
use super::{assert_sound, born_of, handle, like, post, small_store_on, walk};

pub const THRESHOLD: usize = 3;
pub const PAGE_SIZE: usize = 2;

/// A fact that is true or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    Post(u128),
    /// A post's likes are head and pages, and no unbounded array.
    Adopted(u128),
    /// A post is liked by an actor.
    Like(u128, u64),
}

pub type Known = checker::disk::Known<Fact>;
pub type Disk = checker::disk::Disk<Known>;
pub type Moment = checker::disk::Moment<Known>;

/// A client that changes lists and remembers the answers.
#[derive(Clone)]
pub struct Client {
    pub store: Store,
    pub disk: Disk,
}

impl Client {
    pub async fn publish(&self, number: u128) -> Owner {
        self.disk.ask(Fact::Post(number));
        let owner = post(&self.store, number).await;
        self.disk.answer(Fact::Post(number), true);
        owner
    }

    pub async fn like(&self, number: u128, item: Item) {
        let actor = item.by.as_ref().unwrap().as_str()["actor".len()..]
            .parse()
            .unwrap();
        let fact = Fact::Like(number, actor);
        self.disk.ask(fact);
        self.store.list(LIKES).append(&owner(number), item).await.unwrap();
        self.disk.answer(fact, true);
    }

    pub async fn unlike(&self, number: u128, actor: u64) {
        let fact = Fact::Like(number, actor);
        self.disk.ask(fact);
        let list = self.store.list(LIKES);
        list.remove(&owner(number), &Key::By(handle(actor)))
            .await
            .unwrap();
        self.disk.answer(fact, false);
    }

    pub async fn delete(&self, number: u128) {
        self.disk.ask(Fact::Post(number));
        let of_the_post = |fact: &Fact| matches!(fact, Fact::Like(post, _) if *post == number);
        self.disk.forget(of_the_post);
        let Topic::Post(id) = owner(number) else {
            unreachable!()
        };
        self.store.posts().delete(id).await.unwrap();
        self.disk.answer(Fact::Post(number), false);
    }

    pub async fn adopt(&self, number: u128) {
        self.disk.ask(Fact::Adopted(number));
        self.store.list(LIKES).adopt(&owner(number)).await.unwrap();
        self.disk.answer(Fact::Adopted(number), true);
    }

    /// A post whose likes are one unbounded array, as code without the pattern stores it.
    pub async fn publish_with_an_array(&self, number: u128, actors: u64) {
        let owner = self.publish(number).await;
        let items: Vec<_> = (1..=actors).map(|actor| like(actor).to_document()).collect();
        let array = Update::one(
            doc! { "_id": owner_id(&owner) },
            doc! { "$set": { "likes": items } },
        );
        self.store.engine().update("posts", array).await.unwrap();
        for actor in 1..=actors {
            self.disk.answer(Fact::Like(number, actor), true);
        }
    }

    /// The page of a spill that was interrupted, under other limits.
    pub async fn leave_a_page_behind(&self, number: u128, actor: u64) {
        let owner = owner(number);
        let document = owner_document(&self.store, &owner).await.unwrap();
        let list = document.get_document("likes").unwrap();
        let left = doc! {
            "_id": "left", "owner": owner_id(&owner), "relation": "likes", "born": born_of(&self.store, &owner).await,
            "page": list.get_i64("pages").unwrap(), "rev": list.get_i64("rev").unwrap(), "count": 1_i64,
            "first": bson::DateTime::from_millis(1), "last": bson::DateTime::from_millis(1),
            "items": [like(actor).to_document()],
        };
        self.store.engine().insert(PAGES, vec![left]).await.unwrap();
    }
}

/// The n-th post.
fn owner(number: u128) -> Owner {
    Topic::Post(Uuid::from_u128(number).into())
}

async fn owner_document(store: &Store, owner: &Owner) -> Option<Document> {
    let find = Find::matching(doc! { "_id": owner_id(owner) });
    store.engine().find("posts", find).await.unwrap().pop()
}

async fn checked(store: &Store, repair: bool) -> CheckReport {
    let options = CheckOptions {
        repair,
        lists_only: true,
        pause: Duration::ZERO,
    };
    check(store, options, &|_, _| ()).await.unwrap()
}

/// Panics unless, after a power failure, the lists are sound, everything acknowledged exists, and all operations work.
pub async fn look(image: Vec<u8>, known: Known) {
    let engine = Embedded::on(Disk::holding(image)).unwrap();
    let store = small_store_on(Arc::new(engine), THRESHOLD, PAGE_SIZE).await;
    for finding in checked(&store, false).await.findings {
        // Left by an interrupted operation.
        let benign = match finding.violation {
            Violation::List(Defect::UncommittedPage { .. } | Defect::Unbounded { .. }) => Severity::Notice,
            Violation::List(
                Defect::Pending { .. }
                | Defect::Adopting
                | Defect::Untidied { .. }
                | Defect::OrphanPage { .. },
            ) => Severity::Unfinished,
            _ => panic!("{finding:?}"),
        };
        assert_eq!(finding.severity, benign, "{finding:?}");
    }
    for (fact, is) in &known {
        if let Fact::Post(number) = fact {
            look_at_post(&store, *number, *is, &known).await;
        }
    }
    assert!(checked(&store, true).await.is_sound());
    let found = checked(&store, false).await.findings;
    assert!(found.is_empty(), "{found:?}");
}

async fn look_at_post(store: &Store, number: u128, is: Option<bool>, known: &Known) {
    let owner = owner(number);
    let document = owner_document(store, &owner).await;
    if let Some(is) = is {
        assert_eq!(document.is_some(), is, "post {number}");
    }
    let Some(document) = document else {
        let pages = store.engine().count(PAGES, doc! { "owner": owner_id(&owner) });
        assert!(
            is.is_none() || pages.await.unwrap() == 0,
            "pages of post {number}"
        );
        return;
    };
    if known.get(&Fact::Adopted(number)) == Some(&Some(true)) {
        let list = document.get_document("likes").unwrap();
        assert!(!list.contains_key("adopting"), "{list}");
    }
    // The head of an interrupted adoption is still as long as the array.
    store.list(LIKES).adopt(&owner).await.unwrap();
    let likers = likers(store, &owner).await;
    assert_sound(store, &owner, LIKES).await;
    for (fact, is) in known {
        if let (Fact::Like(post, actor), Some(is)) = (fact, is)
            && *post == number
        {
            assert_eq!(likers.contains(&handle(*actor)), *is, "{fact:?}");
        }
    }
    // The list still works: it accepts a new actor, and all can be removed.
    let list = store.list(LIKES);
    assert!(list.append(&owner, like(999)).await.unwrap().added);
    assert_sound(store, &owner, LIKES).await;
    for liker in likers {
        let removed = list.remove(&owner, &Key::By(liker)).await.unwrap();
        assert!(removed.item.is_some(), "post {number}");
    }
    assert_eq!(walk(store, &owner, LIKES, 7).await.len(), 1);
    assert_sound(store, &owner, LIKES).await;
}

async fn likers(store: &Store, owner: &Owner) -> BTreeSet<model::Handle> {
    let items = walk(store, owner, LIKES, 7).await;
    items.into_iter().map(|item| item.by.unwrap()).collect()
}
