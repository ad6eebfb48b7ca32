//! Engines that do wrong what home timelines and reactions ask of them, like [`super::flawed`] for lists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, doc};
use checker::mutant::Write as _;
use checker::schedule::Between;
use document::{Change, Engine, Find, FindAndModify, Layer, Result, Update, Updated};
use store::overflow::PAGES;
use store::timeline::COLLECTION as TIMELINES;
use store::{people, posts};

use super::steps::FeedStep;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedFlaw {
    /// An author is marked as an outlier before the followers' timelines name them.
    MarkedFirst,
    /// Deliveries do not read the followers again after the timelines.
    FollowersReadOnce,
    /// An announcement takes an author who is leaving for one who stays.
    AnnouncesLeaving,
    /// A follow takes an author who is leaving for one who stays.
    FollowsLeaving,
    /// Lists are made to agree with the followers of an author who is leaving.
    AgreesWithLeaving,
    /// A post is marked as to be delivered after it was inserted.
    MarkedAfterwards,
    /// A timeline that has too little left is built without being emptied first.
    NotEmptied,
    /// Actions that were begun a moment ago are ended.
    EndsYoung,
}

/// An engine with a flaw.
pub struct FlawedFeed {
    engine: Engine,
    flaw: FeedFlaw,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// Whether an author is being announced.
    announces: bool,
    /// Who follows somebody.
    follower: Option<Bson>,
    /// Reads of followers, before the timelines were read.
    followers: HashMap<String, Vec<Document>>,
    /// Whether the timelines were read since.
    looked: bool,
}

impl FlawedFeed {
    fn of(engine: Engine, flaw: FeedFlaw) -> Engine {
        Arc::new(Self {
            engine,
            flaw,
            memory: Mutex::default(),
        })
    }

    /// Puts it between the operations and their engine.
    pub fn between(flaw: FeedFlaw) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, flaw)))
    }

    fn has(&self, flaw: FeedFlaw) -> bool {
        self.flaw == flaw
    }

    /// Hides from a look at people that they are leaving.
    fn hide_leaving(&self, people: &mut [Document]) {
        let memory = self.memory.lock().unwrap();
        for person in people {
            let hides = match self.flaw {
                FeedFlaw::AnnouncesLeaving => memory.announces,
                FeedFlaw::FollowsLeaving => {
                    memory.follower.is_some() && memory.follower.as_ref() != person.get("_id")
                }
                _ => false,
            };
            if hides {
                person.remove("leaving");
            }
        }
    }
}

/// Whether a read is one of an author's followers.
fn is_of_followers(collection: &str, find: &Find) -> bool {
    let reads = |field: &str| find.projection.keys().any(|path| path.starts_with(field));
    match collection {
        PAGES => find
            .filter
            .get_str("relation")
            .is_ok_and(|relation| relation == "followers"),
        people::COLLECTION => reads("followers.") && !reads("outlier"),
        _ => false,
    }
}

#[async_trait]
impl Layer for FlawedFeed {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.flaw))
    }

    async fn find(&self, collection: &str, mut find: Find) -> Result<Vec<Document>> {
        let of_people = collection == people::COLLECTION;
        if self.has(FeedFlaw::AgreesWithLeaving) && of_people && find.projection == doc! { "name": 1 } {
            find.filter.remove("leaving");
        }
        let followers = (self.has(FeedFlaw::FollowersReadOnce) && is_of_followers(collection, &find))
            .then(|| format!("{collection} {find:?}"));
        if let Some(read) = &followers {
            let memory = self.memory.lock().unwrap();
            if let Some(known) = memory.followers.get(read).filter(|_| memory.looked) {
                return Ok(known.clone());
            }
        }
        let looks = collection == TIMELINES && find.projection.contains_key("follows");
        let of_leaving = of_people && find.projection.contains_key("leaving");
        let mut found = self.engine.find(collection, find).await?;
        if of_leaving {
            self.hide_leaving(&mut found);
        }
        if self.has(FeedFlaw::NotEmptied) && collection == TIMELINES {
            for timeline in &mut found {
                let is_short = timeline.get_i64("room").is_ok_and(|room| room < 0);
                if is_short && timeline.get_array("entries").is_ok_and(Vec::is_empty) {
                    timeline.insert("built", false);
                }
            }
        }
        let mut memory = self.memory.lock().unwrap();
        memory.looked |= looks;
        if let Some(read) = followers.filter(|_| !memory.looked) {
            memory.followers.insert(read, found.clone());
        }
        Ok(found)
    }

    async fn insert(&self, collection: &str, mut documents: Vec<Document>) -> Result<()> {
        let mut marked = Vec::new();
        if self.has(FeedFlaw::MarkedAfterwards) && collection == posts::COLLECTION {
            for post in &mut documents {
                if post.remove("undelivered").is_some() {
                    marked.push(doc! { "_id": post.get("_id") });
                }
            }
        }
        self.engine.insert(collection, documents).await?;
        for post in marked {
            let mark = Update::one(post, doc! { "$set": { "undelivered": true } });
            self.engine.update(collection, mark).await?;
        }
        Ok(())
    }

    async fn update(&self, collection: &str, mut update: Update) -> Result<Updated> {
        let step = FeedStep::of_update(collection, &update.update);
        {
            let mut memory = self.memory.lock().unwrap();
            match step {
                Some(FeedStep::BeginToAnnounce) => memory.announces = true,
                Some(FeedStep::Doubt) => memory.follower = update.filter.get("_id").cloned(),
                _ => {}
            }
            memory.looked = false;
            memory.followers.clear();
        }
        if self.has(FeedFlaw::MarkedFirst)
            && step == Some(FeedStep::BeginToAnnounce)
            && let Change::Operators(operators) = &mut update.update
        {
            let set = operators.get_document_mut("$set").unwrap();
            set.insert("outlier", true);
        }
        self.engine.update(collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let mut changed = self.engine.find_and_modify(collection, change).await?;
        if self.has(FeedFlaw::EndsYoung)
            && let Some(intents) = changed
                .as_mut()
                .and_then(|person| person.get_array_mut("intents").ok())
        {
            for intent in intents {
                let long_ago = DateTime::from_millis(-1_000_000_000);
                intent.as_document_mut().unwrap().insert("at", long_ago);
            }
        }
        Ok(changed)
    }
}
