//! Two lists that belong together, under the interleavings of what one person does on two servers, with a crash before
//! any write or a lost answer to any write, and with reads that are old. In the end, the activities always agree with
//! the deciding list, and all answers are those of a plain list.

use std::sync::Arc;

use document::Engine;
use model::Timestamp;
use store::Store;
use store::reactions::Reaction;

use crate::support::actor::Act::{
    self, BeginToLike, Comment, Delete, Finish, Follow, Like, LikeOther, Share, Unfollow, Unlike, Unshare,
};
use crate::support::actor::{Actor, NUMBERS, fresh};
use crate::support::early::Early::Decision;
use crate::support::early::Hasty;
use crate::support::flawed_feed::FeedFlaw::EndsYoung;
use crate::support::flawed_feed::FlawedFeed;
use crate::support::steps::FeedStep::{Begin, List, ListShare, UnlistShare};
use crate::support::{small_store_on, walk, with_new_and_old_reads};
use checker::cached::Cached;
use checker::history::{History, Items};
use checker::mutant::Fault::{Guard, Never, Part};
use checker::mutant::{Mutant, fails};
use checker::schedule::{Between, Bounds, Explorer, Operation, Run, least, within};
use checker::stale::{Versions, old_reads};
use checker::step::Step::{Commit, Confirm, Push, RemoveFromHead};

/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000_000_000);

struct Scenario {
    /// Earlier actions, one after the other.
    before: &'static [Act],
    /// Concurrent actions; each server performs its part in order.
    at_once: &'static [&'static [Act]],
    /// Whether the reaction exists in the end, if that does not depend on which action came last.
    holds: Option<bool>,
}

impl Scenario {
    /// Every interleaving with every fault, and every two faults in those with one switch less.
    async fn explore(&self, between: Between) {
        let engine = Cached::in_memory();
        let store = small_store_on(Arc::clone(&engine) as Engine, 3, 2).await;
        for bounds in [within(2, 1), within(1, 2)] {
            self.explore_within((&engine, &store), bounds.at_least(least()), between, None)
                .await;
        }
    }

    /// Every interleaving with one switch, and every fault, each with an old read.
    async fn explore_stale(&self, between: Between, sessions: bool) {
        let engine = Cached::in_memory();
        let store = small_store_on(Arc::clone(&engine) as Engine, 3, 2).await;
        for bounds in [within(1, 0), within(0, 1)] {
            let versions = Some(Versions::of(Arc::clone(&engine), sessions));
            self.explore_within((&engine, &store), bounds.at_least(least()), between, versions)
                .await;
        }
    }

    async fn explore_within(
        &self,
        (engine, store): (&Arc<Cached>, &Store),
        bounds: Bounds,
        between: Between,
        versions: Option<Arc<Versions>>,
    ) {
        let actor = Actor::new(store).await;
        for act in self.before {
            actor.act(store, *act).await;
        }
        let reaction = actor.reaction(self.at_once[0][0]);
        let before = walk(store, &reaction.owner(), reaction.relation(), 10).await;
        let before = before.iter().map(|_| (format!("{reaction:?}"), None));
        let before: Items = before.collect();
        let mut explorer = Explorer::new(bounds, engine);
        let mut operated = store.engine().clone();
        if let Some(versions) = versions {
            operated = versions.engine();
            explorer = explorer.with_stale_reads(versions, old_reads());
        }
        let open = async |engine| store.over(engine);
        let number = fresh();
        loop {
            NUMBERS.set(number);
            explorer.history = History::of(before.clone());
            let history = explorer.history.clone();
            let operations: Vec<_> = self.at_once.iter().map(|acts| actor.operation(acts)).collect();
            let run = explorer
                .run(&operated, &open, &operations, between, async || {})
                .await;
            if let Some(run) = run {
                history.assert_correct(false, &run.story);
                let faultless = !run
                    .story
                    .iter()
                    .any(|line| !line.ends_with("Proceed") && !line.ends_with("ends"));
                if explorer.ends_as_no_other(&run, (faultless, NUMBERS.get())) {
                    let end = End {
                        run,
                        faultless,
                        faults: bounds.faults,
                    };
                    self.look_at_the_end((&actor, &reaction), (engine, store), &operations, &end)
                        .await;
                }
            }
            if !explorer.advance() {
                break;
            }
        }
        explorer.assert_explored();
    }

    /// Lets a sweep, or a sweep after the clients tried again, finish what a run left, and looks at the lists.
    async fn look_at_the_end(
        &self,
        (actor, reaction): (&Actor, &Reaction),
        (engine, store): (&Arc<Cached>, &Store),
        operations: &[Operation<Store>],
        End {
            run,
            faultless,
            faults,
        }: &End,
    ) {
        let events = format!("{:#?}", run.story);
        if *faultless {
            assert_eq!(
                actor.begun(store).await,
                [],
                "nothing was interrupted in {events}"
            );
            let holds = actor.assert_lists_agree(store, reaction, &events).await;
            assert_eq!(holds, self.holds.unwrap_or(holds), "after {events}");
        }
        let end = engine.now();
        // The crashed requests have not been retried.
        store.reactions().finish_all(LATER).await.unwrap();
        let swept = format!("{events}, swept");
        actor.assert_lists_agree(store, reaction, &swept).await;
        assert_eq!(actor.begun(store).await, [], "after {swept}");
        engine.go_back_to(end);
        for (operation, crashed) in operations.iter().zip(&run.crashed) {
            if *crashed {
                operation(store.clone()).await;
            }
        }
        let again = format!("{events}, tried again");
        // A lost answer while an attempt repaired an earlier one leaves an intent for the next.
        if *faults < 2 || actor.begun(store).await.is_empty() {
            actor.assert_lists_agree(store, reaction, &again).await;
        }
        store.reactions().finish_all(LATER).await.unwrap();
        let swept = format!("{again}, swept");
        let holds = actor.assert_lists_agree(store, reaction, &swept).await;
        if !run.crashed.contains(&true) {
            assert_eq!(holds, self.holds.unwrap_or(holds), "after {again}");
        }
        assert_eq!(actor.begun(store).await, [], "after {again}, swept");
    }
}

/// How a run ended.
struct End {
    run: Run,
    /// Whether nothing failed in it.
    faultless: bool,
    /// How many faults a run may have.
    faults: usize,
}

/// Two tests for each scenario, and the scenario by its name.
macro_rules! scenarios {
    ($($test:ident: $before:expr, $at_once:expr, $holds:expr;)*) => {
        $(
            with_new_and_old_reads!($test);
        )*

        fn scenario(name: &str) -> Scenario {
            match name {
                $(stringify!($test) => Scenario { before: $before, at_once: $at_once, holds: $holds },)*
                _ => panic!("no scenario {name}"),
            }
        }
    };
}

scenarios! {
    a_like_meets_an_unlike: &[], &[&[Like], &[Unlike]], None;
    a_like_meets_an_unlike_of_an_earlier_like: &[Like], &[&[Like], &[Unlike]], None;
    a_like_is_sent_to_two_servers_while_the_activities_spill: &[LikeOther(1), LikeOther(2), LikeOther(3)], &[&[Like], &[Like]], Some(true);
    a_like_meets_an_unlike_while_the_activities_spill: &[LikeOther(1), LikeOther(2), LikeOther(3)], &[&[Like], &[Unlike]], None;
    an_unlike_meets_another_unlike_with_a_like_after_it: &[Like], &[&[Unlike], &[Unlike, Like]], None;
    two_unlikes_of_a_like_whose_activity_is_in_a_page: &[Like, LikeOther(1), LikeOther(2), LikeOther(3)], &[&[Unlike], &[Unlike]], Some(false);
    a_comment_meets_its_own_deletion: &[], &[&[Comment], &[Delete]], None;
    a_deleted_comment_is_sent_again: &[Comment], &[&[Delete], &[Comment]], None;
    a_share_meets_its_end: &[], &[&[Share], &[Unshare]], None;
    an_end_of_a_share_meets_another_share: &[Share], &[&[Unshare], &[Share]], None;
    a_share_is_sent_to_two_servers: &[], &[&[Share], &[Share]], Some(true);
    an_end_of_a_share_meets_another_with_a_share_after_it: &[Share], &[&[Unshare], &[Unshare, Share]], None;
    a_follow_meets_an_unfollow: &[], &[&[Follow], &[Unfollow]], None;
    an_unfollow_meets_a_follow: &[Follow], &[&[Unfollow], &[Follow]], None;
    an_interrupted_like_is_finished_while_it_is_taken_back: &[BeginToLike], &[&[Unlike], &[Finish]], Some(false);
    a_follow_is_sent_to_two_servers: &[], &[&[Follow], &[Follow]], Some(true);
}

/// Like the mutants of lists: a test for each part of the protocol that is left out, with the scenario that must fail.
macro_rules! mutants {
    ($layer:ident; $($test:ident: $fault:expr, $scenario:ident;)*) => {
        $(
            #[test]
            fn $test() {
                let between = $layer::between($fault);
                let scenario = scenario(stringify!($scenario));
                assert!(fails(move || async move { scenario.explore(between).await }), "{:?} survives", $fault);
            }
        )*
    };
}

mutants! {
    Mutant;
    an_activity_added_after_an_old_read: Guard(List(Push), "rev"), a_like_meets_an_unlike;
    an_activity_spilled_after_an_old_read: Guard(List(Commit), "rev"), a_like_meets_an_unlike_while_the_activities_spill;
    an_activity_removed_after_an_old_read: Guard(List(RemoveFromHead), "rev"), a_deleted_comment_is_sent_again;
    an_answer_confirmed_after_an_old_read: Guard(List(Confirm), "rev"), a_comment_meets_its_own_deletion;
    an_activity_added_without_raising_the_revision: Part(List(Push), "$inc", "rev"), a_comment_meets_its_own_deletion;
    an_activity_removed_without_raising_the_revision: Part(List(RemoveFromHead), "$inc", "rev"), a_deleted_comment_is_sent_again;
    an_answer_confirmed_without_raising_the_revision: Part(List(Confirm), "$inc", "rev"), a_like_meets_an_unlike;
    a_share_that_is_not_listed: Never(ListShare), a_share_meets_its_end;
    a_share_that_stays_listed: Never(UnlistShare), a_share_meets_its_end;
    a_later_share_that_is_listed_no_longer: Guard(UnlistShare, "born"), an_end_of_a_share_meets_another_with_a_share_after_it;
    an_attempt_that_is_not_noted: Part(Begin, "$push", "intents"), a_like_meets_an_unlike;
    an_attempt_that_does_not_end: Part(List(Push), "$pull", "intents"), a_like_meets_an_unlike;
}

mutants! {
    Hasty;
    an_activity_of_an_item_that_was_read_before_the_activities: Decision, an_interrupted_like_is_finished_while_it_is_taken_back;
}

mutants! {
    FlawedFeed;
    an_attempt_that_another_ends_while_it_runs: EndsYoung, a_like_meets_an_unlike;
}

/// Without a session nothing orders the reads of the two documents.
#[test]
fn without_sessions_a_like_beside_an_unlike_breaks() {
    let scenario = scenario("a_like_meets_an_unlike");
    assert!(fails(move || async move {
        scenario.explore_stale(&|engine| engine, false).await;
    }));
}
