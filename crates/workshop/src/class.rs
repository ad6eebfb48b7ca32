//! A class that uses one server together: joining by name, one post that everybody likes, and a count of whom
//! each student brought. `store` keeps it in one document (`crates/store/src/class.rs`).

mod calling;
mod lesson;
mod members;
mod polls;

use std::collections::HashSet;

use feed::{Client, SessionToken, to_problem};
use model::{Account, DisplayName, Handle, Kind, Person, PostCard, PostId, Problem, Relation, Topic};
use store::Store;
use store::class::Stored;
pub use store::class::{Answered, Student};
use store::overflow::Item;
use store::people::User;
use store::posts::{Order, StoredPost};
use tokio::sync::{OnceCell, Semaphore};

use self::calling::{handles, nth_of};
pub use self::lesson::Lesson;
pub use self::members::Members;
pub use self::polls::Poll;
use crate::Workshop;

/// How many students can join.
pub const SEATS: i64 = 200;

/// How many of the latest posts the teacher sees.
const LATEST: usize = 20;
/// How many people of the town a student brings at a time.
pub const PEOPLE_AT_A_TIME: usize = 10;

/// How often the like of a called person is tried.
const TRIES: usize = 4;

/// A count reads a whole list, so only one count runs at a time.
static COUNTING: Semaphore = Semaphore::const_new(1);

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

/// Where a class meets, and whom it can bring.
#[derive(Default)]
pub(crate) struct Classroom {
    /// The address at which the students find this server.
    pub(crate) address: String,
    /// The people whom a class can bring, once they were read.
    townspeople: OnceCell<Vec<Handle>>,
}

impl Classroom {
    /// A room at this address.
    pub(crate) fn at(address: String) -> Self {
        Self {
            address,
            ..Self::default()
        }
    }
}

impl Workshop {
    /// Creates the class's post, unless it exists. A second call changes nothing; a call after an interruption
    /// finishes the work.
    pub async fn open_class(&self) -> Result<(), Problem> {
        let Some(celebrity) = self.feed.accounts().demo_handles().await?.into_iter().next() else {
            return Err(Problem::new(
                Kind::Conflict,
                "A class needs the demo town, and this store has none. Use an empty store, or serve with --no-demo and without a class.",
            ));
        };
        let fresh = self.feed.fresh_id(self.feed.now());
        self.store().class().create(fresh).await.map_err(to_problem)?;
        let post = self.stored_class().await?.post;
        let composed = self
            .feed
            .posts()
            .compose(&celebrity, Some(post), OPENING.parse()?, None);
        composed.await.map(drop)
    }

    /// Whether this server serves a class.
    pub fn serves_a_class(&self) -> bool {
        self.classroom.is_some()
    }

    /// The class as it is now.
    pub async fn class(&self, viewer: Option<&Handle>) -> Result<Class, Problem> {
        let class = self.stored_class().await?;
        let card = self.class_post(class.post, viewer).await?;
        let town = self.townspeople(&class).await?.len() as u64;
        Ok(Class {
            address: self.classroom()?.address.clone(),
            card,
            students: class.students,
            waiting: town.saturating_sub(class.called) / PEOPLE_AT_A_TIME as u64 * PEOPLE_AT_A_TIME as u64,
        })
    }

    /// The class's post, also for somebody who is blocked by its author. If somebody who signed in as its author has deleted
    /// it, it is created again, empty.
    async fn class_post(&self, post: PostId, viewer: Option<&Handle>) -> Result<PostCard, Problem> {
        match self.feed.posts().get(post, viewer).await {
            Err(problem) if problem.kind == Kind::NotFound => {
                self.open_class().await?;
                self.feed.posts().get(post, None).await
            }
            found => found,
        }
    }

    /// The latest posts and those that the teacher hides, for the teacher to decide; without the class's own.
    pub async fn latest_posts(&self) -> Result<Vec<StoredPost>, Problem> {
        let own = self.stored_class().await?.post;
        let posts = self.store().posts();
        let latest = posts.list(None, Order::Newest, None, LATEST);
        let (mut all, hidden) = futures::try_join!(latest, posts.withheld()).map_err(to_problem)?;
        for post in hidden {
            if !all.contains(&post) {
                all.push(post);
            }
        }
        all.retain(|post| post.id != own);
        Ok(all)
    }

    /// Hides a post from everybody, or no longer.
    pub async fn withhold(&self, post: PostId, on: bool) -> Result<(), Problem> {
        if self.stored_class().await?.post == post {
            return Err(Problem::new(
                Kind::Conflict,
                "The class uses this post, so it cannot be hidden.",
            ));
        }
        self.feed.moderation().withhold(post, on).await
    }

    /// Gives a student a seat, a handle made from their name, and a session.
    pub async fn join(&self, name: DisplayName, client: &Client) -> Result<(Account, SessionToken), Problem> {
        self.classroom()?;
        let seats = self.store().class();
        let mut seated = seats.take_seat(SEATS).await.map_err(to_problem)?;
        if !seated {
            self.free_seats().await?;
            seated = seats.take_seat(SEATS).await.map_err(to_problem)?;
        }
        if !seated {
            return Err(Problem::new(
                Kind::Conflict,
                format!("All {SEATS} seats are taken. Watch on somebody else’s screen."),
            )
            .about("name"));
        }
        let joined = self.sit_down(name, client).await;
        if joined.is_err() {
            seats.give_back_seat().await.map_err(to_problem)?;
        }
        joined
    }

    /// Gives back the seats of students who cannot return: without a password, nobody can continue a session that has
    /// ended. It is done when somebody needs a seat.
    async fn free_seats(&self) -> Result<(), Problem> {
        let students = self.stored_class().await?.students;
        let handles: Vec<&Handle> = students.iter().map(|student| &student.person.handle).collect();
        let sessions = self.store().sessions();
        let here = sessions.signed_in(&handles, self.feed.now()).await;
        let here = here.map_err(to_problem)?;
        for gone in handles.into_iter().filter(|handle| !here.contains(*handle)) {
            self.store().class().remove(gone).await.map_err(to_problem)?;
        }
        Ok(())
    }

    /// Gives a student, whose seat was taken before, a handle and a session.
    async fn sit_down(&self, name: DisplayName, client: &Client) -> Result<(Account, SessionToken), Problem> {
        let at = self.feed.now();
        // In one session: the second look must see whatever was held before the student could be inserted.
        let store = self.store().session();
        let held = async |handle: &Handle| store.held_handles().holds(handle, at).await.map_err(to_problem);
        for handle in handles(&name) {
            if held(&handle).await? {
                continue;
            }
            let user = User {
                person: Person {
                    handle,
                    name: name.clone(),
                },
                bio: String::new(),
                password: None,
                at,
            };
            let born = self.feed.fresh_id(at);
            match store.people().insert(&user, born).await {
                Ok(()) => {}
                Err(document::Error::DuplicateKey { .. }) => continue,
                Err(error) => return Err(to_problem(error)),
            }
            let person = user.person.clone();
            // Its holder may have left since the first look.
            if held(&person.handle).await? {
                store.people().delete(&person.handle).await.map_err(to_problem)?;
                continue;
            }
            // The session comes first: a student without one loses the seat.
            let joined = self.feed.accounts().start_session(user, at, client).await?;
            self.store().class().add(&person).await.map_err(to_problem)?;
            return Ok(joined);
        }
        Err(Problem::new(
            Kind::Conflict,
            "Too many people here have this name. Add a letter.",
        )
        .about("name"))
    }

    /// Makes the next people of the town like the class's post on behalf of a student, each of them once. Returns
    /// how many did.
    pub async fn add_likes(&self, student: &Handle) -> Result<u64, Problem> {
        self.classroom()?;
        let class = self.stored_class().await?;
        let town = self.townspeople(&class).await?;
        if !is_in(&class, student) {
            return Err(not_in_the_class());
        }
        let (party, all) = (whole(PEOPLE_AT_A_TIME), whole(town.len()));
        let called = self.store().class().call(student, party, all).await;
        let end = called
            .map_err(to_problem)?
            .and_then(|end| usize::try_from(end).ok());
        let Some(end) = end else {
            return Err(Problem::new(
                Kind::Conflict,
                "Everybody in the town has already liked the post.",
            ));
        };
        let post = class.post;
        let party = (end - PEOPLE_AT_A_TIME..end).map(|nth| self.like_surely(nth_of(town, nth), post));
        // Waits for all of them, even after a failure: nobody is called a second time.
        let came = futures::future::join_all(party).await;
        let came: Vec<()> = came.into_iter().collect::<Result<_, _>>()?;
        Ok(came.len() as u64)
    }

    /// Writes a like, with retries. A like is stored once however often it is tried.
    async fn like_surely(&self, person: &Handle, post: PostId) -> Result<(), Problem> {
        for _ in 1..TRIES {
            match self.feed.reactions().like(person, post).await {
                Err(problem) if problem.kind == Kind::Unavailable => {}
                done => return done.map(drop),
            }
        }
        self.feed.reactions().like(person, post).await.map(drop)
    }

    /// Reads the whole list of the class's post and compares its items with the stored count.
    pub async fn count_class_likes(&self) -> Result<ClassCount, Problem> {
        let _turn = COUNTING.acquire().await;
        let owner = Topic::Post(self.stored_class().await?.post);
        let mut people = HashSet::new();
        let (mut items, mut count) = (0, 0);
        let mut walk = self.store().list(Relation::Likes).walk(&owner);
        while let Some(stretch) = walk.next().await.map_err(to_problem)? {
            count = stretch.total;
            items += stretch.items.len() as u64;
            people.extend(stretch.items.into_iter().filter_map(|Item { by, .. }| by));
        }
        Ok(ClassCount {
            count,
            items,
            people: people.len() as u64,
        })
    }

    fn store(&self) -> &Store {
        self.feed.store()
    }

    /// The room of the class, if there is one.
    fn classroom(&self) -> Result<&Classroom, Problem> {
        self.classroom.as_deref().ok_or_else(|| {
            Problem::new(
                Kind::NotFound,
                "This server does not serve a class. Start it with spillway serve --classroom.",
            )
        })
    }

    async fn stored_class(&self) -> Result<Stored, Problem> {
        self.classroom()?;
        let stored = self.store().class().get().await.map_err(to_problem)?;
        stored.ok_or_else(|| {
            Problem::new(
                Kind::Unavailable,
                "The class is being reset. Try again in a moment.",
            )
        })
    }

    /// Everybody whom a student can bring: the people of the town, except those whom somebody may be signed in as.
    async fn townspeople(&self, class: &Stored) -> Result<&[Handle], Problem> {
        let read = async {
            let demo = self.feed.accounts().demo_handles().await?;
            let mut people = self
                .store()
                .people()
                .without_password()
                .await
                .map_err(to_problem)?;
            people.retain(|handle| !demo.contains(handle) && !is_in(class, handle));
            Ok(people)
        };
        let townspeople = &self.classroom()?.townspeople;
        townspeople.get_or_try_init(|| read).await.map(Vec::as_slice)
    }
}

fn not_in_the_class() -> Problem {
    Problem::new(
        Kind::Forbidden,
        "You are not in this class. Join it by your name first.",
    )
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn is_in(class: &Stored, handle: &Handle) -> bool {
    class
        .students
        .iter()
        .any(|student| student.person.handle == *handle)
}
