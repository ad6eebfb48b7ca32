//! Deliberately broken protocols: each mutant leaves out one guard, one write or one read, and the model check must
//! fail in the scenario that the guard exists for.

use crate::support::disordered::Disorder::*;
use crate::support::disordered::Disordered;
use crate::support::flawed::Flaw::*;
use crate::support::flawed::Flawed;
use crate::support::scenarios::named;
use checker::mutant::Fault::*;
use checker::mutant::{Mutant, fails};
use checker::schedule::{Between, Bounds};
use checker::step::Step::*;

/// Whether a scenario fails over an engine with a fault.
fn dies(between: Between, name: &str) -> bool {
    let scenario = named(name);
    fails(move || scenario.explore(between, Bounds::default()))
}

/// A test for each mutant, with the scenario that kills it.
macro_rules! mutants {
    ($layer:ident; $($test:ident: $fault:expr, $scenario:literal;)*) => {
        $(
            #[test]
            fn $test() {
                assert!(dies($layer::between($fault), $scenario), "{:?} survives when {}", $fault, $scenario);
            }
        )*
    };
}

mutants! {
    Mutant;
    a_push_not_guarded_on_the_cap: Guard(Push, "$expr"), "two likes meet a head with one place left";
    a_push_not_guarded_on_the_actor: Guard(Push, "head.by"), "the same person likes twice at once while the head is full";
    a_push_that_does_not_notice_a_spill: Guards(Push, ["pages", "floor"]), "a double like while two others fill and spill the head";
    a_push_not_guarded_on_the_floor: Guard(Push, "floor"), "a double like while the only page is emptied and its number used again";
    a_push_not_guarded_on_the_incarnation: Guards(Push, ["born", "floor"]), "a like meets a post that is deleted, published again and liked by the same person";
    a_push_that_does_not_count: Part(Push, "$inc", "count"), "two likes both meet a full head";
    a_push_that_does_not_sort: Modifier(Push, "$sort"), "a late clock while the head spills";
    a_push_of_several_that_does_not_notice_a_spill: Guards(Push, ["pages", "floor"]), "likes go together, and a spill takes the second of them to a page before they come";
    a_page_written_over_a_newer_one: Guard(WritePage, "rev"), "a page is written late, after an unlike in it";
    a_page_written_over_another_incarnations: Guard(WritePage, "born"), "a like spills the head of a post that is deleted and published again";
    a_commit_not_guarded_on_the_pages: Guard(Commit, "pages"), "a head is spilled and full again while another spills it";
    a_commit_not_guarded_on_the_revision: Guard(Commit, "rev"), "an unlike and a new like while a third spills";
    a_commit_not_guarded_on_the_heads_length: Guard(Commit, "head"), "a server with larger limits appends below a chunk that is being spilled";
    a_commit_not_guarded_on_the_incarnation: Guard(Commit, "born"), "a like spills the head of a post that is deleted and published again";
    a_commit_that_leaves_its_items_in_the_head: Modifier(Commit, "$slice"), "two likes both meet a full head";
    a_commit_that_does_not_sort: Modifier(Commit, "$sort"), "two likes both meet a full head";
    a_commit_that_does_not_count_what_it_adds: Part(Commit, "$inc", "count"), "two likes both meet a full head";
    a_commit_that_does_not_raise_the_floor: Part(Commit, "$set", "floor"), "a late clock while the head spills";
    a_commit_that_does_not_flag_the_overflow: Part(Commit, "$set", "hasOverflow"), "two likes both meet a full head";
    a_removal_from_the_head_not_guarded_on_its_item: Guard(RemoveFromHead, "head.id"), "an unlike of an item that is being spilled";
    a_removal_from_the_head_that_does_not_raise_the_revision: Part(RemoveFromHead, "$inc", "rev"), "an unlike and a new like while a third spills";
    a_removal_from_a_page_not_guarded_on_the_revision: Guard(Pend, "rev"), "two unlikes of one item of a page";
    a_removal_from_a_page_not_guarded_on_the_incarnation: Guard(Pend, "born"), "an unlike in a page of a post that is deleted and published again";
    a_removal_from_a_page_that_is_not_noted: Part(Pend, "$push", "pending"), "an unlike in a page while the head spills";
    a_removal_from_a_page_that_does_not_raise_the_revision: Part(Pend, "$inc", "rev"), "two unlikes of one item of a page";
    a_page_that_counts_down_twice: Guard(PullFromPage, "items.id"), "two unlikes of one item of a page";
    a_removal_from_a_later_page_of_the_same_number: Guard(PullFromPage, "rev"), "a comment of a page is deleted, posted again and spilled to a page of the same number";
    a_tidying_not_guarded_on_the_pages: Guard(Trim, "pages"), "a page is emptied while the head spills";
    a_tidying_not_guarded_on_the_revision: Guard(Trim, "rev"), "two pages are emptied, and their numbers used again";
    a_tidying_that_does_not_raise_the_revision: Part(Trim, "$inc", "rev"), "a page is tidied by two, and its number used again";
    a_tidying_that_drops_the_next_page_of_the_number: Guard(DropPage, "rev"), "a page is tidied by two, and its number used again";
    an_adoption_that_commits_an_older_head: Guard(FinishAdoption, "rev"), "two likes meet a short unbounded array";
    an_array_adopted_twice: Guard(MakeList, "rev"), "two likes meet an unbounded array";
    a_commit_that_does_not_count_its_page: Part(Commit, "$inc", "pages"), "two likes both meet a full head";
    a_commit_that_does_not_count_what_it_spills: Part(Commit, "$inc", "spilled"), "two likes both meet a full head";
    a_removal_from_the_head_that_does_not_count: Part(RemoveFromHead, "$inc", "count"), "an unlike of an item that is being spilled";
    a_removal_from_a_page_that_does_not_count: Part(Pend, "$inc", "count"), "an unlike in a page while the head spills";
    a_removal_from_a_page_that_counts_the_head: Part(Pend, "$inc", "spilled"), "an unlike in a page while the head spills";
    a_page_that_does_not_count_down: Part(PullFromPage, "$inc", "count"), "two unlikes of one item of a page";
    a_removal_that_does_not_reach_its_page: Never(PullFromPage), "two unlikes of one item of a page";
    a_removal_from_a_page_of_the_next_incarnation: Guard(PullFromPage, "born"), "an unlike in a page of a post that is deleted, published again and liked by the same people";
    a_removal_that_stays_pending: Never(Unpend), "two unlikes of one item of a page";
    a_removal_that_takes_the_next_incarnations_from_pending: Guard(Unpend, "born"), "an unlike in a page of a post that is deleted, published again, liked and unliked by the same people";
    a_tidying_of_the_next_incarnation: Guard(Trim, "born"), "a page is emptied in a post that is deleted, published again and unliked as often";
    a_tidying_that_leaves_the_flag: Part(Trim, "$set", "hasOverflow"), "two unlikes that empty a page";
    a_page_with_items_that_readers_do_not_find: Guard(Unmark, "count"), "a page is tidied by two, and its number used again";
    an_adoption_not_guarded_on_the_incarnation: Guard(FinishAdoption, "born"), "a like meets an unbounded array of a post that is deleted and published again";
    an_adoption_that_does_not_raise_the_revision: Part(FinishAdoption, "$inc", "rev"), "two likes meet a short unbounded array";
    an_adoption_that_does_not_raise_the_floor: Part(FinishAdoption, "$set", "floor"), "a like with a late clock meets an unbounded array";
    a_deletion_that_leaves_the_pages: Never(Sweep), "an unlike in a page of a post that is deleted and published again";
    a_page_left_behind_whose_revision_is_never_passed: Never(AdvanceRev), "two servers with different limits spill the same head";
    an_empty_page_that_readers_are_led_to: Never(Unmark), "two unlikes that empty a page";
    a_sweep_of_an_existing_owner: Guard(Sweep, "born"), "a like spills the head of a post that is deleted and published again";
}

mutants! {
    Flawed;
    a_push_of_several_guarded_on_the_first_actor: FirstKeyOnly, "two likes go together, and the second of them likes on another server too";
    a_push_of_several_guarded_on_room_for_one: RoomForOne, "two likes go together while another server takes one of their two places";
    a_push_of_several_that_counts_one: CountsOne, "three likes go together, and only two have room";
    a_commit_that_adds_below_its_page: Late, "two likes both meet a full head";
    a_commit_before_its_page: CommitFirst, "two likes both meet a full head";
    a_commit_that_does_not_read_back_its_page: NoReadBack, "two servers with different limits spill the same head";
    a_reader_of_a_page_that_is_not_committed: OneMorePage, "two likes both meet a full head";
    a_reader_of_another_incarnations_pages: Reader("born"), "a like spills the head of a post that is deleted and published again";
    a_reader_of_removed_items: Blind("pending"), "an unlike in a page while the head spills";
    a_writer_who_sorts_below_a_page: Blind("floor"), "a late clock while the head spills";
    a_writer_who_leaves_an_adoption_unfinished: Blind("adopting"), "two likes meet an unbounded array";
    a_deletion_of_the_pages_first: SweepFirst, "an unlike in a page of a post that is deleted and published again";
    a_sweep_after_an_old_read: SweepByAnOldLook, "a like spills the head of a post that is deleted and published again";
    a_spill_that_does_not_sweep: NoSweepAfterASpill, "a like spills the head of a post that is deleted and published again";
}

mutants! {
    Disordered;
    a_removal_that_changes_the_page_first: PullBeforePend, "two unlikes of one item of a page";
    a_removal_that_is_no_longer_pending_before_it_reaches_its_page: UnpendBeforePull, "two unlikes of one item of a page";
    an_empty_page_that_is_hidden_after_its_removal_is_no_longer_pending: UnpendBeforeUnmark, "two unlikes that empty a page";
    a_reader_that_reads_the_owner_once: NoSecondLook, "the whole list is read while an item of a page goes";
    a_search_that_finds_a_later_page_of_the_same_number: AnyRevision, "a double like while the only page is emptied and its number used again";
}
