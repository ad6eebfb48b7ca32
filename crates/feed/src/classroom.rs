//! A class that uses one server together: joining by name, one post that everybody storms, and a count of whom
//! each student brought.
//!
//! All of it is in one document, `{_id: "class", post, seats, called, students: {handle: {name, brought}}}` of the
//! collection `meta`. It is bounded by [`SEATS`], so it may hold its list itself: an outlier pattern would be too much.

use bson::{Document, doc};
use document::{Find, FindAndModify, Update};
use model::{
    Account, DisplayName, Handle, Kind, Person, PostCard, PostId, PostText, Problem, Relation, Topic,
};
use store::overflow::{Item, uuid_bson};
use store::people::{self, User};
use store::sessions::Session;

use tokio::sync::Semaphore;

use super::problems::to_problem;
use super::{Feed, SessionToken};

/// How many students can join.
pub const SEATS: i64 = 200;
/// How many people of the town a student brings at a time.
pub const PEOPLE_AT_A_TIME: usize = 10;

/// How often the like of a called person is tried.
const TRIES: usize = 4;

/// A count reads a whole list, so only one count runs at a time.
static COUNTING: Semaphore = Semaphore::const_new(1);

const META: &str = "meta";
const CLASS: &str = "class";

/// The step between two people who are called one after the other, in alphabetical order, so that names are mixed.
/// It is prime, so nobody is left out unless the number of people in the town is a multiple of it.
const STRIDE: usize = 7_919;

const OPENING: &str =
    "Good morning, class! Let us see how many hearts one document can take. Bring everybody you know.";

/// The class, as all its members see it.
#[derive(Debug, Clone)]
pub struct Class {
    /// Where students' browsers find this server.
    pub address: String,
    /// The class's post.
    pub card: PostCard,
    /// The students who joined, ordered by how many people they brought, most first.
    pub students: Vec<Student>,
    /// How many people are left in the town to bring.
    pub waiting: u64,
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

/// The result of counting every item of the storm's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassCount {
    /// The list's stored count.
    pub count: u64,
    /// How many items a reader finds.
    pub items: u64,
    /// The number of different people among them.
    pub people: u64,
}

/// The students who stay when the town is reset.
#[derive(Debug, Clone, Default)]
pub struct Members {
    users: Vec<User>,
    sessions: Vec<Session>,
}

impl Feed {
    /// Creates the class's post, unless it exists. A second call changes nothing; a call after an interruption
    /// finishes the work.
    pub async fn open_class(&self) -> Result<(), Problem> {
        let Some(celebrity) = self.demo_handles().await?.into_iter().next() else {
            return Err(Problem::new(
                Kind::Conflict,
                "A class needs the demo town, and this store has none. Use an empty store, or serve with --no-demo and without a class.",
            ));
        };
        let fresh = self.environment.ids.uuid(self.environment.now());
        let class =
            doc! { "_id": CLASS, "post": uuid_bson(fresh), "seats": 0_i64, "called": 0_i64, "students": {} };
        match self.store.engine().insert(META, vec![class]).await {
            Ok(()) | Err(document::Error::DuplicateKey { .. }) => {}
            Err(error) => return Err(to_problem(error)),
        }
        let post = post_of(&self.class_document().await?)?;
        let text: PostText = OPENING.parse()?;
        self.posts().compose(&celebrity, Some(post), text).await.map(drop)
    }

    /// Whether this server serves a class.
    pub fn serves_a_class(&self) -> bool {
        self.environment.classroom.is_some()
    }

    /// The class as it is now.
    pub async fn class(&self, viewer: Option<&Handle>) -> Result<Class, Problem> {
        let class = self.class_document().await?;
        let card = self.class_post(post_of(&class)?, viewer).await?;
        let town = self.townspeople(&class).await?.len() as u64;
        let called = class.get_i64("called").unwrap_or_default().unsigned_abs();
        Ok(Class {
            address: self.classroom()?.to_owned(),
            card,
            students: students(&class),
            waiting: town.saturating_sub(called) / PEOPLE_AT_A_TIME as u64 * PEOPLE_AT_A_TIME as u64,
        })
    }

    /// The class's post. If somebody who signed in as its author has deleted it, it is created again, empty.
    async fn class_post(&self, post: PostId, viewer: Option<&Handle>) -> Result<PostCard, Problem> {
        match self.posts().get(post, viewer).await {
            Err(problem) if problem.kind == Kind::NotFound => {
                self.open_class().await?;
                self.posts().get(post, viewer).await
            }
            found => found,
        }
    }

    /// Gives a student a seat, a handle made from their name, and a session.
    pub async fn join(&self, name: DisplayName) -> Result<(Account, SessionToken), Problem> {
        self.classroom()?;
        let free = doc! { "_id": CLASS, "seats": { "$lt": SEATS } };
        let seat = FindAndModify::after(free, doc! { "$inc": { "seats": 1_i64 } }).project(doc! { "_id": 1 });
        let seated = self
            .store
            .engine()
            .find_and_modify(META, seat)
            .await
            .map_err(to_problem)?;
        if seated.is_none() {
            return Err(Problem::new(
                Kind::Conflict,
                format!("All {SEATS} seats are taken. Watch on somebody else’s screen."),
            )
            .about("name"));
        }
        let at = self.environment.now();
        for handle in handles(&name) {
            let user = User {
                person: Person {
                    handle,
                    name: name.clone(),
                },
                bio: String::new(),
                password: None,
                at,
            };
            let born = self.environment.ids.uuid(at);
            match self.store.people().insert(&user, born).await {
                Ok(()) => {
                    self.seat(&user.person).await?;
                    return self.start_session(user, at).await;
                }
                Err(document::Error::DuplicateKey { .. }) => {}
                Err(error) => {
                    self.give_back_a_seat().await?;
                    return Err(to_problem(error));
                }
            }
        }
        self.give_back_a_seat().await?;
        Err(Problem::new(
            Kind::Conflict,
            "Too many people here have this name. Add a letter.",
        )
        .about("name"))
    }

    /// Makes the next people of the town like the class's post on behalf of a student, each of them once. Returns
    /// how many did.
    ///
    /// One `$inc` decides who is next: two students never bring the same person.
    pub async fn add_likes(&self, student: &Handle) -> Result<u64, Problem> {
        self.classroom()?;
        let class = self.class_document().await?;
        let town = self.townspeople(&class).await?;
        let (party, all) = (whole(PEOPLE_AT_A_TIME), whole(town.len()));
        let brought = format!("students.{student}.brought");
        if !class
            .get_document("students")
            .is_ok_and(|students| students.contains_key(student.as_str()))
        {
            return Err(Problem::new(
                Kind::Forbidden,
                "You are not in this class. Join it by your name first.",
            ));
        }
        let waiting = doc! { "_id": CLASS, &brought: { "$exists": true }, "called": { "$lte": all - party } };
        let call = doc! { "$inc": { "called": party, &brought: party } };
        let call = FindAndModify::after(waiting, call).project(doc! { "called": 1 });
        let called = self
            .store
            .engine()
            .find_and_modify(META, call)
            .await
            .map_err(to_problem)?;
        let end = called.and_then(|class| usize::try_from(class.get_i64("called").ok()?).ok());
        let Some(end) = end else {
            return Err(Problem::new(
                Kind::Conflict,
                "Everybody in the town has already liked the post.",
            ));
        };
        let post = post_of(&class)?;
        let party = (end - PEOPLE_AT_A_TIME..end).map(|nth| self.like_surely(nth_of(town, nth), post));
        // Waits for all of them, even after a failure: nobody is called a second time.
        let came = futures::future::join_all(party).await;
        let came: Vec<()> = came.into_iter().collect::<Result<_, _>>()?;
        Ok(came.len() as u64)
    }

    /// Writes a like, with retries. A like is stored once however often it is tried.
    async fn like_surely(&self, person: &Handle, post: PostId) -> Result<(), Problem> {
        for _ in 1..TRIES {
            match self.reactions().like(person, post).await {
                Err(problem) if problem.kind == Kind::Unavailable => {}
                done => return done.map(drop),
            }
        }
        self.reactions().like(person, post).await.map(drop)
    }

    /// Reads the whole list of the class's post and compares its items with the stored count.
    pub async fn count_class_likes(&self) -> Result<ClassCount, Problem> {
        let _turn = COUNTING.acquire().await;
        let owner = Topic::Post(post_of(&self.class_document().await?)?);
        let list = self.store.list(Relation::Likes);
        let mut people = std::collections::HashSet::new();
        let (mut items, mut after) = (0, None);
        loop {
            let stretch = list
                .newest_first(&owner, after, super::Paging::MAX_LIMIT)
                .await
                .map_err(to_problem)?;
            items += stretch.items.len() as u64;
            people.extend(stretch.items.into_iter().filter_map(|Item { by, .. }| by));
            after = stretch.next;
            if after.is_none() {
                return Ok(ClassCount {
                    count: stretch.total,
                    items,
                    people: people.len() as u64,
                });
            }
        }
    }

    /// The students with their sessions, to be carried over into the new town.
    pub async fn class_members(&self) -> Result<Members, Problem> {
        let mut members = Members::default();
        for student in students(&self.class_document().await?) {
            let handle = student.person.handle;
            members
                .users
                .extend(self.store.people().get(&handle).await.map_err(to_problem)?);
            members
                .sessions
                .extend(self.store.sessions().of(&handle).await.map_err(to_problem)?);
        }
        Ok(members)
    }

    /// Begins the class again, with its students, in a town that was just loaded again.
    pub async fn reopen_class(&self, members: Members) -> Result<(), Problem> {
        let engine = self.store.engine();
        // The post keeps its id, so everybody who watches it continues to.
        let empty = doc! { "$set": { "seats": 0_i64, "called": 0_i64, "students": {} } };
        let class = Update::one(doc! { "_id": CLASS }, empty);
        engine.update(META, class).await.map_err(to_problem)?;
        self.open_class().await?;
        for user in &members.users {
            let born = self.environment.ids.uuid(user.at);
            self.store.people().insert(user, born).await.map_err(to_problem)?;
            let taken = Update::one(doc! { "_id": CLASS }, doc! { "$inc": { "seats": 1_i64 } });
            engine.update(META, taken).await.map_err(to_problem)?;
            self.seat(&user.person).await?;
        }
        for session in &members.sessions {
            self.store.sessions().insert(session).await.map_err(to_problem)?;
        }
        self.events.reset();
        Ok(())
    }

    async fn give_back_a_seat(&self) -> Result<(), Problem> {
        let free = Update::one(doc! { "_id": CLASS }, doc! { "$inc": { "seats": -1_i64 } });
        let given = self.store.engine().update(META, free).await;
        given.map_err(to_problem).map(drop)
    }

    async fn seat(&self, Person { handle, name }: &Person) -> Result<(), Problem> {
        let seat =
            doc! { "$set": { format!("students.{handle}"): { "name": name.as_str(), "brought": 0_i64 } } };
        let update = Update::one(doc! { "_id": CLASS }, seat);
        self.store
            .engine()
            .update(META, update)
            .await
            .map_err(to_problem)
            .map(drop)
    }

    /// Where students find this server, if it serves a class.
    fn classroom(&self) -> Result<&str, Problem> {
        self.environment.classroom.as_deref().ok_or_else(|| {
            Problem::new(
                Kind::NotFound,
                "This server does not serve a class. Start it with spillway serve --classroom.",
            )
        })
    }

    async fn class_document(&self) -> Result<Document, Problem> {
        self.classroom()?;
        let find = Find::matching(doc! { "_id": CLASS }).limit(1);
        let found = self.store.engine().find(META, find).await.map_err(to_problem)?;
        found.into_iter().next().ok_or_else(|| {
            Problem::new(
                Kind::Unavailable,
                "The class is being reset. Try again in a moment.",
            )
        })
    }

    /// Everybody whom a student can bring: the people of the town, except those whom somebody may be signed in as.
    async fn townspeople(&self, class: &Document) -> Result<&[Handle], Problem> {
        let read = async {
            let demo = self.demo_handles().await?;
            let students = students(class);
            let anybody = Find::matching(doc! { "password": null })
                .project(doc! { "_id": 1 })
                .sort(doc! { "_id": 1 });
            let found = self
                .store
                .engine()
                .find(people::COLLECTION, anybody)
                .await
                .map_err(to_problem)?;
            let handles = found
                .iter()
                .filter_map(|user| user.get_str("_id").ok()?.parse().ok());
            Ok(handles
                .filter(|handle| !demo.contains(handle))
                .filter(|handle| !students.iter().any(|student| student.person.handle == *handle))
                .collect())
        };
        self.townspeople.get_or_try_init(|| read).await.map(Vec::as_slice)
    }
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn post_of(class: &Document) -> Result<PostId, Problem> {
    let id: Option<bson::Uuid> = match class.get("post") {
        Some(bson::Bson::Binary(id)) => id.to_uuid().ok(),
        _ => None,
    };
    id.map(|id| PostId::from(uuid::Uuid::from(id)))
        .ok_or_else(|| Problem::new(Kind::Internal, "The post of the class is gone. Reset the class."))
}

fn students(class: &Document) -> Vec<Student> {
    let student = |(handle, seat): (&String, &bson::Bson)| {
        let seat = seat.as_document()?;
        let person = Person {
            handle: handle.parse().ok()?,
            name: seat.get_str("name").ok()?.parse().ok()?,
        };
        let brought = seat.get_i64("brought").unwrap_or_default().unsigned_abs();
        Some(Student { person, brought })
    };
    let seats = class.get_document("students").ok();
    let mut students: Vec<_> = seats.into_iter().flatten().filter_map(student).collect();
    students.sort_by(|a, b| {
        b.brought
            .cmp(&a.brought)
            .then_with(|| a.person.handle.cmp(&b.person.handle))
    });
    students
}

fn nth_of(town: &[Handle], nth: usize) -> &Handle {
    let stride = if town.len().is_multiple_of(STRIDE) {
        1
    } else {
        STRIDE
    };
    &town[nth * stride % town.len()]
}

/// The handles that suit a name, the plainest first.
fn handles(name: &DisplayName) -> impl Iterator<Item = Handle> {
    let plain: String = name
        .as_str()
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let short: String = plain.chars().take(Handle::MAX - 4).collect();
    let stem = if short.len() < Handle::MIN {
        "student".to_owned()
    } else {
        short
    };
    let seats = u64::try_from(SEATS).unwrap_or_default();
    (1..=seats).filter_map(move |nth| match nth {
        1 => stem.parse().ok(),
        nth => format!("{stem}-{nth}").parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn first(name: &str) -> String {
        handles(&name.parse().unwrap()).next().unwrap().to_string()
    }

    #[test]
    fn a_handle_is_made_from_a_name_in_any_script() {
        assert_eq!(first("Ada Lovelace"), "ada-lovelace");
        assert_eq!(first("  Zoë!"), "zo");
        assert_eq!(first("李雷"), "student");
        assert_eq!(first("X"), "student");
        assert_eq!(first(&"a".repeat(40)).len(), 26);
        let all: HashSet<_> = handles(&"Ada".parse().unwrap()).collect();
        assert_eq!(whole(all.len()), SEATS);
    }

    #[test]
    fn everybody_is_brought_once() {
        for people in [1, 10, 7_918, 7_919, 15_838, 24_000] {
            let town: Vec<Handle> = (0..people)
                .map(|nth| format!("p{nth}").parse().unwrap())
                .collect();
            let came: HashSet<_> = (0..people).map(|nth| nth_of(&town, nth)).collect();
            assert_eq!(came.len(), people);
        }
    }
}
