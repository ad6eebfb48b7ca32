//! A town of many owners, written directly into a store in memory, and an engine that counts commands.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bson::{DateTime, Document, doc};
use document::{Engine, Layer, Result};
use embedded::Embedded;
use model::{Handle, Relation, Timestamp, Topic};
use store::overflow::{Item, Key, Owner, PAGES, lay_out, owner_collection, owner_id, uuid_bson};
use store::{Settings, Store};
use uuid::Uuid;

/// How many people live in a town.
pub const PEOPLE: u64 = 100;
/// How many posts there are.
pub const POSTS: u64 = 900;
/// Every n-th post is popular.
pub const POPULAR: u64 = 30;

pub fn person(number: u64) -> Owner {
    Topic::User(name(number))
}

fn name(number: u64) -> Handle {
    format!("actor{}", number % PEOPLE).parse().unwrap()
}

pub fn post(number: u64) -> Owner {
    Topic::Post(Uuid::from_u128(u128::from(number) + 1).into())
}

/// All lists, by owner and relation.
type Lists = BTreeMap<(Owner, Relation), Vec<Item>>;

/// Makes the events in a town, one moment after the other.
struct Life {
    lists: Lists,
    moments: u64,
}

impl Life {
    /// Adds an item to a list, and its actor's activity.
    fn act(&mut self, actor: u64, kind: &str, owner: &Owner, relation: Relation, more: Document) -> Item {
        self.moments += 1;
        let id = Uuid::from_u128(0xABCD_0000 + u128::from(self.moments));
        let mut item = Item::new(
            id,
            name(actor),
            Timestamp::from_millis(1_000 + i64::try_from(self.moments).unwrap()),
        );
        item.more = more;
        let target = match owner {
            Topic::User(_) => "user",
            Topic::Post(_) => "post",
        };
        self.record_activity(actor, kind, id, doc! { target: owner_id(owner) });
        self.append(owner, relation, item.clone());
        item
    }

    fn record_activity(&mut self, actor: u64, kind: &str, id: Uuid, target: Document) {
        self.moments += 1;
        let mut more = doc! { "kind": kind };
        more.extend(target);
        let at = Timestamp::from_millis(1_000 + i64::try_from(self.moments).unwrap());
        self.append(
            &person(actor),
            Relation::Activities,
            Item {
                id,
                by: None,
                at,
                more,
            },
        );
    }

    fn append(&mut self, owner: &Owner, relation: Relation, item: Item) {
        self.lists
            .entry((owner.clone(), relation))
            .or_default()
            .push(item);
    }
}

fn lists() -> Lists {
    let mut life = Life {
        lists: Lists::new(),
        moments: 0,
    };
    for follower in 0..PEOPLE {
        for followed in follower + 1..follower + 15 {
            let followed = person(followed);
            let item = life.act(follower, "follow", &followed, Relation::Followers, doc! {});
            let Topic::User(followed) = followed else {
                unreachable!("people follow people")
            };
            let item = Item::new(item.id, followed, item.at);
            life.append(&person(follower), Relation::Following, item);
        }
    }
    for number in 0..POSTS {
        let this = post(number);
        let Topic::Post(id) = &this else {
            unreachable!("it is a post")
        };
        let target = doc! { "post": owner_id(&this) };
        life.record_activity(number, "post", id.uuid(), target);
        let likers = if number % POPULAR == 0 { 60 } else { 3 };
        for liker in number..number + likers {
            life.act(liker, "like", &this, Relation::Likes, doc! {});
        }
        life.act(
            number + 7,
            "comment",
            &this,
            Relation::Comments,
            doc! { "text": "Yes." },
        );
    }
    life.lists
}

/// A hundred people who follow each other and have published, liked and commented on posts. Most of their lists have
/// pages, and so do the likes of popular posts.
pub async fn town() -> Store {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, 10).unwrap();
        settings.set_page_size(relation, 8).unwrap();
    }
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, settings).await.unwrap();
    let mut lists = lists();
    let mut documents: BTreeMap<&str, Vec<Document>> = BTreeMap::new();
    let at = DateTime::from_millis(1);
    let people = (0..PEOPLE).map(|n| (person(n), doc! { "name": "Someone", "bio": "", "at": at }));
    let posts = (0..POSTS).map(|n| {
        let text = doc! { "author": name(n).as_str(), "text": "The weir is open.", "at": at };
        (post(n), text)
    });
    for ((owner, fields), born) in people.chain(posts).zip(1_u128..) {
        let born = Uuid::from_u128(born);
        let mut document = doc! { "_id": owner_id(&owner), "born": uuid_bson(born) };
        document.extend(fields);
        for &relation in owner.relations() {
            let items = lists.remove(&(owner.clone(), relation)).unwrap_or_default();
            let laid = lay_out(&owner, born, relation, store.settings().of(relation), items);
            document.insert(relation.as_str(), laid.list);
            documents.entry(PAGES).or_default().extend(laid.pages);
        }
        documents
            .entry(owner_collection(&owner))
            .or_default()
            .push(document);
    }
    for (collection, documents) in documents {
        store.engine().insert(collection, documents).await.unwrap();
    }
    store
}

/// Counts the commands that an engine gets. On request, something happens in town before each of them.
pub struct Counting {
    inner: Engine,
    commands: AtomicUsize,
    traffic: OnceLock<Store>,
}

impl Counting {
    /// A store over the same engine whose commands are counted from now on.
    pub async fn over(store: &Store) -> (Store, Arc<Self>) {
        let counting = Arc::new(Self {
            inner: store.engine().clone(),
            commands: AtomicUsize::new(0),
            traffic: OnceLock::new(),
        });
        let over = Store::open(counting.clone() as Engine, store.settings().clone())
            .await
            .unwrap();
        counting.commands.store(0, Ordering::Relaxed);
        (over, counting)
    }

    /// From now on people like and unlike popular posts, each time completely, between any two commands.
    pub fn begin_traffic(&self, store: Store) {
        assert!(self.traffic.set(store).is_ok(), "it has begun already");
    }

    pub fn commands(&self) -> u64 {
        self.commands.load(Ordering::Relaxed) as u64
    }

    /// Counts a command, and runs the traffic before it.
    async fn command(&self) {
        let step = self.commands.fetch_add(1, Ordering::Relaxed) as u64;
        if let Some(store) = self.traffic.get() {
            happen(store, step).await;
        }
    }
}

/// A person likes a popular post, removes that like, or the oldest like of the post is removed.
async fn happen(store: &Store, step: u64) {
    let number = step / 3 % (POSTS / POPULAR) * POPULAR;
    let (this, list) = (post(number), store.list(Relation::Likes));
    // No other like of this post is by them.
    let actor = name(number + 80);
    let id = Uuid::from_u128(0xFEED_0000 + u128::from(step / 3));
    let moment = i64::try_from(1_000_000 + step).unwrap();
    let like = Item::new(id, actor.clone(), Timestamp::from_millis(moment));
    let like = match step % 3 {
        0 => {
            list.append(&this, like.clone()).await.unwrap();
            let mut activity = Item { by: None, ..like };
            activity.more = doc! { "kind": "like", "post": owner_id(&this) };
            let activities = store.list(Relation::Activities);
            activities.append(&Topic::User(actor), activity).await.unwrap();
            return;
        }
        1 => like,
        _ => list.oldest_first(&this, None, 1).await.unwrap().items.remove(0),
    };
    let actor = like.by.unwrap();
    let activities = store.list(Relation::Activities);
    let key = Key::Id(like.id);
    activities
        .remove(&Topic::User(actor.clone()), &key)
        .await
        .unwrap();
    list.remove(&this, &Key::By(actor)).await.unwrap();
}

impl Layer for Counting {
    fn below(&self) -> &Engine {
        &self.inner
    }

    async fn call<T: Send>(&self, _writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        self.command().await;
        call.await
    }
}
