//! The class that uses a store together: all of it is one document, `{_id: "class", post, seats, called, students:
//! {handle: {name, brought}}}` of the collection `meta`. It is bounded by the number of seats, so it may hold its list
//! itself: an outlier pattern would be too much.

use bson::{Bson, Document, doc};
use model::{Handle, Person, PostId};
use uuid::Uuid;

use crate::Store;
use crate::overflow::uuid_bson;
use crate::town::META;
use document::{Error, Find, FindAndModify, Result, Update};
use outlier::fields;

const CLASS: &str = "class";

/// The class of a store.
pub struct Class<'a> {
    store: &'a Store,
}

/// What is stored of the class.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its post.
    pub post: PostId,
    /// How many people of the town were called.
    pub called: u64,
    /// The students who joined, ordered by how many people they brought, most first.
    pub students: Vec<Student>,
}

/// A student who joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Student {
    /// The student.
    pub person: Person,
    /// How many people they brought. People whose like is not written yet already count, so that nobody is called
    /// twice.
    pub brought: u64,
}

impl<'a> Class<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Creates the class around a post, unless there is one.
    pub async fn create(&self, post: Uuid) -> Result<()> {
        let mut class = doc! { "_id": CLASS, "post": uuid_bson(post) };
        class.extend(nobody());
        match self.store.engine().insert(META, vec![class]).await {
            Err(Error::DuplicateKey { .. }) => Ok(()),
            created => created,
        }
    }

    /// The class as it is now.
    pub async fn get(&self) -> Result<Option<Stored>> {
        let find = Find::matching(doc! { "_id": CLASS }).limit(1);
        let found = self.store.engine().find(META, find).await?;
        found.first().map(stored).transpose()
    }

    /// Takes a seat, if fewer than `seats` are taken.
    pub async fn take_seat(&self, seats: i64) -> Result<bool> {
        let free = doc! { "_id": CLASS, "seats": { "$lt": seats } };
        let seat = FindAndModify::after(free, doc! { "$inc": { "seats": 1_i64 } }).project(doc! { "_id": 1 });
        let taken = self.store.engine().find_and_modify(META, seat).await?;
        Ok(taken.is_some())
    }

    /// Gives back a seat in which nobody sat down.
    pub async fn give_back_seat(&self) -> Result<()> {
        self.change(doc! { "$inc": { "seats": -1_i64 } }).await
    }

    /// Adds a student, whose seat was taken before.
    pub async fn add(&self, Person { handle, name }: &Person) -> Result<()> {
        let seat = doc! { "name": name.as_str(), "brought": 0_i64 };
        self.change(doc! { "$set": { format!("students.{handle}"): seat } })
            .await
    }

    /// Removes a student, and gives back their seat. The people whom they brought stay.
    pub async fn remove(&self, student: &Handle) -> Result<()> {
        let seat = format!("students.{student}");
        let taken = doc! { "_id": CLASS, &seat: { "$exists": true } };
        let change = doc! { "$unset": { &seat: "" }, "$inc": { "seats": -1_i64 } };
        let update = Update::one(taken, change);
        self.store.engine().update(META, update).await.map(drop)
    }

    /// Calls the next `party` people for a student, if at least as many of `all` are left. Returns how many are called
    /// by then. One `$inc` decides who is next, so two students never bring the same person.
    pub async fn call(&self, student: &Handle, party: i64, all: i64) -> Result<Option<u64>> {
        let brought = format!("students.{student}.brought");
        let waiting = doc! { "_id": CLASS, &brought: { "$exists": true }, "called": { "$lte": all - party } };
        let call = doc! { "$inc": { "called": party, &brought: party } };
        let call = FindAndModify::after(waiting, call).project(doc! { "called": 1 });
        let called = self.store.engine().find_and_modify(META, call).await?;
        Ok(called.map(|class| number(&class, "called")))
    }

    /// Removes everybody. The class keeps its post.
    pub async fn empty(&self) -> Result<()> {
        self.change(doc! { "$set": nobody() }).await
    }

    async fn change(&self, change: Document) -> Result<()> {
        let update = Update::one(doc! { "_id": CLASS }, change);
        self.store.engine().update(META, update).await.map(drop)
    }
}

fn nobody() -> Document {
    doc! { "seats": 0_i64, "called": 0_i64, "students": {} }
}

fn number(document: &Document, field: &str) -> u64 {
    document.get_i64(field).unwrap_or_default().unsigned_abs()
}

fn stored(class: &Document) -> Result<Stored> {
    let student = |(handle, seat): (&String, &Bson)| {
        let seat = seat.as_document()?;
        let person = Person {
            handle: handle.parse().ok()?,
            name: seat.get_str("name").ok()?.parse().ok()?,
        };
        let brought = number(seat, "brought");
        Some(Student { person, brought })
    };
    let seats = class.get_document("students").ok();
    let mut students: Vec<_> = seats.into_iter().flatten().filter_map(student).collect();
    students.sort_by(|a, b| {
        b.brought
            .cmp(&a.brought)
            .then_with(|| a.person.handle.cmp(&b.person.handle))
    });
    Ok(Stored {
        post: PostId::from(fields::uuid(class, "post")?),
        called: number(class, "called"),
        students,
    })
}
