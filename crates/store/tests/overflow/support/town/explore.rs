//! Runs every interleaving of a scenario, and checks home after each.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

use bson::doc;
use checker::cached::Cached;
use checker::schedule::{Between, Bounds, Explorer, Operation, Run, least, within};
use checker::stale::{Versions, old_reads};
use document::{Engine, Find};
use model::Timestamp;
use store::Store;

use super::Act::{self, Leave, Post, PostBySecond};
use super::{FIRST, NUMBERS, READERS, SECOND, Scenario, Town, WINDOW, fresh};
use crate::support::small_store_on;

/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000_000_000);

impl Scenario {
    /// Every interleaving, every fault in those with one switch less, and with few steps every two faults.
    pub async fn explore(&self, between: Between) {
        let (engine, store) = empty_store().await;
        let two_faults = self.at_once.iter().all(|acts| acts.len() == 1);
        for (switches, faults) in [(2, 0), (1, 1), (0, if two_faults { 2 } else { 1 })] {
            let bounds = within(switches, faults).at_least(least());
            self.explore_within(&engine, &store, bounds, between, None).await;
        }
    }

    /// Every interleaving with one switch, and with few steps every fault, over a store of which a read in a run may be
    /// old. With `sessions`, no read is older than what its operation has seen before.
    pub async fn explore_stale(&self, between: Between, sessions: bool) {
        let is_short = |acts: &&[Act]| acts.len() == 1 && !matches!(acts[0], Leave(_));
        let one_fault = self.at_once.iter().all(is_short).then_some(within(0, 1));
        for bounds in [within(1, 0)].into_iter().chain(one_fault) {
            let (engine, store) = empty_store().await;
            let versions = Some(Versions::of(Arc::clone(&engine), sessions));
            self.explore_within(&engine, &store, bounds.at_least(least()), between, versions)
                .await;
        }
    }

    async fn explore_within(
        &self,
        engine: &Arc<Cached>,
        store: &Store,
        bounds: Bounds,
        between: Between,
        versions: Option<Arc<Versions>>,
    ) {
        let town = Town::new(store).await;
        for act in self.before {
            town.act(store, *act).await;
        }
        let mut explorer = Explorer::new(bounds, engine);
        let mut operated = store.engine().clone();
        if let Some(versions) = versions {
            operated = versions.engine();
            explorer = explorer.with_stale_reads(versions, old_reads());
        }
        let open = async |engine| store.over(engine);
        let number = fresh();
        let checked = Mutex::new(HashSet::new());
        loop {
            NUMBERS.set(number);
            let operations: Vec<_> = self.at_once.iter().map(|acts| town.operation(acts)).collect();
            let run = explorer
                .run(&operated, &open, &operations, between, async || {
                    // Most interleavings pass through states that another one has reached already.
                    if checked.lock().unwrap().insert(engine.now()) {
                        town.assert_no_entry_stands_twice(store, "a write").await;
                    }
                })
                .await;
            if let Some(run) = run {
                let lost_answers = run.story.iter().any(|line| line.contains(" Lose"));
                if explorer.ends_as_no_other(&run, (lost_answers, NUMBERS.get())) {
                    self.look_at_the_end(&town, store, &operations, &run, lost_answers)
                        .await;
                }
            }
            if !explorer.advance() {
                break;
            }
        }
        explorer.assert_explored();
    }

    /// Lets sweeps and clients finish what a run left, and looks at every home.
    async fn look_at_the_end(
        &self,
        town: &Town,
        store: &Store,
        operations: &[Operation<Store>],
        run: &Run,
        lost_answers: bool,
    ) {
        let events = format!("{:#?}", run.story);
        if !run.crashed.contains(&true) {
            // What is answered does not wait for a sweep.
            assert_eq!(waiting(store).await, 0, "posts wait after {events}");
        }
        // The crashed requests have not been retried. The sweep finishes what they left undone for others.
        store.timelines().deliver_all().await.unwrap();
        store.reactions().finish_all(LATER).await.unwrap();
        store.timelines().deliver_all().await.unwrap();
        store.account_deletions().finish_all().await.unwrap();
        if run.crashed.contains(&true) {
            town.assert_what_is_left_behind_is_empty_and_found(store, &events)
                .await;
        }
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
            if town.follows(store, number, FIRST).await {
                followers.insert(number);
            }
            if let Some(timeline) = town.timeline(store, number).await
                && !run.crashed.contains(&true)
            {
                let doubts = timeline.get_array("doubts").unwrap();
                assert!(lost_answers || doubts.is_empty(), "{doubts:?} after {events}");
            }
        }
        assert_eq!(
            followers,
            self.followers.iter().copied().collect(),
            "after {events}"
        );
        // Later posts arrive too.
        for (author, post) in [(FIRST, Post(900)), (SECOND, PostBySecond(901))] {
            if town.is_there(store, author).await {
                town.act(store, post).await;
            }
        }
        town.assert_home_is_right(store, &format!("{events}, and a later post"))
            .await;
        town.assert_no_entry_stands_twice(store, &events).await;
        assert_eq!(waiting(store).await, 0, "posts wait after {events}");
    }
}

/// A store with short lists and timelines.
pub async fn empty_store() -> (Arc<Cached>, Store) {
    let engine = Cached::in_memory();
    let small = small_store_on(Arc::clone(&engine) as Engine, 3, 2).await;
    let mut settings = small.settings().clone();
    settings.set_window(WINDOW).unwrap();
    let store = Store::open(small.engine().clone(), settings).await.unwrap();
    (engine, store)
}

/// How many posts and shares have not been delivered. A share by somebody who has left is removed by a sweep.
async fn waiting(store: &Store) -> u64 {
    let waiting = doc! { "undelivered": true };
    let mut count = store.engine().count("posts", waiting.clone()).await.unwrap();
    let shared = store.engine().find("sharedPosts", Find::matching(waiting)).await;
    for share in shared.unwrap() {
        let author = share.get_str("author").unwrap().parse().unwrap();
        count += u64::from(store.people().get(&author).await.unwrap().is_some());
    }
    count
}
