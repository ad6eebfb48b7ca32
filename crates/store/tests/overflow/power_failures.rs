//! Lists on a disk that loses, reorders and tears unsynced writes: the power fails at any moment, and everything
//! acknowledged is still there. Then the same with one write that is not journaled, for each write of the protocol.

use std::sync::Arc;

use embedded::Embedded;
use store::overflow::Key;

use crate::support::late_writes::Fate::{self, *};
use crate::support::late_writes::{breaks, journaled, writes};
use crate::support::operations::LIKES;
use crate::support::power::{Client, Disk, Moment, PAGE_SIZE, THRESHOLD, look};
use crate::support::{assert_sound, handle, like, like_at, post, small_store_on};
use checker::dice::Dice;
use checker::late::{Late, Written};
use checker::step::Step::{self, *};

/// All operations of lists, one after the other, on a disk; one write may be late.
async fn life(late: Option<Step>) -> (Vec<Moment>, Written<Step>) {
    let disk = Disk::default();
    let engine = Arc::new(Embedded::on(disk.clone()).unwrap());
    let base = Client {
        store: small_store_on(engine.clone(), THRESHOLD, PAGE_SIZE).await,
        disk: disk.clone(),
    };
    base.publish_with_an_array(3, 6).await;
    {
        let mut state = disk.0.lock().unwrap();
        state.moments.clear();
        state.every = Some(EVERY);
    }
    let written = Written::default();
    let engine = Late {
        engine,
        disk: disk.clone(),
        step: late,
        written: written.clone(),
    };
    let client = Client {
        store: small_store_on(Arc::new(engine), THRESHOLD, PAGE_SIZE).await,
        disk: disk.clone(),
    };

    client.publish(1).await;
    for actor in 1..=7 {
        client.like(1, like(actor)).await;
    }
    // From the head, and from a page that still has another item.
    client.unlike(1, 7).await;
    client.unlike(1, 1).await;
    client.like(1, like_at(7, 20)).await;
    // The newest page is removed.
    client.unlike(1, 3).await;
    client.unlike(1, 4).await;
    base.leave_a_page_behind(1, 5).await;
    client.like(1, like_at(8, 21)).await;
    // An older page stays, without items.
    client.unlike(1, 2).await;

    client.publish(2).await;
    client.like(2, like(1)).await;
    client.delete(2).await;
    client.delete(1).await;
    client.publish(1).await;
    for actor in 1..=4 {
        client.like(1, like(actor)).await;
    }
    client.adopt(3).await;
    client.like(3, like(11)).await;
    let moments = std::mem::take(&mut disk.0.lock().unwrap().moments);
    (moments, written)
}

/// At every n-th call a copy of the disk is kept: a prime number, so that every kind of call is included.
const EVERY: usize = 5;

/// How many power failures are tried in a commit: other sectors survive, in another order.
const SEEDS: u64 = 3;

async fn look_at_all(moments: &[Moment]) {
    let in_commits = moments.iter().filter(|moment| moment.is_in_a_commit()).count();
    assert!(
        in_commits >= 20,
        "only {in_commits} moments in the middle of a commit"
    );
    for (nth, moment) in moments.iter().enumerate() {
        let seeds = if moment.is_in_a_commit() { SEEDS } else { 1 };
        for seed in 1..=seeds {
            let image = moment.after_power_failure(seed + 10 * nth as u64);
            println!(
                "moment {nth} of {}, seed {seed}: {:?}",
                moments.len(),
                moment.known
            );
            look(image, moment.known.clone()).await;
        }
    }
}

#[tokio::test]
async fn spills_removals_and_deletions_survive_a_power_failure_at_any_moment() {
    let (moments, _) = life(None).await;
    look_at_all(&moments).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_operations_survive_a_power_failure_at_any_moment() {
    let disk = Disk::default();
    let engine = Arc::new(Embedded::on(disk.clone()).unwrap());
    let client = Client {
        store: small_store_on(engine, THRESHOLD, PAGE_SIZE).await,
        disk: disk.clone(),
    };
    disk.0.lock().unwrap().every = Some(EVERY);
    client.publish(1).await;
    let mut tasks = tokio::task::JoinSet::new();
    for actor in 1..=6 {
        let client = client.clone();
        tasks.spawn(async move {
            let mut dice = Dice::new(actor);
            for step in 0..6 {
                let at = i64::try_from(step * 10 + dice.below(40)).unwrap();
                client.like(1, like_at(actor, at)).await;
                if dice.one_in(2) {
                    client.unlike(1, actor).await;
                }
            }
        });
    }
    let publisher = client.clone();
    tasks.spawn(async move {
        for _ in 0..3 {
            publisher.publish(2).await;
            for actor in 1..=5 {
                publisher.like(2, like(actor)).await;
            }
            publisher.unlike(2, 1).await;
            publisher.delete(2).await;
        }
    });
    tasks.join_all().await;
    let moments = std::mem::take(&mut disk.0.lock().unwrap().moments);
    look_at_all(&moments).await;
}

/// Whether something acknowledged is lost, or something is broken, when one write is late.
async fn dies(late: Step) -> bool {
    let (moments, _) = life(Some(late)).await;
    breaks(moments, look).await
}

writes! {
    Step;
    a_post_that_is_not_journaled: MakeOwner, Needed;
    a_push_that_is_not_journaled: Push, Needed;
    a_page_that_is_not_journaled: WritePage, Unjournaled("the commit takes it to the disk, and without the commit it means nothing");
    a_commit_that_is_not_journaled: Commit, Needed;
    a_revision_that_is_not_journaled: AdvanceRev, Unjournaled("the commit takes it to the disk; without it the next spill finds the same page again");
    a_removal_from_the_head_that_is_not_journaled: RemoveFromHead, Needed;
    a_removal_from_a_page_that_is_not_journaled: Pend, Needed;
    a_pull_from_a_page_that_is_not_journaled: PullFromPage, Unjournaled("without it the removal is still pending");
    an_end_of_a_removal_that_is_not_journaled: Unpend, Unjournaled("without it the removal is still pending");
    an_empty_page_whose_unmarking_is_not_journaled: Unmark, Unjournaled("a reader who is led to an empty page finds nothing there");
    a_tidying_that_is_not_journaled: Trim, Unjournaled("without it the list ends with an empty page");
    a_tidied_page_whose_end_is_not_journaled: DropPage, Spared("nobody reads it, and the next spill replaces it");
    a_list_of_an_array_that_is_not_journaled: MakeList, Unjournaled("without it the list still is an array, which is adopted again");
    pages_of_an_array_that_are_not_journaled: WritePages, Spared("the end of the adoption takes them to the disk");
    an_adoption_whose_end_is_not_journaled: FinishAdoption, Needed;
    a_deletion_that_is_not_journaled: DeleteOwner, Needed;
    pages_of_a_deleted_post_whose_end_is_not_journaled: Sweep, Needed;
}

#[tokio::test]
async fn every_write_of_the_lists_is_made_late_once_and_journaled_as_the_table_says() {
    let (_, written) = life(None).await;
    let written: Vec<_> = written.lock().unwrap().iter().copied().collect();
    assert_eq!(written, journaled(WRITES));
}

#[tokio::test]
async fn an_unlike_in_a_page_syncs_once() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = small_store_on(engine.clone(), THRESHOLD, PAGE_SIZE).await;
    let owner = post(&store, 1).await;
    for actor in 1..=4 {
        store.list(LIKES).append(&owner, like(actor)).await.unwrap();
    }
    let before = engine.counters().commits;
    let removed = store.list(LIKES).remove(&owner, &Key::By(handle(1))).await;
    assert!(removed.unwrap().item.is_some());
    assert_eq!(engine.counters().commits - before, 1);
    assert_sound(&store, &owner, LIKES).await;
}
