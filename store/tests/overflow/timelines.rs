//! Home timelines under the interleavings of posts, follows, unfollows, spilling followers and first looks, with a crash
//! before any write or a lost answer to any write. Whatever happened, home is what the lists and the posts say.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bson::{Bson, Document, doc};
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, Key};
use store::people::User;
use store::port::Find;
use store::posts::Order;
use store::timeline::COLLECTION;
use store::{Error, Store};
use uuid::Uuid;

use crate::support::mutant::Fault::{self, Guard, Part};
use crate::support::mutant::Mutant;
use crate::support::mutant::Step::{Announce, BeginToAnnounce, Deliver, Doubt, Rewrite};
use crate::support::schedule::{Between, Bounds, Explorer, Operation};
use crate::support::small_store;

/// An author and their readers, under names of their own.
#[derive(Clone, Copy)]
struct Town {
    number: u64,
}

/// What one of several who act at once does.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// The author publishes the n-th post.
    Post(u64),
    /// The author deletes the n-th post.
    Delete(u64),
    /// The n-th reader follows the author.
    Follow(u64),
    /// The n-th reader unfollows the author.
    Unfollow(u64),
    /// The n-th reader opens their home feed.
    Look(u64),
}
use Act::{Delete, Follow, Look, Post, Unfollow};

struct Scenario {
    /// What has happened, one after the other.
    before: &'static [Act],
    /// What happens at once; each does their things in turn.
    at_once: &'static [&'static [Act]],
    /// Who follows the author once everybody has come through.
    followers: &'static [u64],
}

/// How many readers a town has.
const READERS: u64 = 5;

/// Fresh ids and incarnations.
fn fresh() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

impl Town {
    async fn new(store: &Store) -> Self {
        let town = Self { number: fresh() };
        for number in 0..=READERS {
            let handle = town.person(number);
            let name = handle.as_str().parse().unwrap();
            let user = User {
                person: model::Person { handle, name },
                bio: String::new(),
                password: None,
                at: Timestamp::from_millis(0),
            };
            let born = Uuid::from_u128(fresh().into());
            store.people().insert(&user, born).await.unwrap();
        }
        town
    }

    /// The author is number 0.
    fn person(self, number: u64) -> Handle {
        format!("t{}p{number}", self.number).parse().unwrap()
    }

    fn post(self, number: u64) -> PostId {
        Uuid::from_u64_pair(self.number, number).into()
    }

    async fn act(self, store: &Store, act: Act) {
        loop {
            match self.attempt(store, act).await {
                Ok(()) => return,
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{act:?}: {error}"),
            }
        }
    }

    async fn attempt(self, store: &Store, act: Act) -> store::Result<()> {
        let (timelines, author) = (store.timelines(), self.person(0));
        match act {
            Post(number) => {
                let born = Uuid::from_u128(fresh().into());
                let at = Timestamp::from_millis(i64::try_from(number).unwrap());
                let text = "The weir is open.".parse().unwrap();
                match timelines
                    .publish(self.post(number), born, &author, &text, at)
                    .await
                {
                    Ok(_) | Err(Error::DuplicateKey { .. }) => {}
                    Err(error) => return Err(error),
                }
                timelines.deliver(&author).await
            }
            Delete(number) => store.posts().delete(self.post(number)).await.map(drop),
            Follow(number) => {
                let id = Uuid::from_u128(fresh().into());
                let item = Item::new(id, self.person(number), Timestamp::from_millis(1));
                timelines.follow(&author, item).await.map(drop)
            }
            Unfollow(number) => {
                let attempt = Uuid::from_u128(fresh().into());
                let reader = self.person(number);
                timelines.unfollow(&reader, &author, attempt).await.map(drop)
            }
            Look(number) => timelines.home(&self.person(number), None, 2).await.map(drop),
        }
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

    /// At every moment: an entry stands once, and newest first.
    async fn assert_no_entry_stands_twice(self, store: &Store, events: &str) {
        for number in 1..=READERS {
            let Some(timeline) = self.timeline(store, number).await else {
                continue;
            };
            let entries = timeline.get_array("entries").unwrap();
            let orders: Vec<_> = entries.iter().map(order).collect();
            assert!(
                orders.is_sorted_by(|newer, older| newer > older),
                "{entries:?} after {events}"
            );
        }
    }

    async fn timeline(self, store: &Store, number: u64) -> Option<Document> {
        let find = Find::matching(doc! { "_id": self.person(number).as_str() });
        store.engine().find(COLLECTION, find).await.unwrap().pop()
    }

    /// Home, read three at a time, is what the author's followers and the posts say.
    async fn assert_home_is_right(self, store: &Store, events: &str) {
        let author = self.person(0);
        let posts = store
            .posts()
            .list(Some(std::slice::from_ref(&author)), Order::Newest, None, 100)
            .await
            .unwrap();
        for number in 1..=READERS {
            let reader = self.person(number);
            let followed = self.follows(store, number).await;
            let expected: Vec<_> = posts.iter().filter(|_| followed).map(|post| post.id).collect();
            let mut seen = Vec::new();
            let mut after = None;
            loop {
                let page = store.timelines().home(&reader, after, 3).await.unwrap();
                seen.extend(page.posts.iter().map(|post| post.id));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(
                seen, expected,
                "home of reader {number} (follows: {followed}) after {events}"
            );
        }
    }

    async fn follows(self, store: &Store, number: u64) -> bool {
        let followers = store.list(Relation::Followers);
        let key = Key::By(self.person(number));
        followers
            .find(&Topic::User(self.person(0)), &key)
            .await
            .unwrap()
            .is_some()
    }
}

fn order(entry: &Bson) -> (i64, String) {
    let entry = entry.as_document().unwrap();
    let at = entry.get_datetime("at").unwrap().timestamp_millis();
    (at, entry.get("post").unwrap().to_string())
}

/// As in the lists' model check.
fn switches() -> usize {
    std::env::var("SPILLWAY_MODEL_SWITCHES")
        .ok()
        .and_then(|switches| switches.parse().ok())
        .unwrap_or(2)
}

impl Scenario {
    /// Every interleaving, and where there are not too many steps, every fault in those with one switch less.
    async fn explore(&self, between: Between) {
        let store = small_store(3, 2).await;
        let faultless = Bounds {
            switches: switches(),
            faults: 0,
        };
        self.explore_within(&store, faultless, between).await;
        if self.at_once.iter().all(|acts| acts.len() == 1) {
            let faulty = Bounds {
                switches: switches() - 1,
                faults: 1,
            };
            self.explore_within(&store, faulty, between).await;
        }
    }

    async fn explore_within(&self, store: &Store, bounds: Bounds, between: Between) {
        let mut explorer = Explorer::new(bounds);
        loop {
            let town = Town::new(store).await;
            for act in self.before {
                town.act(store, *act).await;
            }
            let operations: Vec<_> = self.at_once.iter().map(|acts| town.operation(acts)).collect();
            let run = explorer
                .run(store, &operations, between, async || {
                    town.assert_no_entry_stands_twice(store, "a write").await;
                })
                .await;
            let events = format!("{:#?}", run.story);
            // Those who died have not come back. The sweep does what they left undone for others.
            store.timelines().deliver_all().await.unwrap();
            town.assert_home_is_right(store, &format!("{events}, swept"))
                .await;

            for (operation, crashed) in operations.iter().zip(&run.crashed) {
                if *crashed {
                    operation(store.clone()).await;
                }
            }
            if run.crashed.contains(&true) {
                town.assert_home_is_right(store, &format!("{events}, tried again"))
                    .await;
            }
            let mut followers = BTreeSet::new();
            for number in 1..=READERS {
                if town.follows(store, number).await {
                    followers.insert(number);
                }
                if let Some(timeline) = town.timeline(store, number).await
                    && !run.crashed.contains(&true)
                {
                    let lost_answers = run.story.iter().any(|line| line.ends_with("LoseAnswer"));
                    let doubts = timeline.get_array("doubts").unwrap();
                    assert!(lost_answers || doubts.is_empty(), "{doubts:?} after {events}");
                }
            }
            assert_eq!(
                followers,
                self.followers.iter().copied().collect(),
                "after {events}"
            );
            // What comes later arrives too.
            town.act(store, Post(900)).await;
            town.assert_home_is_right(store, &format!("{events}, and a later post"))
                .await;
            town.assert_no_entry_stands_twice(store, &events).await;
            let waiting = store.engine().count("posts", doc! { "undelivered": true }).await;
            assert_eq!(waiting.unwrap(), 0, "posts wait after {events}");
            if !explorer.advance() {
                break;
            }
        }
        println!("{} runs", explorer.runs);
        assert!(explorer.runs > 20, "only {} runs", explorer.runs);
    }
}

/// Two readers who follow and have a timeline, and a third who has one.
const ORDINARY: &[Act] = &[Post(1), Follow(1), Follow(2), Look(1), Look(2), Look(3)];
/// The author's followers are as many as fit into the head.
const FULL: &[Act] = &[
    Post(1),
    Follow(1),
    Follow(2),
    Follow(3),
    Look(1),
    Look(3),
    Look(4),
];
/// They have overflowed, and no post has told anybody yet.
const OVERFLOWED: &[Act] = &[
    Post(1),
    Follow(1),
    Follow(2),
    Follow(3),
    Look(1),
    Look(3),
    Look(4),
    Look(5),
    Follow(4),
];

/// A test for each scenario, and the scenario by its name.
macro_rules! scenarios {
    ($($test:ident: $before:expr, $at_once:expr, $followers:expr;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                scenario(stringify!($test)).explore(&|engine| engine).await;
            }
        )*

        fn scenario(name: &str) -> Scenario {
            match name {
                $(stringify!($test) => Scenario { before: $before, at_once: $at_once, followers: $followers },)*
                _ => panic!("no scenario {name}"),
            }
        }
    };
}

scenarios! {
    a_post_while_somebody_follows: ORDINARY, &[&[Post(2)], &[Follow(3)]], &[1, 2, 3];
    a_post_while_somebody_unfollows: ORDINARY, &[&[Post(2)], &[Unfollow(1)]], &[2];
    a_post_while_somebody_unfollows_and_follows_again: ORDINARY, &[&[Post(2)], &[Unfollow(1), Follow(1)]], &[1, 2];
    two_posts_at_once: ORDINARY, &[&[Post(2)], &[Post(3)]], &[1, 2];
    a_post_while_a_follower_looks_for_the_first_time: &[Post(1), Follow(1)], &[&[Post(2)], &[Look(1)]], &[1];
    somebody_who_never_looked_follows_and_looks: &[Post(1)], &[&[Follow(1)], &[Look(1)]], &[1];
    somebody_who_never_looked_unfollows_and_looks: &[Post(1), Follow(1)], &[&[Unfollow(1)], &[Look(1)]], &[];
    a_post_is_deleted_while_it_is_delivered_and_looked_at: ORDINARY, &[&[Post(2)], &[Look(1), Delete(1), Look(1)]], &[1, 2];
    a_post_while_its_authors_followers_overflow: FULL, &[&[Post(2)], &[Follow(4)]], &[1, 2, 3, 4];
    a_post_while_its_authors_followers_overflow_and_one_leaves: FULL, &[&[Post(2)], &[Follow(4), Unfollow(1)]], &[2, 3, 4];
    an_author_becomes_an_outlier_while_somebody_follows: OVERFLOWED, &[&[Post(2)], &[Follow(5)]], &[1, 2, 3, 4, 5];
    an_author_becomes_an_outlier_while_somebody_unfollows: OVERFLOWED, &[&[Post(2)], &[Unfollow(1)]], &[2, 3, 4];
    an_author_becomes_an_outlier_while_a_follower_looks_for_the_first_time: OVERFLOWED, &[&[Post(2)], &[Look(2)]], &[1, 2, 3, 4];
    an_author_becomes_an_outlier_while_somebody_looks_who_followed_before: FULL, &[&[Follow(4), Post(2)], &[Look(2)]], &[1, 2, 3, 4];
    an_author_becomes_an_outlier_while_the_followers_shrink_again: OVERFLOWED, &[&[Post(2)], &[Unfollow(1), Unfollow(2), Follow(5)]], &[3, 4, 5];
    an_author_becomes_an_outlier_twice_at_once: OVERFLOWED, &[&[Post(2)], &[Post(3)]], &[1, 2, 3, 4];
}

/// Whether a scenario goes wrong over an engine with a fault.
fn dies(fault: Fault, name: &'static str) -> bool {
    let between: &'static _ = Box::leak(Box::new(move |engine| Mutant::of(engine, fault)));
    let explored = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        panic::catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(scenario(name).explore(between));
        }))
    });
    explored.join().unwrap().is_err()
}

/// As for the lists: a test for each part of the protocol that is left out, with the scenario that must go red.
macro_rules! mutants {
    ($($test:ident: $fault:expr, $scenario:ident;)*) => {
        $(
            #[test]
            fn $test() {
                assert!(dies($fault, stringify!($scenario)), "{:?} survives", $fault);
            }
        )*
    };
}

mutants! {
    a_delivery_to_somebody_who_left: Guard(Deliver, "follows"), a_post_while_somebody_unfollows;
    a_delivery_that_is_repeated: Guard(Deliver, "entries"), two_posts_at_once;
    a_delivery_that_nobody_who_builds_notices: Part(Deliver, "$inc", "rev"), a_post_while_a_follower_looks_for_the_first_time;
    an_unfollow_that_no_delivery_notices: Part(Rewrite, "$inc", "follows"), a_post_while_somebody_unfollows;
    an_unfollow_that_is_not_noted: Part(Doubt, "$push", "doubts"), a_post_while_somebody_unfollows;
    a_rewrite_of_a_timeline_that_has_changed: Guard(Rewrite, "rev"), a_post_while_a_follower_looks_for_the_first_time;
    an_outlier_announced_to_somebody_who_left: Guard(Announce, "follows"), an_author_becomes_an_outlier_while_somebody_unfollows;
    an_outlier_announced_without_telling_new_followers: Part(BeginToAnnounce, "$set", "outlier"), an_author_becomes_an_outlier_while_the_followers_shrink_again;
    an_announcement_that_nobody_who_builds_notices: Part(Announce, "$inc", "rev"), an_author_becomes_an_outlier_while_somebody_looks_who_followed_before;
}
