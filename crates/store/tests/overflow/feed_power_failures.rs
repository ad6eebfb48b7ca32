//! Reactions, deliveries and deletions of accounts on a disk that loses, reorders and tears unsynced writes: the power
//! fails at any moment, the next server finishes what was interrupted, and everything acknowledged is still there. Then
//! the same with one write that is not journaled, for each write that is not one of a list alone.

use std::sync::Arc;
use std::time::Duration;

use bson::doc;
use document::Error;
use embedded::Embedded;
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::Store;
use store::overflow::Item;
use store::people::User;
use store::posts::{Order, StoredPost};
use store::reactions::{Attempt, Reaction};
use store::upkeep::{CheckOptions, Severity, check};
use uuid::Uuid;

use crate::support::late_writes::Fate::{self, *};
use crate::support::late_writes::{breaks, journaled, writes};
use crate::support::small_store_on;
use crate::support::steps::FeedStep::{self, *};
use checker::late::{Late, Written};

/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000_000_000);
/// The id of every comment; there is one on a post at a time.
const COMMENT: Uuid = Uuid::from_u128(7);
const PEOPLE: [&str; 6] = ["ada", "bob", "cem", "dua", "eve", "fay"];

/// A fact that is true or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Person(&'static str),
    Post(u64),
    /// What a person does to a post, or to another person.
    Does(&'static str, What),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Likes(u64),
    CommentsOn(u64),
    Shares(u64),
    Follows(&'static str),
    /// Has edited the comment on this post.
    Edits(u64),
}
use What::{CommentsOn, Edits, Follows, Likes, Shares};

type Known = checker::disk::Known<Fact>;
type Disk = checker::disk::Disk<Known>;
type Moment = checker::disk::Moment<Known>;

fn handle(name: &str) -> Handle {
    name.parse().unwrap()
}

fn post(number: u64) -> PostId {
    Uuid::from_u128(1_000 + u128::from(number)).into()
}

fn reaction(what: What) -> Reaction {
    match what {
        Likes(number) => Reaction::Like(post(number)),
        CommentsOn(number) | Edits(number) => Reaction::Comment(post(number), COMMENT),
        Shares(number) => Reaction::Share(post(number)),
        Follows(name) => Reaction::Follow(handle(name)),
    }
}

/// People who act one after the other, and what they were answered.
struct Town {
    store: Store,
    disk: Disk,
    next: u64,
}

impl Town {
    fn fresh(&mut self) -> (Uuid, Timestamp) {
        self.next += 1;
        let at = Timestamp::from_millis(i64::try_from(self.next).unwrap());
        (Uuid::from_u128(self.next.into()), at)
    }

    fn attempt(&mut self) -> Attempt {
        let (id, at) = self.fresh();
        Attempt { id, at }
    }

    async fn join(&mut self, name: &'static str) {
        self.disk.ask(Fact::Person(name));
        let (born, at) = self.fresh();
        let user = User {
            person: model::Person {
                handle: handle(name),
                name: name.parse().unwrap(),
            },
            bio: String::new(),
            password: Some("a hash".to_owned()),
            at,
        };
        self.store.people().insert(&user, born).await.unwrap();
        self.disk.answer(Fact::Person(name), true);
    }

    async fn publish(&mut self, name: &'static str, number: u64) {
        self.disk.ask(Fact::Post(number));
        let ((born, at), text) = (self.fresh(), "The weir is open.".parse().unwrap());
        let (timelines, author) = (self.store.timelines(), handle(name));
        let published = timelines.publish(post(number), born, &author, &text, at).await;
        published.unwrap();
        timelines.deliver(&author).await.unwrap();
        self.disk.answer(Fact::Post(number), true);
    }

    async fn delete(&mut self, name: &'static str, number: u64) {
        self.disk.forget(
            |fact| matches!(fact, Fact::Does(_, Likes(of) | CommentsOn(of) | Shares(of) | Edits(of)) if *of == number),
        );
        self.disk.ask(Fact::Post(number));
        let attempt = self.attempt();
        let (reactions, author) = (self.store.reactions(), handle(name));
        let deleted = reactions.delete_post(&author, post(number), attempt).await;
        assert!(deleted.unwrap());
        self.disk.answer(Fact::Post(number), false);
    }

    async fn act(&mut self, name: &'static str, what: What) {
        self.disk.ask(Fact::Does(name, what));
        let attempt = self.attempt();
        let reaction = reaction(what);
        let mut item = Item::new(self.fresh().0, handle(name), attempt.at);
        if let Reaction::Comment(_, id) = reaction {
            item.id = id;
            item.more = doc! { "text": "It is." };
        }
        let added = self.store.reactions().add(&reaction, item, attempt).await;
        assert!(added.unwrap().added);
        self.disk.answer(Fact::Does(name, what), true);
    }

    async fn edit(&mut self, name: &'static str, number: u64) {
        let fact = Fact::Does(name, Edits(number));
        self.disk.ask(fact.clone());
        let ((_, at), comments) = (self.fresh(), self.store.comments());
        let found = comments.find(post(number), COMMENT).await.unwrap().unwrap();
        let text = "It was.".parse().unwrap();
        assert!(comments.edit(post(number), &found, &text, at).await.unwrap());
        self.disk.answer(fact, true);
    }

    async fn undo(&mut self, name: &'static str, what: What) {
        if let CommentsOn(number) = what {
            self.disk.forget(|fact| *fact == Fact::Does(name, Edits(number)));
        }
        self.disk.ask(Fact::Does(name, what));
        let attempt = self.attempt();
        let reactions = self.store.reactions();
        let removed = reactions.remove(&handle(name), &reaction(what), attempt).await;
        assert!(removed.unwrap().item.is_some());
        self.disk.answer(Fact::Does(name, what), false);
    }

    async fn look(&self, name: &str) {
        self.store
            .timelines()
            .home(&handle(name), None, 10)
            .await
            .unwrap();
    }

    /// A person leaves who has published one post.
    async fn leave(&self, name: &'static str, post: u64) {
        self.disk.forget(|fact| match fact {
            Fact::Does(_, Likes(of) | CommentsOn(of) | Shares(of) | Edits(of)) if *of == post => true,
            Fact::Does(who, what) => *who == name || *what == Follows(name),
            Fact::Post(number) => *number == post,
            Fact::Person(_) => false,
        });
        self.disk.ask(Fact::Person(name));
        let deletions = self.store.account_deletions();
        assert!(deletions.begin(&handle(name), "a hash").await.unwrap());
        self.disk.answer(Fact::Person(name), false);
        deletions.finish(&handle(name)).await.unwrap();
        self.disk.0.lock().unwrap().keep();
    }
}

/// A bit of everything, one after the other, on a disk; one write may be late.
async fn life(late: Option<FeedStep>) -> (Vec<Moment>, Written<FeedStep>) {
    let disk = Disk::default();
    let written = Written::default();
    let below = Arc::new(Embedded::on(disk.clone()).unwrap());
    // The indexes and validators are there before.
    small_store_on(below.clone(), 3, 2).await;
    let engine = Late {
        engine: below,
        disk: disk.clone(),
        step: late,
        written: written.clone(),
    };
    {
        let mut state = disk.0.lock().unwrap();
        state.moments.clear();
        // A prime number, so that every kind of call is included.
        state.every = Some(7);
    }
    let store = small_store_on(Arc::new(engine), 3, 2).await;
    let mut town = Town {
        store,
        disk: disk.clone(),
        next: 0,
    };
    for name in PEOPLE {
        town.join(name).await;
    }
    town.look("bob").await;
    town.act("bob", Follows("ada")).await;
    town.publish("ada", 1).await;
    for what in [Likes(1), CommentsOn(1), Shares(1)] {
        town.act("bob", what).await;
    }
    town.undo("bob", Likes(1)).await;
    town.edit("bob", 1).await;
    town.undo("bob", CommentsOn(1)).await;
    town.act("cem", Likes(1)).await;
    town.publish("ada", 2).await;
    town.act("cem", Shares(2)).await;
    for number in [1, 2] {
        town.act("cem", CommentsOn(number)).await;
        town.edit("cem", number).await;
    }
    town.delete("ada", 1).await;
    let missing = Reaction::Like(post(9));
    let attempt = town.attempt();
    let item = Item::new(Uuid::from_u128(900), handle("bob"), attempt.at);
    let added = town.store.reactions().add(&missing, item, attempt).await;
    assert!(matches!(added, Err(Error::NoOwner(_))), "{added:?}");
    town.undo("bob", Follows("ada")).await;
    town.act("bob", Follows("ada")).await;
    town.act("ada", Follows("bob")).await;
    town.look("ada").await;
    town.publish("eve", 5).await;
    town.act("bob", Shares(5)).await;
    town.undo("bob", Shares(5)).await;
    town.act("bob", Shares(5)).await;
    // The followers overflow, and the author becomes an outlier.
    for name in ["cem", "dua", "eve"] {
        town.act(name, Follows("ada")).await;
    }
    town.publish("ada", 3).await;
    town.act("bob", Follows("cem")).await;
    town.publish("cem", 4).await;
    town.act("bob", Likes(4)).await;
    town.leave("cem", 4).await;
    let moments = std::mem::take(&mut disk.0.lock().unwrap().moments);
    (moments, written)
}

/// Panics unless, after a power failure, the next server's sweeps leave everything in order, and everything
/// acknowledged is there.
async fn look(image: Vec<u8>, known: Known) {
    let engine = Embedded::on(Disk::holding(image)).unwrap();
    let store = small_store_on(Arc::new(engine), 3, 2).await;
    store.timelines().deliver_all().await.unwrap();
    store.reactions().finish_all(LATER).await.unwrap();
    store.account_deletions().finish_all().await.unwrap();
    let options = CheckOptions {
        repair: false,
        lists_only: false,
        pause: Duration::ZERO,
    };
    let found = check(&store, options, &|_, _| ()).await.unwrap().findings;
    for finding in found {
        assert_ne!(finding.severity, Severity::Broken, "{finding:?}");
        let relation = finding.relation;
        assert!(
            finding.severity == Severity::Notice || relation.is_some(),
            "{finding:?}"
        );
    }
    for (fact, is) in &known {
        if let Some(is) = is {
            assert_eq!(holds(&store, fact).await, *is, "{fact:?}");
        }
    }
    for name in PEOPLE {
        if holds(&store, &Fact::Person(name)).await {
            assert_home_is_right(&store, name).await;
        }
    }
}

async fn holds(store: &Store, fact: &Fact) -> bool {
    match fact {
        Fact::Person(name) => store.people().get(&handle(name)).await.unwrap().is_some(),
        Fact::Post(number) => store.posts().get(post(*number)).await.unwrap().is_some(),
        Fact::Does(_, Edits(number)) => {
            let found = store.comments().find(post(*number), COMMENT).await.unwrap();
            found.is_some_and(|comment| comment.more.get_str("text").unwrap() == "It was.")
        }
        Fact::Does(name, what) => {
            let reaction = reaction(*what);
            let list = store.list(reaction.relation());
            match list.find(&reaction.owner(), &reaction.key(&handle(name))).await {
                // Comments by two people have one id, one after the other.
                Ok(Some(item)) => matches!(what, Follows(_)) || item.by == Some(handle(name)),
                Ok(None) | Err(Error::NoOwner(_)) => false,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Home shows what those whom the reader follows wrote and shared, and the reader's own posts.
async fn assert_home_is_right(store: &Store, name: &'static str) {
    let following = store.list(Relation::Following);
    let followed = following.newest_first(&Topic::User(handle(name)), None, 10).await;
    let followed = followed.unwrap().items.into_iter().filter_map(|item| item.by);
    let authors: Vec<Handle> = followed.chain([handle(name)]).collect();
    let posts = store.posts().list(Some(&authors), Order::Newest, None, 10).await;
    let followed = &authors[..authors.len() - 1];
    let shared = store.shared_posts().list(followed, None, 10).await;
    let listed = [posts.unwrap(), shared.unwrap()].concat();
    let mut expected: Vec<_> = listed.iter().map(StoredPost::place).collect();
    expected.sort_by_key(|place| std::cmp::Reverse(*place));
    let home = store.timelines().home(&handle(name), None, 10).await.unwrap();
    let home: Vec<_> = home.posts.iter().map(StoredPost::place).collect();
    assert_eq!(home, expected, "the home feed of {name}");
}

#[tokio::test]
async fn reactions_deliveries_and_departures_survive_a_power_failure_at_any_moment() {
    let (moments, _) = life(None).await;
    let in_commits = moments.iter().filter(|moment| moment.is_in_a_commit()).count();
    assert!(
        in_commits >= 20,
        "only {in_commits} moments in the middle of a commit"
    );
    for (nth, moment) in moments.iter().enumerate() {
        println!("moment {nth} of {}: {:?}", moments.len(), moment.known);
        look(moment.after_power_failure(nth as u64), moment.known.clone()).await;
    }
}

/// Whether something acknowledged is lost, or something is broken, when one write is late.
async fn dies(late: FeedStep) -> bool {
    let (mut moments, _) = life(Some(late)).await;
    moments.retain(|moment| moment.is_behind);
    moments.dedup_by_key(|moment| moment.known.clone());
    breaks(moments, look).await
}

writes! {
    FeedStep;
    a_person_who_is_not_journaled: Join, Needed;
    a_post_that_is_not_journaled: Publish, Spared("the activity takes it to the disk");
    an_intent_that_is_not_journaled: Begin, Unjournaled("the write that it announces takes it to the disk");
    the_end_of_an_intent_that_is_not_journaled: End, Unjournaled("the next action or a sweep ends it");
    a_timeline_that_is_not_journaled: BeginTimeline, Spared("without it the next home request begins it");
    a_delivery_that_is_not_journaled: Deliver, Spared("the end of the mark takes it to the disk");
    the_end_of_a_delivery_that_is_not_journaled: Delivered, Spared("a sweep delivers the post again");
    the_first_mark_of_an_outlier_that_is_not_journaled: BeginToAnnounce, Spared("the end of the delivery takes it to the disk");
    an_announcement_that_is_not_journaled: Announce, Spared("the end of the delivery takes it to the disk");
    the_second_mark_of_an_outlier_that_is_not_journaled: Announced, Spared("the end of the delivery takes it to the disk");
    a_doubt_that_is_not_journaled: Doubt, Spared("the change of the followers takes it to the disk");
    a_timeline_whose_rewriting_is_not_journaled: Rewrite, Spared("the activity takes it to the disk");
    an_author_whose_leaving_is_not_journaled_in_a_timeline: Forget, Spared("the end of the person takes it to the disk");
    a_departure_that_is_not_journaled: Mark, Needed;
    lists_whose_emptying_is_not_journaled: Empty, Spared("the person is still leaving");
    pages_whose_end_is_not_journaled: DeletePages, Spared("the person is still leaving");
    a_person_whose_end_is_not_journaled: DeletePerson, Spared("the person is still leaving");
    a_post_whose_end_is_not_journaled: DeletePost, Spared("the end of the pages takes it to the disk");
    an_edit_that_is_not_journaled: EditComment, Needed;
    an_edit_whose_end_is_not_journaled: ForgetEdit, Spared("the activity takes it to the disk");
    edits_whose_end_is_not_journaled: ForgetEdits, Spared("the activity takes it to the disk");
    a_listed_share_that_is_not_journaled: ListShare, Spared("the activity takes it to the disk");
    a_listed_share_whose_end_is_not_journaled: UnlistShare, Spared("the activity takes it to the disk");
    a_timeline_whose_end_is_not_journaled: DeleteTimeline, Spared("the end of the person takes it to the disk");
}

#[tokio::test]
async fn every_write_of_the_feed_is_made_late_once_and_journaled_as_the_table_says() {
    let (_, written) = life(None).await;
    let written = written.lock().unwrap().clone();
    let of_the_feed = written.into_iter().filter(|(step, _)| !matches!(step, List(_)));
    assert_eq!(of_the_feed.collect::<Vec<_>>(), journaled(WRITES));
}
