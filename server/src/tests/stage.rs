//! One store, and the application over it with all layers before its routes.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use app::notice::Notices;
use axum::Router;
use axum::http::Method;
use axum::http::header::COOKIE;
use bson::{DateTime, Document, doc};
use document::{DocumentEngine as _, Find, Update};
use embedded::Embedded;
use feed::{Clock as _, Feed, NewComment};
use governor::Quota;
#[cfg(feature = "workshop")]
use model::Person;
use model::{Kind, Relation, Topic};
use store::overflow::{Item, empty, owner_collection, owner_id};
#[cfg(feature = "workshop")]
use store::people::{self, User};
#[cfg(feature = "workshop")]
use uuid::Uuid;
use web::{Cookies, PublicAddress, Sessions};
#[cfg(feature = "workshop")]
use workshop::{Workshop, class::PEOPLE_AT_A_TIME};

pub use super::call::{Answer, Call, JSON, PAGE};
use super::player::{Ticking, feed_over};
use crate::http::{Limits, Quotas, Reach, RequestLog, forgery_protection};
use crate::listen::Most;
use crate::serve::{Access, routes};
use crate::shutdown::Shutdown;
use crate::site::Site;
use crate::wing::Wing;

/// Where a class finds the application.
#[cfg(feature = "workshop")]
const CLASSROOM: &str = "http://10.0.0.5:3000";

/// The connections of a server with limits.
const MOST: Most = Most {
    connections: 4_096,
    of_a_peer: 128,
};

pub struct Stage {
    pub clock: Arc<Ticking>,
    engine: Embedded,
    feed: Feed,
    shutdown: Shutdown,
}

impl Stage {
    /// An empty store of the demo town; bob belongs to its people once he joins.
    pub async fn new() -> Self {
        let engine = Embedded::in_memory().unwrap();
        let town = doc! { "_id": "town", "demo": ["bob"] };
        engine.insert("meta", vec![town]).await.unwrap();
        let clock = Ticking::since(1_700_000_000_000);
        let feed = feed_over(Arc::new(engine.clone()), Arc::clone(&clock), true).await;
        Self {
            clock,
            engine,
            feed,
            shutdown: Shutdown::listen().unwrap(),
        }
    }

    /// The application without limits, for browsers anywhere.
    pub fn open(&self) -> Router {
        self.app(Reach::Everybody, None)
    }

    /// The application for browsers on this machine.
    pub fn for_this_machine(&self) -> Router {
        self.app(Reach::ThisMachine, None)
    }

    /// The application that takes one request an hour where the quota is this one.
    pub fn limited(&self, quota: impl FnOnce(&mut Quotas) -> &mut Quota) -> Router {
        self.limited_to(quota, NonZeroU32::MIN)
    }

    /// The application that takes this many requests an hour where the quota is this one.
    pub fn limited_to(&self, quota: impl FnOnce(&mut Quotas) -> &mut Quota, requests: NonZeroU32) -> Router {
        let often = Quota::per_second(NonZeroU32::MAX);
        let mut quotas = Quotas {
            peer: often,
            passwords: often,
            starts: often,
            account: often,
            reads: often,
            shared_tries: often,
        };
        *quota(&mut quotas) = Quota::per_hour(requests);
        self.app(Reach::Everybody, Some(Arc::new(Limits::new(quotas, MOST))))
    }

    /// The same place where addresses share one try to sign in to an account in an hour, after their own.
    pub fn limiting_tries(mut self) -> Self {
        self.feed = self.feed.limiting_tries(Quota::per_hour(NonZeroU32::MIN));
        self
    }

    #[cfg(not(feature = "workshop"))]
    fn wing(&self) -> Wing {
        Wing::over(&self.feed, None)
    }

    /// With a class, whose teacher cannot load the town again.
    #[cfg(feature = "workshop")]
    fn wing(&self) -> Wing {
        let reload = Arc::new(|| Box::pin(async { Ok(()) }) as _);
        Wing::over(&self.feed, Some(CLASSROOM.to_owned())).taught([7; 32], reload)
    }

    fn app(&self, reach: Reach, limits: Option<Arc<Limits>>) -> Router {
        let access = Access {
            forgery: forgery_protection(None).unwrap(),
            reach,
            proxies: 0,
            limits,
            https: false,
            public: PublicAddress::default(),
            notices: Notices::new([7; 32], false),
            wing: self.wing(),
        };
        let sessions = Sessions {
            feed: self.feed.clone(),
            cookies: Cookies::new(false),
        };
        let site = Site::find(None, SocketAddr::from(([127, 0, 0, 1], 3000))).unwrap();
        let log = RequestLog::new(self.clock.now());
        routes(
            self.feed.clone(),
            sessions,
            &site,
            access,
            log,
            self.shutdown.phases(),
        )
    }

    /// Signs somebody up; returns the cookie of their session.
    pub async fn joins(&self, handle: &str) -> String {
        let account = format!(r#"{{"handle":"{handle}","name":"{handle}","password":"correct horse"}}"#);
        let request = Call::new(Method::POST, "/api/v1/accounts").body(JSON, &account);
        let answer = request.send(&self.open()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.cookie()
    }

    /// The id of a created resource.
    pub async fn creates(&self, cookie: &str, path: &str) -> String {
        let call = Call::new(Method::POST, path).header(COOKIE.as_str(), cookie);
        let answer = call.body(JSON, r#"{"text":"Hello"}"#).send(&self.open()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body["id"].as_str().unwrap().to_owned()
    }

    /// The documents of one collection.
    pub async fn documents(&self, collection: &str) -> Vec<Document> {
        self.engine.find(collection, Find::default()).await.unwrap()
    }

    /// Adds documents, as a restored backup or a slow server would.
    pub async fn puts_back(&self, collection: &str, documents: Vec<Document>) {
        self.engine.insert(collection, documents).await.unwrap();
    }

    /// Records when the demo town ends: younger posts are by its visitors.
    pub async fn says_that_its_town_ends_at(&self, now: DateTime) {
        let recipe = doc! { "$set": { "recipe": { "now": now } } };
        let town = Update::one(doc! { "_id": "town" }, recipe);
        assert_eq!(self.engine.update("meta", town).await.unwrap().modified, 1);
    }

    /// How many operations the store has done.
    pub fn operations(&self) -> u64 {
        self.engine.counters().operations
    }

    /// How many documents the store has read.
    pub fn documents_read(&self) -> u64 {
        self.engine.counters().documents_read
    }

    /// The feed below the application.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Makes an account's password unusable.
    pub async fn forgets_the_password_of(&self, handle: &str) {
        let forget = Update::one(doc! { "_id": handle }, doc! { "$set": { "password": null } });
        assert_eq!(self.engine.update("users", forget).await.unwrap().modified, 1);
    }

    /// Opens a class with one student, and as many people as a student brings at a time.
    #[cfg(feature = "workshop")]
    pub async fn opens_a_class_with(&self, student: &str) {
        let workshop = Workshop::new(self.feed.clone(), Some(CLASSROOM.to_owned()));
        workshop.open_class().await.unwrap();
        let seat = doc! { "name": student, "brought": 0_i64 };
        let seat = doc! { "$set": { format!("students.{student}"): seat, "station": "race" } };
        let class = Update::one(doc! { "_id": "class" }, seat);
        assert_eq!(self.engine.update("meta", class).await.unwrap().modified, 1);
        let people = (0..PEOPLE_AT_A_TIME).map(|nth| {
            let born = Uuid::from_u128(nth as u128);
            let person = Person {
                handle: format!("someone-{nth}").parse().unwrap(),
                name: "Someone".parse().unwrap(),
            };
            let user = User {
                person,
                bio: String::new(),
                password: None,
                at: self.clock.now(),
            };
            user.to_document(born)
        });
        self.puts_back(people::COLLECTION, people.collect()).await;
    }

    /// Makes an owner's list one of just this item.
    pub async fn lists_only(&self, owner: &Topic, relation: Relation, item: Item) {
        let store = self.feed.store();
        let set = doc! { "$set": { relation.as_str(): empty() } };
        let emptied = Update::one(doc! { "_id": owner_id(owner) }, set);
        let emptied = self.engine.update(owner_collection(owner), emptied).await;
        assert_eq!(emptied.unwrap().matched, 1);
        let added = store.list(relation).append(owner, item).await.unwrap();
        assert_eq!((added.added, added.count), (true, 1));
    }

    /// Finishes the deletion of all accounts that are being deleted.
    pub async fn finish_account_deletions(&self) {
        self.feed.accounts().finish_deletions().await.unwrap();
    }

    /// Lets anybody have the handles of those who left, as after thirty days.
    pub async fn releases_handles(&self) {
        assert_ne!(self.engine.delete("heldHandles", doc! {}, true).await.unwrap(), 0);
    }

    /// An action whose actor is gone by the time that their activity is written.
    pub async fn acts_for_somebody_gone(&self, what: &str, post: &str) {
        let (gone, post) = ("gone".parse().unwrap(), post.parse().unwrap());
        let acted = match what {
            "like" => self.feed.reactions().like(&gone, post).await.map(drop),
            "share" => self.feed.reactions().share(&gone, post).await.map(drop),
            _ => {
                let new = NewComment {
                    id: None,
                    text: "Hello".parse().unwrap(),
                    reply_to: None,
                };
                self.feed.reactions().comment(&gone, post, new).await.map(drop)
            }
        };
        assert_eq!(acted.unwrap_err().kind, Kind::NotFound);
    }

    /// Every document of the store.
    pub async fn everything(&self) -> Vec<(String, Vec<Document>)> {
        let mut all = Vec::new();
        for collection in self.engine.collections().await.unwrap() {
            let documents = self.engine.find(&collection, Find::default()).await.unwrap();
            all.push((collection, documents));
        }
        all
    }
}
