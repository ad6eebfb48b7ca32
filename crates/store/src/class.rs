//! The class that uses a store together: all of it is one document, `{_id: "class", post, seats, called, station,
//! revealed, students: {handle: {name, brought, answers: {exercise: {tries, right}}, votes: {station: option}}}}` of
//! the collection `meta`. It is bounded by the number of seats, so it may hold its list itself: an outlier pattern
//! would be too much.

use std::collections::BTreeMap;

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
    /// The station that the teacher shows, if any.
    pub station: Option<String>,
    /// Whether the answers to the question of that station are shown. From then on nobody votes.
    pub revealed: bool,
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
    /// The exercises that they tried, by number.
    pub answers: BTreeMap<usize, Answered>,
    /// The options that they voted for, by station.
    pub votes: BTreeMap<String, usize>,
}

/// What a student did with an exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// How many answers they tried, up to the right one.
    pub tries: u64,
    /// Whether one was right.
    pub right: bool,
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

    /// Shows the class a station, or none. Showing the same one again changes nothing. The name of a station has no dot.
    pub async fn show(&self, station: Option<&str>) -> Result<()> {
        let another = doc! { "_id": CLASS, "station": { "$ne": station } };
        let change = station.map_or_else(
            || doc! { "$unset": { "station": "", "revealed": "" } },
            |station| doc! { "$set": { "station": station, "revealed": false } },
        );
        let update = Update::one(another, change);
        self.store.engine().update(META, update).await.map(drop)
    }

    /// Shows the answers to the question of a station, if it is the one that the class sees. Returns whether it is.
    pub async fn reveal(&self, station: &str) -> Result<bool> {
        let shown = doc! { "_id": CLASS, "station": station };
        self.matched(shown, doc! { "$set": { "revealed": true } }).await
    }

    /// Stores a student's vote in place of an earlier one. Returns whether it counts: only while the class sees the
    /// station and not yet the answers.
    pub async fn vote(&self, student: &Handle, station: &str, option: usize) -> Result<bool> {
        let seat = format!("students.{student}");
        let open = doc! {
            "_id": CLASS, "station": station, "revealed": { "$ne": true }, &seat: { "$exists": true },
        };
        let option = i64::try_from(option).unwrap_or(i64::MAX);
        self.matched(
            open,
            doc! { "$set": { format!("{seat}.votes.{station}"): option } },
        )
        .await
    }

    /// Counts a student's answer to an exercise, unless an earlier one was right. Nothing is stored of somebody who is
    /// not in the class.
    pub async fn answered(&self, student: &Handle, exercise: usize, right: bool) -> Result<()> {
        let seat = format!("students.{student}");
        let answers = format!("{seat}.answers.{exercise}");
        let open = doc! {
            "_id": CLASS, &seat: { "$exists": true }, format!("{answers}.right"): { "$ne": true },
        };
        let change = doc! {
            "$inc": { format!("{answers}.tries"): 1_i64 },
            "$set": { format!("{answers}.right"): right },
        };
        self.matched(open, change).await.map(drop)
    }

    /// Removes everybody. The class keeps its post.
    pub async fn empty(&self) -> Result<()> {
        let nothing = doc! { "station": "", "revealed": "" };
        self.change(doc! { "$set": nobody(), "$unset": nothing }).await
    }

    async fn matched(&self, filter: Document, change: Document) -> Result<bool> {
        let update = Update::one(filter, change);
        Ok(self.store.engine().update(META, update).await?.matched > 0)
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
        let each = |field| seat.get_document(field).ok().into_iter().flatten();
        let answers = each("answers").filter_map(|(exercise, answered)| {
            let answered = answered.as_document()?;
            let (tries, right) = (number(answered, "tries"), answered.get_bool("right").ok()?);
            Some((exercise.parse().ok()?, Answered { tries, right }))
        });
        let votes = each("votes")
            .filter_map(|(station, option)| Some((station.clone(), usize::try_from(option.as_i64()?).ok()?)));
        Some(Student {
            brought: number(seat, "brought"),
            answers: answers.collect(),
            votes: votes.collect(),
            person,
        })
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
        station: class.get_str("station").ok().map(str::to_owned),
        revealed: class.get_bool("revealed").unwrap_or_default(),
        students,
    })
}
