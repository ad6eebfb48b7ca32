//! Somebody deletes their account while they act on another server, or two servers finish it while somebody else gets
//! the handle, in every interleaving, with a crash before any write or a lost answer to any write. In the end nothing
//! of theirs is left, and everything of others and of the next holder is there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod departed;
#[path = "../support/early.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod early;
#[path = "../overflow/support/flawed_feed.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod flawed_feed;
mod late;
#[path = "../support/lists.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod lists;
mod seen;
#[path = "../overflow/support/steps.rs"]
mod steps;
mod support;

use std::sync::Arc;

use crate::departed::Departed;
use crate::early::Early::{AuthorInTimelines, Reader, UndeliveredPosts};
use crate::early::Hasty;
use crate::flawed_feed::FeedFlaw::{AgreesWithLeaving, FollowsLeaving};
use crate::flawed_feed::FlawedFeed;
use crate::steps::FeedStep::{
    self, Begin, DeletePages, DeletePerson, DeletePost, DeleteTimeline, Empty, Forget, List,
};
use crate::support::Act::{
    self, BeCommentedOn, BeFollowed, BeLiked, BeUnfollowed, BeginToPublish, Comment, Delete, Deliver, Edit,
    Finish, Follow, Join, Leave, Like, Look, Mark, Publish, Share, SignIn, Undo,
};
use crate::support::{Scenario, assert_nothing_begins};
use checker::mutant::Fault::{self, Guard, Guards, Never, Part};
use checker::mutant::{Mutant, fails};
use checker::schedule::Between;
use checker::step::Step::Confirm;

/// Somebody who has done a bit of everything, and is leaving. Their activities are in a page, too.
const MARKED: &[Act] = &[
    Like,
    Comment(1),
    Share,
    Follow,
    BeFollowed,
    Publish(1),
    Look,
    SignIn(1),
    Mark,
];
/// Somebody who is leaving, whose only traces are of one kind: reactions,
const REACTED: &[Act] = &[Like, Comment(1), Share, Mark];
/// a timeline and both sides of a follow,
const FOLLOWS: &[Act] = &[Follow, BeFollowed, Look, Mark];
/// or a session.
const SIGNED_IN: &[Act] = &[SignIn(1), Mark];
/// Somebody who is leaving, and whose only traces are a follower and two posts in that one's timeline. One has no
/// activity.
const FOLLOWED: &[Act] = &[BeFollowed, Publish(1), BeginToPublish(2), Look, Mark];

/// Two tests for each scenario, and the scenario by its name.
macro_rules! scenarios {
    ($($test:ident: $before:expr, $at_once:expr, $switches:literal;)*) => {
        $(
            mod $test {
                use super::*;

                #[tokio::test(start_paused = true)]
                async fn with_new_reads() {
                    scenario(stringify!($test)).explore(&|engine| engine).await;
                }

                #[tokio::test(start_paused = true)]
                async fn with_an_old_read() {
                    scenario(stringify!($test)).explore_stale().await;
                }
            }
        )*

        fn scenario(name: &str) -> Scenario {
            match name {
                $(stringify!($test) => Scenario { before: $before, at_once: $at_once, switches: $switches },)*
                _ => panic!("no scenario {name}"),
            }
        }
    };
}

scenarios! {
    a_like_while_they_leave: &[], &[&[Like], &[Leave]], 2;
    a_comment_while_they_leave: &[], &[&[Comment(1)], &[Leave]], 2;
    a_share_while_they_leave: &[], &[&[Share], &[Leave]], 2;
    a_follow_while_they_leave: &[], &[&[Follow], &[Leave]], 2;
    a_post_while_they_leave: &[], &[&[Publish(1)], &[Leave]], 2;
    an_unlike_while_they_leave: &[Like], &[&[Undo(&Like)], &[Leave]], 2;
    an_end_of_a_share_while_they_leave: &[Share], &[&[Undo(&Share)], &[Leave]], 2;
    a_comment_is_edited_while_they_leave: &[Comment(1)], &[&[Edit(1)], &[Leave]], 2;
    a_comment_is_edited_while_it_is_deleted: &[Comment(1)], &[&[Edit(1)], &[Undo(&Comment(1))]], 2;
    a_comment_is_deleted_while_they_leave: &[Comment(1)], &[&[Undo(&Comment(1))], &[Leave]], 2;
    an_unfollow_while_they_leave: &[Follow, Look], &[&[Undo(&Follow)], &[Leave]], 2;
    a_post_is_deleted_while_they_leave: &[Publish(1), BeCommentedOn(1)], &[&[Delete(1)], &[Leave]], 2;
    a_post_is_liked_while_they_leave: &[Publish(1)], &[&[BeLiked(1)], &[Leave]], 2;
    a_follower_comes_while_they_leave: &[Publish(1), Look], &[&[BeFollowed], &[Leave]], 2;
    a_follower_follows_again_while_they_leave: &[BeFollowed], &[&[BeFollowed], &[Leave]], 2;
    a_follower_goes_while_they_leave: &[Publish(1), BeFollowed, Look], &[&[BeUnfollowed], &[Leave]], 2;
    a_post_while_a_follower_looks: &[BeFollowed, Look], &[&[Look], &[Publish(1)]], 3;
    a_post_is_delivered_while_it_is_deleted: &[BeginToPublish(1)], &[&[Deliver], &[Delete(1)]], 2;
    a_post_is_deleted_while_a_reader_looks: &[Publish(1), BeCommentedOn(1)], &[&[Look], &[Delete(1)]], 2;
    two_servers_delete_a_post: &[Publish(1), BeCommentedOn(1)], &[&[Delete(1)], &[Delete(1)]], 2;
    two_servers_finish: MARKED, &[&[Finish], &[Finish]], 1;
    two_servers_finish_and_the_next_holder_reacts: REACTED, &[&[Finish], &[Finish, Join, Like, Comment(2), Share]], 1;
    two_servers_finish_and_the_next_holder_follows: FOLLOWS, &[&[Finish], &[Finish, Join, Follow, BeFollowed]], 1;
    two_servers_finish_and_the_next_holder_posts: FOLLOWED, &[&[Finish], &[Finish, Join, BeFollowed, Publish(1), Publish(2), Look]], 1;
    two_servers_finish_and_the_next_holder_signs_in: SIGNED_IN, &[&[Finish], &[Finish, Join, SignIn(2)]], 1;
    two_servers_finish_and_the_next_holder_has_pages: &[Like, Mark], &[&[Finish], &[Finish, Join, Like, Comment(2), Share, Comment(3)]], 1;
    two_servers_finish_and_the_next_holder_leaves: &[Like, Mark], &[&[Finish], &[Finish, Join, Like, Mark]], 1;
}

/// Like the mutants of lists: a test for each part of the protocol that is left out, with the scenario that must fail.
macro_rules! mutants {
    ($($test:ident: $between:expr, $scenario:ident;)*) => {
        $(
            #[test]
            fn $test() {
                let explore = || async { scenario(stringify!($scenario)).explore($between).await };
                assert!(fails(explore), "it survives");
            }
        )*
    };
}

#[tokio::test]
async fn somebody_who_is_leaving_begins_nothing() {
    assert_nothing_begins(&|engine| engine).await;
}

#[test]
fn somebody_who_is_leaving_begins_something_without_the_guard() {
    let between = mutant(Guard(Begin, "leaving"));
    assert!(fails(move || assert_nothing_begins(between)), "it survives");
}

fn mutant(fault: Fault<FeedStep>) -> Between {
    Mutant::between(fault)
}

mutants! {
    a_deletion_of_a_post_that_is_not_noted: mutant(Part(Begin, "$push", "intents")), a_post_is_deleted_while_a_reader_looks;
    a_follow_of_somebody_who_is_leaving: FlawedFeed::between(FollowsLeaving), a_follower_follows_again_while_they_leave;
    an_activity_that_a_departure_has_not_kept_out: mutant(Part(List(Confirm), "$inc", "rev")), a_follower_comes_while_they_leave;
    an_activity_that_agrees_with_an_author_who_is_leaving: FlawedFeed::between(AgreesWithLeaving), a_follower_comes_while_they_leave;
    a_person_who_is_not_looked_at_again: &|engine| Arc::new(Departed(engine)), two_servers_finish_and_the_next_holder_signs_in;
    lists_that_are_emptied_although_they_have_changed: mutant(Guards(Empty, ["count", "rev"])), a_like_while_they_leave;
    lists_that_are_emptied_although_a_post_was_recorded: mutant(Guards(Empty, ["count", "rev"])), a_post_while_they_leave;
    lists_of_the_next_holder_that_are_emptied: mutant(Guard(Empty, "born")), two_servers_finish_and_the_next_holder_leaves;
    lists_whose_pages_are_left: mutant(Never(DeletePages)), two_servers_finish;
    pages_of_the_next_holder_that_are_deleted: mutant(Guard(DeletePages, "born")), two_servers_finish_and_the_next_holder_has_pages;
    a_person_who_is_deleted_with_their_lists: mutant(Guard(DeletePerson, "count")), a_like_while_they_leave;
    the_next_holder_who_is_deleted: mutant(Guards(DeletePerson, ["leaving", "born"])), two_servers_finish_and_the_next_holder_signs_in;
    a_timeline_that_is_left: mutant(Never(DeleteTimeline)), two_servers_finish;
    a_timeline_of_the_next_holder_that_is_deleted: mutant(Guard(DeleteTimeline, "born")), two_servers_finish_and_the_next_holder_follows;
    a_post_of_the_next_holder_that_is_deleted: mutant(Guard(DeletePost, "born")), two_servers_finish_and_the_next_holder_posts;
    a_post_of_the_next_holder_that_an_activity_names: mutant(Guard(DeletePost, "at")), two_servers_finish_and_the_next_holder_posts;
    an_activity_of_a_post_that_was_read_before_the_activities: Hasty::between(UndeliveredPosts), a_post_is_delivered_while_it_is_deleted;
    followers_who_forget_the_next_holder_after_an_early_look: Hasty::between(AuthorInTimelines), two_servers_finish_and_the_next_holder_posts;
    a_timeline_of_the_next_holder_that_is_deleted_after_an_early_look: Hasty::between(Reader), two_servers_finish_and_the_next_holder_follows;
    a_follower_who_forgets_the_next_holder: mutant(Guard(Forget, "follows")), two_servers_finish_and_the_next_holder_posts;
}
