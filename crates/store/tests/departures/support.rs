//! Somebody who leaves, a neighbour who stays, and the next holder of the handle.

use std::cell::Cell;
use std::sync::Arc;

use bson::doc;
use document::{Engine, Error, Result};
use model::{Handle, PostId, Timestamp};
use store::Store;
use store::overflow::Item;
use store::people::User;
use store::reactions::{Attempt, Reaction};
use store::sessions::Session;
use uuid::Uuid;

use crate::lists::small_store_on;
use crate::seen::{findings, picture, traces};
use Act::{
    BeCommentedOn, BeFollowed, BeLiked, BeUnfollowed, BeginToPublish, Comment, Delete, Deliver, Edit, Finish,
    Follow, Join, Leave, Like, Look, Mark, Publish, Share, SignIn, Undo,
};
use checker::cached::Cached;
use checker::schedule::{Between, Bounds, Explorer, Operation, Run, least, within};
use checker::stale::Versions;

const HASH: &str = "a hash";
/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000_000_000);

/// What somebody does, each time as another request. "They" are the holder of the handle at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// They like the neighbour's post.
    Like,
    /// They write the n-th comment on it.
    Comment(u128),
    /// They edit it.
    Edit(u128),
    /// They share it.
    Share,
    /// They follow the neighbour.
    Follow,
    /// They take one of these back.
    Undo(&'static Act),
    /// They publish the n-th post.
    Publish(u128),
    /// They publish the n-th post, and their server stops after its first write.
    BeginToPublish(u128),
    /// A server finishes what was published.
    Deliver,
    /// They delete the n-th post.
    Delete(u128),
    /// The neighbour comments on the n-th post so often that it has pages.
    BeCommentedOn(u128),
    /// The neighbour likes the n-th post.
    BeLiked(u128),
    /// The neighbour follows them.
    BeFollowed,
    /// The neighbour unfollows them.
    BeUnfollowed,
    /// The neighbour opens their home feed.
    Look,
    /// They sign in for the n-th time.
    SignIn(u64),
    /// They begin to leave.
    Mark,
    /// A server finishes what they began.
    Finish,
    /// They leave.
    Leave,
    /// Somebody else takes the handle.
    Join,
}

pub struct Scenario {
    /// Earlier actions, one after the other.
    pub before: &'static [Act],
    /// Concurrent actions; each server performs its part in order.
    pub at_once: &'static [&'static [Act]],
    /// How often a run may switch between the servers.
    pub switches: usize,
}

thread_local! {
    /// The next number of [`fresh`]. It restarts with each run, so that runs which differ in nothing else are the
    /// same.
    static NUMBERS: Cell<u64> = const { Cell::new(1) };
}

fn fresh() -> u64 {
    NUMBERS.replace(NUMBERS.get() + 1)
}

fn fresh_id() -> Uuid {
    Uuid::from_u128(fresh().into())
}

fn moment() -> Timestamp {
    Timestamp::from_millis(i64::try_from(fresh()).unwrap())
}

pub fn leaver() -> Handle {
    "leaver".parse().unwrap()
}

pub fn neighbour() -> Handle {
    "neighbour".parse().unwrap()
}

/// The post with this number; that of the neighbour has 0.
pub fn post(number: u128) -> PostId {
    Uuid::from_u128(1_000_000 + number).into()
}

async fn join(store: &Store, handle: Handle) -> Result<()> {
    let name = handle.as_str().parse().unwrap();
    let user = User {
        person: model::Person { handle, name },
        bio: String::new(),
        password: Some(HASH.to_owned()),
        at: moment(),
    };
    store.people().insert(&user, fresh_id()).await
}

async fn react(store: &Store, actor: Handle, reaction: Reaction) -> Result<()> {
    let at = moment();
    let mut item = Item::new(fresh_id(), actor, at);
    if let Reaction::Comment(_, id) = reaction {
        item.id = id;
        item.more = doc! { "text": "It is." };
    }
    let attempt = Attempt { id: fresh_id(), at };
    store.reactions().add(&reaction, item, attempt).await.map(drop)
}

/// As the feed does.
async fn publish(store: &Store, author: Handle, number: u128) -> Result<()> {
    let timelines = store.timelines();
    let (text, at) = ("The weir is open.".parse().unwrap(), moment());
    match timelines
        .publish(post(number), fresh_id(), &author, &text, at)
        .await
    {
        Ok(_) | Err(Error::DuplicateKey { .. }) => timelines.deliver(&author).await,
        Err(error) => Err(error),
    }
}

async fn take_back(store: &Store, actor: Handle, reaction: Reaction) -> Result<()> {
    let attempt = Attempt {
        id: fresh_id(),
        at: moment(),
    };
    let removed = store.reactions().remove(&actor, &reaction, attempt).await;
    removed.map(drop)
}

/// What they do to the neighbour or the neighbour's post.
fn reaction(act: Act) -> Reaction {
    match act {
        Like => Reaction::Like(post(0)),
        Comment(number) => Reaction::Comment(post(0), Uuid::from_u128(2_000_000 + number)),
        Share => Reaction::Share(post(0)),
        Follow => Reaction::Follow(neighbour()),
        other => panic!("{other:?} is no reaction"),
    }
}

pub async fn attempt(store: &Store, act: Act) -> Result<()> {
    match act {
        Like | Comment(_) | Share | Follow => react(store, leaver(), reaction(act)).await,
        Edit(number) => {
            let (comments, id) = (store.comments(), Uuid::from_u128(2_000_000 + number));
            if let Some(found) = comments.find(post(0), id).await? {
                let text = "It was.".parse().unwrap();
                comments.edit(post(0), &found, &text, moment()).await?;
            }
            Ok(())
        }
        Undo(act) => take_back(store, leaver(), reaction(*act)).await,
        BeLiked(number) => react(store, neighbour(), Reaction::Like(post(number))).await,
        BeUnfollowed => take_back(store, neighbour(), Reaction::Follow(leaver())).await,
        BeFollowed => react(store, neighbour(), Reaction::Follow(leaver())).await,
        Publish(number) => publish(store, leaver(), number).await,
        BeginToPublish(number) => {
            let (text, at) = ("The weir is open.".parse().unwrap(), moment());
            let timelines = store.timelines();
            timelines
                .publish(post(number), fresh_id(), &leaver(), &text, at)
                .await
                .map(drop)
        }
        Deliver => store.timelines().deliver_all().await.map(drop),
        Delete(number) => {
            let attempt = Attempt {
                id: fresh_id(),
                at: moment(),
            };
            let reactions = store.reactions();
            reactions
                .delete_post(&leaver(), post(number), attempt)
                .await
                .map(drop)
        }
        BeCommentedOn(number) => {
            for comment in 0..4 {
                let id = Uuid::from_u128(3_000_000 + comment);
                react(store, neighbour(), Reaction::Comment(post(number), id)).await?;
            }
            Ok(())
        }
        Look => store.timelines().home(&neighbour(), None, 5).await.map(drop),
        SignIn(number) => {
            let at = moment();
            let session = Session {
                digest: format!("session {number}"),
                user: leaver(),
                at,
                used: at,
                looked: at,
                expires: LATER,
                device: None,
            };
            store.sessions().insert(&session).await
        }
        Mark => store.account_deletions().begin(&leaver(), HASH).await.map(drop),
        Finish => store.account_deletions().finish(&leaver()).await,
        Leave => {
            store.account_deletions().begin(&leaver(), HASH).await?;
            store.account_deletions().finish(&leaver()).await
        }
        Join => join(store, leaver()).await,
    }
}

/// Like a client that retries until it gets the outcome.
async fn perform(store: &Store, act: Act) {
    loop {
        match attempt(store, act).await {
            Ok(()) | Err(Error::NoOwner(_) | Error::DuplicateKey { .. }) => return,
            Err(Error::UnknownOutcome(_)) => {}
            Err(error) => panic!("{act:?}: {error}"),
        }
    }
}

/// What every server does at its start and each minute.
async fn sweep(store: &Store) {
    store.timelines().deliver_all().await.unwrap();
    store.reactions().finish_all(LATER).await.unwrap();
    store.account_deletions().finish_all().await.unwrap();
}

impl Scenario {
    /// Every interleaving, and every fault in those with one switch less.
    pub async fn explore(&self, between: Between) {
        for bounds in [within(self.switches, 0), within(self.switches - 1, 1)] {
            self.explore_within(between, bounds, false).await;
        }
    }

    /// Every interleaving with one switch, and in short scenarios every fault, each with one old read.
    pub async fn explore_stale(&self) {
        self.explore_within(&|engine| engine, within(1, 0), true).await;
        if self.switches > 1 {
            self.explore_within(&|engine| engine, within(0, 1), true).await;
        }
    }

    async fn explore_within(&self, between: Between, bounds: Bounds, stale: bool) {
        let engine = Cached::in_memory();
        let store = small_store_on(Arc::clone(&engine) as Engine, 3, 2).await;
        NUMBERS.set(1);
        for handle in [neighbour(), leaver()] {
            join(&store, handle).await.unwrap();
        }
        publish(&store, neighbour(), 0).await.unwrap();
        for act in self.before {
            perform(&store, *act).await;
        }
        let mut explorer = Explorer::new(bounds.at_least(least()), &engine);
        let mut operated = store.engine().clone();
        if stale {
            let versions = Versions::of(Arc::clone(&engine), true);
            operated = versions.engine();
            explorer = explorer.with_stale_reads(versions, 1);
        }
        let (start, number) = (engine.now(), fresh());
        let operations: Vec<_> = self.at_once.iter().map(|acts| operation(acts)).collect();
        // What the last server does alone; what the others do must not show.
        operations[operations.len() - 1](store.clone()).await;
        store.account_deletions().finish_all().await.unwrap();
        let expected = picture(&store).await;
        engine.go_back_to(start);
        let open = async |engine| store.over(engine);
        loop {
            NUMBERS.set(number);
            let run = explorer
                .run(&operated, &open, &operations, between, async || {})
                .await;
            if let Some(run) = run {
                let went_well = |line: &String| line.ends_with("Proceed") || line.ends_with("ends");
                let went_well = run.story.iter().all(went_well);
                if explorer.ends_as_no_other(&run, (went_well, NUMBERS.get())) {
                    self.look_at_the_end(&store, &engine, &operations, &run, went_well, &expected)
                        .await;
                }
            }
            if !explorer.advance() {
                break;
            }
        }
        explorer.assert_explored();
    }

    /// Finishes what a run left, as servers and clients do, and looks at the result.
    async fn look_at_the_end(
        &self,
        store: &Store,
        engine: &Cached,
        operations: &[Operation<Store>],
        run: &Run,
        went_well: bool,
        expected: &[String],
    ) {
        let events = || format!("after {:#?}", run.story);
        if self.is_finished_by_sweeps() {
            let end = engine.now();
            sweep(store).await;
            assert_eq!(findings(store, false).await, [], "{}, swept", events());
            engine.go_back_to(end);
        }
        for (operation, crashed) in operations.iter().zip(&run.crashed) {
            if *crashed {
                operation(store.clone()).await;
            }
        }
        sweep(store).await;
        if !went_well && !self.is_finished_by_sweeps() {
            findings(store, true).await;
        }
        assert_eq!(findings(store, false).await, [], "{}", events());
        assert_eq!(picture(store).await, expected, "{}", events());
        if self.removes_everything() {
            assert_eq!(traces(store).await, [""; 0], "{}", events());
        }
    }

    /// Whether somebody leaves and nobody gets the handle afterwards, so that nothing of theirs remains.
    fn removes_everything(&self) -> bool {
        let does = |wanted: Act| self.at_once.iter().any(|acts| acts.contains(&wanted));
        (does(Leave) || does(Finish)) && !does(Join)
    }

    /// Whether everything that a crash interrupts is finished without a check of the whole store.
    fn is_finished_by_sweeps(&self) -> bool {
        let mut acts = self.at_once.iter().copied().flatten();
        acts.all(|act| {
            matches!(
                act,
                Delete(_) | Deliver | Finish | Join | Leave | Look | Mark | Publish(_) | SignIn(_)
            )
        })
    }
}

/// Panics if somebody who is leaving can begin anything.
pub async fn assert_nothing_begins(between: Between) {
    let engine = Cached::in_memory();
    let store = small_store_on(Arc::clone(&engine) as Engine, 3, 2).await;
    for handle in [neighbour(), leaver()] {
        join(&store, handle).await.unwrap();
    }
    publish(&store, neighbour(), 0).await.unwrap();
    for act in [Like, Publish(1), Mark] {
        attempt(&store, act).await.unwrap();
    }
    let seen = Store::open(between(store.engine().clone()), store.settings().clone());
    let seen = seen.await.unwrap();
    for act in [Undo(&Like), Comment(1), Share, Follow, Delete(1)] {
        let outcome = attempt(&seen, act).await;
        let is_refused = matches!(&outcome, Err(Error::NoOwner(owner)) if owner == "user:leaver");
        assert!(is_refused, "{act:?}: {outcome:?}");
    }
}

fn operation(acts: &'static [Act]) -> Operation<Store> {
    Arc::new(move |store: Store| {
        Box::pin(async move {
            for act in acts {
                perform(&store, *act).await;
            }
        })
    })
}
