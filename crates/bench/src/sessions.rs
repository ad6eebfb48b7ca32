//! Whole likes, with the activities of those who like, on any store: many likers of one post, and what sessions cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use articles::{Layout, Overflow};
use chart::numbers::number;
use document::{Consistency, Engine};
use embedded::Embedded;
use model::{Handle, Person, PostId, Relation, Timestamp, Topic};
use mongo::Mongo;
use serde::Serialize;
use store::people::{COLLECTION, User};
use store::reactions::{Attempt, Reaction};
use store::upkeep::{CheckOptions, check};
use store::{Settings, Store};
use tempfile::TempDir;
use uuid::Uuid;
use workshop::layouts::lists::actor;

use crate::Result;
use crate::counting::Counting;
use crate::crowd::{CLIENTS, repeat};
use crate::lists::{default_limits, item, items, owner};
use crate::machine::{median, processor_time};

/// The name that stands for an embedded store in a folder of its own.
const EMBEDDED: &str = "embedded";

/// How many likes each post has before: some pages and a head.
const BEFORE: u64 = 500;

/// What was measured: once with sessions, if the store has them, and once without.
#[derive(Serialize)]
pub struct SessionResults {
    /// Which writes the store's reads may miss.
    pub consistency: String,
    /// The results.
    pub sides: Vec<Measured>,
}

/// The results with or without sessions.
#[derive(Serialize)]
pub struct Measured {
    /// Whether each operation was in one causally consistent session.
    pub sessions: bool,
    /// One person after the other likes a post.
    pub like: Alone,
    /// They read its newest twenty likes.
    pub read: Alone,
    /// They remove their likes.
    pub unlike: Alone,
    /// 64 people like one post at the same time.
    pub likers: Likers,
}

/// Operations one after the other.
#[derive(Serialize)]
pub struct Alone {
    /// The median time, in microseconds.
    pub median_us: f64,
    /// Commands for each.
    pub commands: f64,
    /// The medians of the rounds.
    pub rounds: Vec<f64>,
}

/// Many likers of one post. Numbers are the medians of the rounds, and counts are for each like.
#[derive(Serialize)]
pub struct Likers {
    /// Likes a second.
    pub per_second: f64,
    /// Commands.
    pub commands: f64,
    /// Durable commits; zero where the store does not report them.
    pub commits: f64,
    /// Documents written; zero where the store does not report them.
    pub written: f64,
    /// Processor time of this process, in microseconds.
    pub processor_us: f64,
    /// Likes that one push added.
    pub together: f64,
    /// Pushes that were repeated, in all rounds.
    pub retries: u64,
    /// The rounds, in likes per second.
    pub rounds: Vec<f64>,
}

/// How much to do.
struct Amount {
    rounds: usize,
    alone: u64,
    crowd: u64,
}

/// A store that is empty before and after.
struct EmptyStore {
    engine: Engine,
    embedded: Option<Arc<Embedded>>,
    server: Option<Mongo>,
    _folder: Option<TempDir>,
}

impl EmptyStore {
    async fn at(address: &str) -> Result<Self> {
        if address == EMBEDDED {
            let folder = tempfile::tempdir()?;
            let embedded = Arc::new(Embedded::open(folder.path())?);
            return Ok(Self {
                engine: embedded.clone(),
                embedded: Some(embedded),
                server: None,
                _folder: Some(folder),
            });
        }
        let server = Mongo::connect(address).await?;
        let engine: Engine = Arc::new(server.clone());
        if !engine.collections().await?.is_empty() {
            return Err("the database is not empty: name one that does not exist yet".into());
        }
        Ok(Self {
            engine,
            embedded: None,
            server: Some(server),
            _folder: None,
        })
    }

    async fn clear(&self) -> Result<()> {
        if let Some(server) = &self.server {
            server.database().drop().await?;
        }
        Ok(())
    }
}

/// The store in sessions or without, and what was measured on it.
struct Side {
    sessions: bool,
    store: Store,
    lists: Overflow,
    sent: Arc<AtomicU64>,
    embedded: Option<Arc<Embedded>>,
    alone: [(Vec<f64>, u64, u64); 3],
    crowds: Vec<Crowd>,
}

struct Crowd {
    per_second: f64,
    commands: f64,
    commits: f64,
    written: f64,
    processor_us: f64,
    together: f64,
    retries: u64,
}

/// The numbers of people and posts that were used so far.
#[derive(Default)]
struct Used {
    people: u64,
    posts: u64,
}

/// Measures on a store that is empty, and removes everything from it.
pub async fn measure(address: &str, quick: bool) -> Result<SessionResults> {
    let place = EmptyStore::at(address).await?;
    let measured = run(&place, quick).await;
    place.clear().await?;
    measured
}

async fn run(place: &EmptyStore, quick: bool) -> Result<SessionResults> {
    let amount = Amount {
        rounds: if quick { 1 } else { 9 },
        alone: if quick { 3 } else { 10 },
        crowd: if quick || place.embedded.is_none() {
            CLIENTS
        } else {
            CLIENTS * 200
        },
    };
    let consistency = place.engine.capabilities().consistency;
    let mut sides = Vec::new();
    if consistency == Consistency::Causal {
        sides.push(Side::open(place, true).await?);
    }
    sides.push(Side::open(place, false).await?);
    let mut used = Used::default();
    for _ in 0..amount.rounds {
        for side in &mut sides {
            side.one_by_one(&mut used, amount.alone).await?;
            side.crowd(&mut used, amount.crowd).await?;
        }
        // Nobody is always the second.
        sides.reverse();
    }
    sides.sort_by_key(|side| !side.sessions);
    Ok(SessionResults {
        consistency: format!("{consistency:?}"),
        sides: sides.into_iter().map(Side::measured).collect(),
    })
}

impl Side {
    async fn open(place: &EmptyStore, sessions: bool) -> Result<Self> {
        let (engine, sent) = Counting::begin(Arc::clone(&place.engine), sessions);
        Ok(Self {
            sessions,
            store: Store::open(Arc::clone(&engine), Settings::default()).await?,
            lists: Overflow::open(engine, default_limits()).await?,
            sent,
            embedded: place.embedded.clone(),
            alone: Default::default(),
            crowds: Vec::new(),
        })
    }

    /// A post with likes, and people who have not liked it yet.
    async fn prepare(&self, used: &mut Used, people: u64) -> Result<(PostId, std::ops::Range<u64>)> {
        let post = owner(used.posts);
        used.posts += 1;
        self.lists.load(post, items(BEFORE)?).await?;
        let first = BEFORE + used.people;
        used.people += people;
        let range = first..first + people;
        let joined: Result<Vec<_>> = range.clone().map(person).collect();
        self.store.insert_owners(COLLECTION, joined?, Vec::new()).await?;
        Ok((post, range))
    }

    async fn one_by_one(&mut self, used: &mut Used, count: u64) -> Result<()> {
        let (post, people) = self.prepare(used, count).await?;
        let reaction = Reaction::Like(post);
        let topic = Topic::Post(post);
        for operation in 0..3 {
            let before = self.sent.load(Ordering::Relaxed);
            let mut times = Vec::new();
            for number in people.clone() {
                let began = Instant::now();
                match operation {
                    0 => like(&self.store, post, number).await?,
                    1 => {
                        let list = self.store.list(Relation::Likes);
                        list.newest_first(&topic, None, 20).await?;
                    }
                    _ => {
                        let attempt = attempt(number, 1);
                        let reactions = self.store.reactions();
                        reactions.remove(&actor(number)?, &reaction, attempt).await?;
                    }
                }
                times.push(began.elapsed().as_secs_f64() * 1e6);
            }
            let (medians, commands, done) = &mut self.alone[operation];
            medians.push(median(times));
            *commands += self.sent.load(Ordering::Relaxed) - before;
            *done += count;
        }
        Ok(())
    }

    async fn crowd(&mut self, used: &mut Used, count: u64) -> Result<()> {
        let (post, people) = self.prepare(used, count).await?;
        let counters = || self.embedded.as_ref().map(|embedded| embedded.counters());
        let work = self.store.work(Relation::Likes);
        let (sent, wrote) = (self.sent.load(Ordering::Relaxed), counters().unwrap_or_default());
        let (began, processor) = (Instant::now(), processor_time()?);
        let (store, next) = (self.store.clone(), Arc::new(AtomicU64::new(people.start)));
        repeat(move || {
            let (store, number) = (store.clone(), next.fetch_add(1, Ordering::Relaxed));
            async move {
                if number >= people.end {
                    return Ok(false);
                }
                like(&store, post, number).await.map(|()| true)
            }
        })
        .await?;
        let (took, done) = (began.elapsed().as_secs_f64(), number(count));
        let now = self.store.work(Relation::Likes);
        let written = counters().unwrap_or_default();
        self.crowds.push(Crowd {
            per_second: done / took,
            commands: number(self.sent.load(Ordering::Relaxed) - sent) / done,
            commits: number(written.commits - wrote.commits) / done,
            written: number(written.documents_written - wrote.documents_written) / done,
            processor_us: (processor_time()? - processor) * 1e6 / done,
            together: number(now.added - work.added) / number((now.pushes - work.pushes).max(1)),
            retries: now.retries - work.retries,
        });
        Ok(())
    }

    fn measured(self) -> Measured {
        let [like, read, unlike] = self.alone.map(|(rounds, commands, done)| Alone {
            median_us: median(rounds.clone()),
            commands: number(commands) / number(done.max(1)),
            rounds,
        });
        let crowds = &self.crowds;
        let middle = |value: fn(&Crowd) -> f64| median(crowds.iter().map(value).collect());
        let likers = Likers {
            per_second: middle(|crowd| crowd.per_second),
            commands: middle(|crowd| crowd.commands),
            commits: middle(|crowd| crowd.commits),
            written: middle(|crowd| crowd.written),
            processor_us: middle(|crowd| crowd.processor_us),
            together: middle(|crowd| crowd.together),
            retries: crowds.iter().map(|crowd| crowd.retries).sum(),
            rounds: crowds.iter().map(|crowd| crowd.per_second).collect(),
        };
        Measured {
            sessions: self.sessions,
            like,
            read,
            unlike,
            likers,
        }
    }
}

async fn like(store: &Store, post: PostId, number: u64) -> Result<()> {
    let item = item(number)?;
    store
        .reactions()
        .add(&Reaction::Like(post), item, attempt(number, 0))
        .await?;
    Ok(())
}

fn attempt(number: u64, which: u64) -> Attempt {
    let id = Uuid::from_u128(0x0195_0000_0000_7000_8000_0000_0000_0000 + u128::from(number * 2 + which));
    let at = Timestamp::from_millis(1_770_000_000_000 + i64::try_from(number).unwrap_or(0));
    Attempt { id, at }
}

fn person(number: u64) -> Result<bson::Document> {
    let handle: Handle = actor(number)?;
    let user = User {
        person: Person {
            name: "A liker".parse().map_err(|_| "not a name")?,
            handle,
        },
        bio: String::new(),
        password: None,
        at: Timestamp::from_millis(0),
    };
    Ok(user.to_document(Uuid::from_u128(u128::from(number) + 1)))
}

/// What a check of a whole store took.
#[derive(Serialize)]
pub struct Check {
    owners: u64,
    pages: u64,
    items: u64,
    findings: usize,
    commands: u64,
    seconds: f64,
}

/// Checks a store that a town was loaded into, and counts the commands. A result of more than a thousand documents
/// takes further ones, which are not counted.
pub async fn count_check(address: &str) -> Result<Check> {
    let server: Engine = Arc::new(Mongo::connect(address).await?);
    let (engine, sent) = Counting::begin(server, true);
    let store = Store::open(engine, Settings::default()).await?;
    let (before, began) = (sent.load(Ordering::Relaxed), Instant::now());
    let checked = check(&store, CheckOptions::default(), &|_, _| {}).await?;
    Ok(Check {
        owners: checked.owners,
        pages: checked.pages,
        items: checked.items,
        findings: checked.findings.len(),
        commands: sent.load(Ordering::Relaxed) - before,
        seconds: began.elapsed().as_secs_f64(),
    })
}
