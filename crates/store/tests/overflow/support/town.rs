//! Authors and readers who act concurrently in every interleaving, and what must hold for home timelines after each.

mod explore;
mod overtaken;

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use bson::{Bson, Document, doc};
use document::{Error, Find};
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::Store;
use store::overflow::{Item, Key};
use store::people::User;
use store::posts::{Order, StoredPost};
use store::reactions::{Attempt, Reaction};
use store::timeline::COLLECTION;
use store::upkeep::{CheckOptions, Violation, check};
use uuid::Uuid;

pub use self::overtaken::Overtaken;
use super::operations::Operation;
use Act::{
    Delete, Follow, FollowSecond, Join, Leave, Look, Post, PostAgain, PostBySecond, Share, Unfollow,
    UnfollowSecond, Unshare,
};

/// Two authors and their readers, under unique names.
#[derive(Clone, Copy)]
struct Town {
    number: u64,
}

/// An action of one of several concurrent people.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// The author publishes the n-th post.
    Post(u64),
    /// The author publishes another post under the id of the n-th, a hundred milliseconds later.
    PostAgain(u64),
    /// The author deletes the n-th post.
    Delete(u64),
    /// The author shares the n-th post, which the second author wrote.
    Share(u64),
    /// The author takes that back.
    Unshare(u64),
    /// The n-th reader follows the author.
    Follow(u64),
    /// The n-th reader unfollows the author.
    Unfollow(u64),
    /// The n-th reader opens their home feed.
    Look(u64),
    /// The second author publishes the n-th post.
    PostBySecond(u64),
    /// The n-th reader follows the second author.
    FollowSecond(u64),
    /// The n-th reader unfollows the second author.
    UnfollowSecond(u64),
    /// A person deletes their account.
    Leave(u64),
    /// A new person takes the handle of the n-th person, who has left.
    Join(u64),
}
pub struct Scenario {
    /// Earlier actions, one after the other.
    pub before: &'static [Act],
    /// Concurrent actions; each person performs theirs in order.
    pub at_once: &'static [&'static [Act]],
    /// The author's followers in the end.
    pub followers: &'static [u64],
}

/// How many readers a town has.
const READERS: u64 = 5;
/// The number of the author.
const FIRST: u64 = 0;
/// The number of the second author.
pub const SECOND: u64 = 9;
/// How many posts a timeline holds.
const WINDOW: usize = 3;
const HASH: &str = "a hash";

thread_local! {
    /// The next number of [`fresh`]. It restarts with each run, so that runs which differ in nothing else are the
    /// same.
    static NUMBERS: Cell<u64> = const { Cell::new(1) };
}

/// A unique number for ids and incarnations.
fn fresh() -> u64 {
    NUMBERS.replace(NUMBERS.get() + 1)
}

impl Town {
    async fn new(store: &Store) -> Self {
        let town = Self { number: fresh() };
        for number in (0..=READERS).chain([SECOND]) {
            town.join(store, number).await.unwrap();
        }
        town
    }

    async fn join(self, store: &Store, number: u64) -> document::Result<()> {
        let handle = self.person(number);
        let name = handle.as_str().parse().unwrap();
        let user = User {
            person: model::Person { handle, name },
            bio: String::new(),
            password: Some(HASH.to_owned()),
            at: Timestamp::from_millis(0),
        };
        let born = Uuid::from_u128(fresh().into());
        match store.people().insert(&user, born).await {
            Ok(()) | Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn person(self, number: u64) -> Handle {
        format!("t{}p{number}", self.number).parse().unwrap()
    }

    fn post(self, number: u64) -> PostId {
        Uuid::from_u64_pair(self.number, number).into()
    }

    async fn act(self, store: &Store, act: Act) {
        loop {
            match self.attempt(store, act).await {
                // A person has left.
                Ok(()) | Err(Error::NoOwner(_)) => return,
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{act:?}: {error}"),
            }
        }
    }

    async fn attempt(self, store: &Store, act: Act) -> document::Result<()> {
        let timelines = store.timelines();
        match act {
            Post(number) => self.publish(store, FIRST, number, 0).await,
            PostAgain(number) => self.publish(store, FIRST, number, 100).await,
            PostBySecond(number) => self.publish(store, SECOND, number, 0).await,
            Share(number) => {
                let at = Timestamp::from_millis(500 + i64::try_from(number).unwrap());
                let item = Item::new(Uuid::from_u128(fresh().into()), self.person(FIRST), at);
                let (reaction, attempt) = self.share(number, at);
                store.reactions().add(&reaction, item, attempt).await.map(drop)
            }
            Unshare(number) => {
                let (reaction, attempt) = self.share(number, Timestamp::from_millis(600));
                let (author, reactions) = (self.person(FIRST), store.reactions());
                reactions.remove(&author, &reaction, attempt).await.map(drop)
            }
            Delete(number) => store.posts().delete(self.post(number)).await.map(drop),
            Follow(number) => self.follow(store, number, FIRST).await,
            FollowSecond(number) => self.follow(store, number, SECOND).await,
            Unfollow(number) => self.unfollow(store, number, FIRST).await,
            UnfollowSecond(number) => self.unfollow(store, number, SECOND).await,
            Look(number) => timelines.home(&self.person(number), None, 2).await.map(drop),
            Leave(number) => {
                let leaver = self.person(number);
                store.account_deletions().begin(&leaver, HASH).await?;
                store.account_deletions().finish(&leaver).await
            }
            Join(number) => self.join(store, number).await,
        }
    }

    async fn publish(self, store: &Store, author: u64, number: u64, later: u64) -> document::Result<()> {
        let store = &store.session();
        let (timelines, author) = (store.timelines(), self.person(author));
        let born = Uuid::from_u128(fresh().into());
        let at = Timestamp::from_millis(i64::try_from(number + later).unwrap());
        let text = "The weir is open.".parse().unwrap();
        match timelines
            .publish(self.post(number), born, &author, &text, at)
            .await
        {
            Ok(_) | Err(Error::DuplicateKey { .. }) => timelines.deliver(&author).await,
            Err(error) => Err(error),
        }
    }

    fn share(self, number: u64, at: Timestamp) -> (Reaction, Attempt) {
        let id = Uuid::from_u128(fresh().into());
        (Reaction::Share(self.post(number)), Attempt { id, at })
    }

    async fn follow(self, store: &Store, reader: u64, author: u64) -> document::Result<()> {
        let id = Uuid::from_u128(fresh().into());
        let item = Item::new(id, self.person(reader), Timestamp::from_millis(1));
        let author = self.person(author);
        store
            .timelines()
            .follow(&author, item.clone(), item.id)
            .await
            .map(drop)
    }

    async fn unfollow(self, store: &Store, reader: u64, author: u64) -> document::Result<()> {
        let attempt = Uuid::from_u128(fresh().into());
        let (reader, author) = (self.person(reader), self.person(author));
        store
            .timelines()
            .unfollow(&reader, &author, attempt)
            .await
            .map(drop)
    }

    fn operation(self, acts: &'static [Act]) -> Operation {
        Arc::new(move |store: Store| {
            Box::pin(async move {
                for act in acts {
                    self.act(&store, *act).await;
                }
            })
        })
    }

    /// At every moment: each entry is there once, and newest first.
    async fn assert_no_entry_stands_twice(self, store: &Store, events: &str) {
        for number in 1..=READERS {
            let Some(timeline) = self.timeline(store, number).await else {
                continue;
            };
            let entries = timeline.get_array("entries").unwrap();
            let orders: Vec<_> = entries.iter().map(order).collect();
            assert!(
                orders.is_sorted_by(|newer, older| newer > older) && orders.len() <= WINDOW,
                "{entries:?} after {events}"
            );
        }
    }

    async fn timeline(self, store: &Store, number: u64) -> Option<Document> {
        let find = Find::matching(doc! { "_id": self.person(number).as_str() });
        store.engine().find(COLLECTION, find).await.unwrap().pop()
    }

    /// The home feed, read two at a time, matches the authors' followers and the posts. People who have left have no
    /// timeline.
    async fn assert_home_is_right(self, store: &Store, events: &str) {
        for number in 1..=READERS {
            let reader = self.person(number);
            if store.people().get(&reader).await.unwrap().is_none() {
                let left = self.timeline(store, number).await;
                assert_eq!(
                    left, None,
                    "a timeline of reader {number}, who has left, after {events}"
                );
                continue;
            }
            let mut followed = Vec::new();
            for author in [FIRST, SECOND] {
                if self.follows(store, number, author).await {
                    followed.push(self.person(author));
                }
            }
            let posts = store
                .posts()
                .list(Some(&followed), Order::Newest, None, 100)
                .await
                .unwrap();
            let shared = store.shared_posts().list(&followed, None, 100).await.unwrap();
            let mut expected: Vec<_> = [posts, shared].concat().iter().map(StoredPost::place).collect();
            expected.sort_by_key(|place| Reverse(*place));
            let mut seen = Vec::new();
            let mut after = None;
            loop {
                let page = store.timelines().home(&reader, after, 2).await.unwrap();
                seen.extend(page.posts.iter().map(StoredPost::place));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(
                seen, expected,
                "home of reader {number} (follows: {followed:?}) after {events}"
            );
        }
    }

    /// A follow or unfollow after the reader has left, if it crashes, leaves a timeline. There is nothing in it that
    /// the next holder of the handle could see, and a check removes it.
    async fn assert_what_is_left_behind_is_empty_and_found(self, store: &Store, events: &str) {
        for number in 1..=READERS {
            let Some(timeline) = self.timeline(store, number).await else {
                continue;
            };
            if self.is_there(store, number).await {
                continue;
            }
            let is_built = timeline.get_bool("built").unwrap();
            assert!(!is_built, "{timeline} after {events}");
            let options = CheckOptions {
                repair: true,
                lists_only: false,
                pause: Duration::ZERO,
            };
            let checked = check(store, options, &|_, _| ()).await.unwrap();
            let owner = Topic::User(self.person(number)).to_string();
            let is_told = checked
                .findings
                .iter()
                .any(|finding| finding.owner == owner && finding.violation == Violation::OrphanTimeline);
            assert!(is_told, "{:?} after {events}", checked.findings);
        }
    }

    async fn follows(self, store: &Store, reader: u64, author: u64) -> bool {
        let followers = store.list(Relation::Followers);
        let key = Key::By(self.person(reader));
        match followers.find(&Topic::User(self.person(author)), &key).await {
            Ok(found) => found.is_some(),
            Err(Error::NoOwner(_)) => false,
            Err(error) => panic!("{error}"),
        }
    }

    async fn is_there(self, store: &Store, number: u64) -> bool {
        store.people().get(&self.person(number)).await.unwrap().is_some()
    }
}

fn order(entry: &Bson) -> (i64, String) {
    let entry = entry.as_document().unwrap();
    let at = entry.get_datetime("at").unwrap().timestamp_millis();
    (at, entry.get("post").unwrap().to_string())
}
