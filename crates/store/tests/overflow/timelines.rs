//! Home timelines under the interleavings of posts, follows, unfollows, spilling followers, first home requests and
//! people who leave, with a crash before any write or a lost answer to any write. In the end, home always agrees with
//! the lists and the posts.

use crate::support::flawed_feed::FeedFlaw::{
    AnnouncesLeaving, FollowersReadOnce, MarkedAfterwards, MarkedFirst, NotEmptied,
};
use crate::support::flawed_feed::FlawedFeed;
use crate::support::steps::FeedStep::{
    Announce, BeginToAnnounce, Deliver, Delivered, Doubt, Forget, Rewrite,
};
use crate::support::town::Act::{
    self, Delete, Follow, FollowSecond, Join, Leave, Look, Post, PostAgain, PostBySecond, Share, Unfollow,
    UnfollowSecond, Unshare,
};
use crate::support::town::{Overtaken, SECOND, Scenario};
use crate::support::with_new_and_old_reads;
use checker::mutant::Fault::{Guard, Never, Part};
use checker::mutant::{Mutant, fails};
use checker::schedule::Between;

/// Two readers who follow and have a timeline, and a third who has one.
const ORDINARY: &[Act] = &[Post(1), Follow(1), Follow(2), Look(1), Look(2), Look(3)];
/// The same, and a post that the author can share.
const SHARING: &[Act] = &[
    Post(1),
    PostBySecond(2),
    Follow(1),
    Follow(2),
    Look(1),
    Look(2),
    Look(3),
];
/// The author has shared it.
const SHARED: &[Act] = &[
    Post(1),
    PostBySecond(2),
    Follow(1),
    Follow(2),
    Look(1),
    Look(2),
    Share(2),
];
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
/// They have overflowed, and no post has announced it yet.
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

/// All timelines name the author as an outlier, except for readers who have never opened their home feed.
const OUTLIER: &[Act] = &[Post(1), Follow(1), Follow(2), Follow(3), Follow(4), Post(2)];
/// A reader follows one of two authors, whose posts fill the timeline.
const HALF: &[Act] = &[Look(1), Follow(1), PostBySecond(1), Post(2), Post(3)];
/// A timeline that was built while it was short. Posts of the second author have dropped those of the first.
const DROPPED: &[Act] = &[
    Look(1),
    Follow(1),
    FollowSecond(1),
    Post(1),
    Post(2),
    PostBySecond(3),
    PostBySecond(4),
    PostBySecond(5),
];
/// A timeline that has lost all entries, and one post before that. So it knows of no post.
const EMPTIED: &[Act] = &[
    Look(1),
    Follow(1),
    FollowSecond(1),
    Post(4),
    PostBySecond(5),
    PostBySecond(6),
    PostBySecond(7),
    UnfollowSecond(1),
];
/// The next post drops one.
const BRIM: &[Act] = &[
    Look(1),
    Follow(1),
    FollowSecond(1),
    Post(1),
    Post(2),
    PostBySecond(3),
];
/// The same posts as in a timeline that has dropped some, and a reader who has never opened their home feed.
const UNBUILT: &[Act] = &[
    Post(1),
    Post(2),
    PostBySecond(3),
    PostBySecond(4),
    PostBySecond(5),
    Follow(1),
    FollowSecond(1),
];

/// Two tests for each scenario, and the scenario by its name.
macro_rules! scenarios {
    ($($test:ident: $before:expr, $at_once:expr, $followers:expr;)*) => {
        $(
            with_new_and_old_reads!($test);
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
    a_share_while_somebody_follows: SHARING, &[&[Share(2)], &[Follow(3)]], &[1, 2, 3];
    a_share_while_somebody_unfollows: SHARING, &[&[Share(2)], &[Unfollow(1)]], &[2];
    a_share_while_a_follower_looks_for_the_first_time: &[PostBySecond(2), Follow(1)], &[&[Share(2)], &[Look(1)]], &[1];
    a_share_is_taken_back_while_it_is_delivered: SHARING, &[&[Share(2)], &[Unshare(2)]], &[1, 2];
    a_share_is_repeated_while_it_is_taken_back: SHARED, &[&[Unshare(2), Share(2)], &[Unshare(2)]], &[1, 2];
    a_share_by_an_author_who_becomes_an_outlier: OVERFLOWED, &[&[PostBySecond(2), Share(2)], &[Follow(5)]], &[1, 2, 3, 4, 5];
    a_sharer_leaves_while_a_post_is_shared: SHARING, &[&[Share(2)], &[Leave(0)]], &[];
    two_posts_at_once: ORDINARY, &[&[Post(2)], &[Post(3)]], &[1, 2];
    a_post_while_a_follower_looks_for_the_first_time: &[Post(1), Follow(1)], &[&[Post(2)], &[Look(1)]], &[1];
    a_reader_without_a_timeline_follows_and_looks: &[Post(1)], &[&[Follow(1)], &[Look(1)]], &[1];
    a_reader_without_a_timeline_unfollows_and_looks: &[Post(1), Follow(1)], &[&[Unfollow(1)], &[Look(1)]], &[];
    a_post_is_deleted_while_it_is_delivered_and_looked_at: ORDINARY, &[&[Post(2)], &[Look(1), Delete(1), Look(1)]], &[1, 2];
    a_post_while_its_authors_followers_overflow: FULL, &[&[Post(2)], &[Follow(4)]], &[1, 2, 3, 4];
    a_post_while_its_authors_followers_overflow_and_one_leaves: FULL, &[&[Post(2)], &[Follow(4), Unfollow(1)]], &[2, 3, 4];
    an_author_becomes_an_outlier_while_somebody_follows: OVERFLOWED, &[&[Post(2)], &[Follow(5)]], &[1, 2, 3, 4, 5];
    an_author_becomes_an_outlier_while_somebody_unfollows: OVERFLOWED, &[&[Post(2)], &[Unfollow(1)]], &[2, 3, 4];
    an_author_becomes_an_outlier_while_a_follower_looks_for_the_first_time: OVERFLOWED, &[&[Post(2)], &[Look(2)]], &[1, 2, 3, 4];
    an_author_becomes_an_outlier_while_an_earlier_follower_looks: FULL, &[&[Follow(4), Post(2)], &[Look(2)]], &[1, 2, 3, 4];
    an_author_becomes_an_outlier_while_the_followers_shrink_again: OVERFLOWED, &[&[Post(2)], &[Unfollow(1), Unfollow(2), Follow(5)]], &[3, 4, 5];
    an_author_becomes_an_outlier_twice_at_once: OVERFLOWED, &[&[Post(2)], &[Post(3)]], &[1, 2, 3, 4];

    a_post_drops_another_while_the_reader_follows_somebody: HALF, &[&[Post(4)], &[FollowSecond(1)]], &[1];
    a_post_drops_another_while_the_reader_unfollows_somebody: DROPPED, &[&[Post(6)], &[UnfollowSecond(1)]], &[1];
    a_post_drops_another_while_one_is_deleted: HALF, &[&[Post(4), Post(5)], &[Delete(3), Look(1)]], &[1];
    a_post_drops_another_while_a_follower_looks_for_the_first_time: UNBUILT, &[&[Post(6)], &[Look(1)]], &[1];
    the_second_author_is_unfollowed_after_posts_were_dropped: DROPPED, &[&[UnfollowSecond(1)], &[Look(1)]], &[1];
    an_author_with_a_late_clock_posts_while_a_follower_looks: EMPTIED, &[&[Post(1), Post(2), Post(3)], &[Look(1)]], &[1];
    a_post_is_delivered_while_it_is_deleted_and_another_takes_its_id: ORDINARY, &[&[Post(2)], &[Delete(2), PostAgain(2)]], &[1, 2];
    an_author_posts_and_leaves_while_another_posts: BRIM, &[&[PostBySecond(4), Leave(SECOND)], &[Post(5)]], &[1];
    an_author_posts_and_is_unfollowed_while_the_reader_looks: BRIM, &[&[PostBySecond(4), UnfollowSecond(1)], &[Look(1)]], &[1];
    an_author_leaves_while_another_posts: DROPPED, &[&[Leave(SECOND)], &[Post(6)]], &[1];
    an_author_leaves_while_a_follower_looks: DROPPED, &[&[Leave(SECOND)], &[Look(1)]], &[1];
    an_author_leaves_while_a_follower_looks_for_the_first_time: UNBUILT, &[&[Leave(SECOND)], &[Look(1)]], &[1];
    an_author_leaves_while_somebody_follows_them: DROPPED, &[&[Leave(SECOND)], &[FollowSecond(2)]], &[1];
    an_author_leaves_while_somebody_unfollows_them: DROPPED, &[&[Leave(SECOND)], &[UnfollowSecond(1)]], &[1];
    an_author_leaves_while_a_follower_follows_another: DROPPED, &[&[Leave(SECOND)], &[Unfollow(1), Follow(1)]], &[1];
    an_author_leaves_and_posts: DROPPED, &[&[Leave(SECOND)], &[PostBySecond(6)]], &[1];
    an_outlier_leaves_while_a_follower_looks_for_the_first_time: OUTLIER, &[&[Look(2)], &[Leave(0), Join(0), Post(3)]], &[];
    an_outlier_leaves_while_they_are_announced: OVERFLOWED, &[&[Post(2)], &[Leave(0), Join(0), Post(3)]], &[];
    a_reader_leaves_while_they_look: DROPPED, &[&[Leave(1)], &[Look(1)]], &[];
    a_reader_leaves_while_they_look_for_the_first_time: UNBUILT, &[&[Leave(1)], &[Look(1)]], &[];
    a_reader_leaves_while_they_follow: HALF, &[&[Leave(1)], &[FollowSecond(1)]], &[];
    a_reader_leaves_while_they_unfollow: DROPPED, &[&[Leave(1)], &[UnfollowSecond(1)]], &[];
    a_reader_and_the_author_leave_while_the_one_follows_the_other: HALF, &[&[Leave(1), Leave(SECOND)], &[FollowSecond(1)]], &[];
    a_reader_leaves_and_another_takes_the_handle_during_a_post: &[Follow(1), Look(1), Post(1)], &[&[Post(6)], &[Leave(1), Join(1), FollowSecond(1), Look(1)]], &[];
    a_reader_leaves_and_another_takes_the_handle_while_they_look: &[Post(1), Follow(1)], &[&[Look(1)], &[Leave(1), Join(1), FollowSecond(1)]], &[];
}

/// Whether a scenario fails over an engine with a fault.
fn dies(between: Between, name: &'static str) -> bool {
    fails(move || async move { scenario(name).explore(between).await })
}

/// Like the mutants of lists: a test for each part of the protocol that is left out, with the scenario that must fail.
macro_rules! mutants {
    ($layer:ident; $($test:ident: $fault:expr, $scenario:ident;)*) => {
        $(
            #[test]
            fn $test() {
                assert!(dies($layer::between($fault), stringify!($scenario)), "{:?} survives", $fault);
            }
        )*
    };
}

mutants! {
    Mutant;
    a_delivery_to_somebody_who_left: Guard(Deliver, "follows"), a_post_while_somebody_unfollows;
    a_delivery_that_is_repeated: Guard(Deliver, "entries"), two_posts_at_once;
    a_delivery_that_a_build_does_not_notice: Part(Deliver, "$inc", "rev"), a_post_while_a_follower_looks_for_the_first_time;
    an_unfollow_that_no_delivery_notices: Part(Rewrite, "$inc", "follows"), a_post_while_somebody_unfollows;
    an_unfollow_that_is_not_noted: Part(Doubt, "$push", "doubts"), a_post_while_somebody_unfollows;
    a_rewrite_of_a_timeline_that_has_changed: Guard(Rewrite, "rev"), a_post_while_a_follower_looks_for_the_first_time;
    an_outlier_announced_to_somebody_who_left: Guard(Announce, "follows"), an_author_becomes_an_outlier_while_somebody_unfollows;
    an_outlier_announced_without_marking_the_author: Part(BeginToAnnounce, "$set", "outlier"), an_author_becomes_an_outlier_while_the_followers_shrink_again;
    a_push_that_drops_a_post_unnoticed: Part(Deliver, "$inc", "room"), an_author_posts_and_leaves_while_another_posts;
    a_push_that_drops_a_post_before_an_unfollow: Part(Deliver, "$inc", "room"), an_author_posts_and_is_unfollowed_while_the_reader_looks;
    a_post_that_is_not_known_to_be_delivered: Never(Delivered), two_posts_at_once;
    a_delivery_that_ends_that_of_another_post: Guard(Delivered, "born"), a_post_is_delivered_while_it_is_deleted_and_another_takes_its_id;
    a_push_below_the_end_of_a_timeline_without_room: Guard(Deliver, "$or"), an_author_with_a_late_clock_posts_while_a_follower_looks;
    an_author_who_leaves_and_is_not_forgotten: Part(Forget, "$pull", "outliers"), an_outlier_leaves_while_they_are_announced;
    an_author_leaving_that_a_build_does_not_notice: Part(Forget, "$inc", "rev"), an_outlier_leaves_while_a_follower_looks_for_the_first_time;
    a_delivery_to_the_next_holder_of_a_handle: Guard(Deliver, "born"), a_reader_leaves_and_another_takes_the_handle_during_a_post;
    a_rewrite_of_the_next_holders_timeline: Guard(Rewrite, "born"), a_reader_leaves_and_another_takes_the_handle_while_they_look;
    an_announcement_that_a_build_does_not_notice: Part(Announce, "$inc", "rev"), an_author_becomes_an_outlier_while_an_earlier_follower_looks;
}

mutants! {
    FlawedFeed;
    an_outlier_marked_before_the_followers_timelines_name_them: MarkedFirst, an_author_becomes_an_outlier_while_somebody_follows;
    a_delivery_that_reads_the_followers_once: FollowersReadOnce, a_post_while_somebody_unfollows;
    an_announcement_of_an_author_who_is_leaving: AnnouncesLeaving, an_outlier_leaves_while_they_are_announced;
    a_post_that_is_marked_after_it_was_inserted: MarkedAfterwards, two_posts_at_once;
    a_timeline_without_room_that_is_built_before_it_is_emptied: NotEmptied, an_author_with_a_late_clock_posts_while_a_follower_looks;
}

/// Two tests for each write that the next holder of a handle overtakes: home is right, and it is not without the
/// guard.
macro_rules! overtaken {
    ($($test:ident: $before:expr, $act:expr, $at:ident, $meanwhile:expr, $guard:literal;)*) => {
        $(
            mod $test {
                use super::*;

                const OVERTAKEN: Overtaken = Overtaken { before: $before, act: $act, at: $at, meanwhile: $meanwhile };

                #[tokio::test]
                async fn with_its_guard() {
                    OVERTAKEN.run(&|engine| engine).await;
                }

                #[test]
                fn without_its_guard() {
                    let between = Mutant::between(Guard($at, $guard));
                    assert!(fails(move || async move { OVERTAKEN.run(between).await }), "nothing breaks");
                }
            }
        )*
    };
}

overtaken! {
    an_announcement_to_the_next_holder_of_a_handle: &[Post(1), Follow(2), Follow(3), Look(1), Follow(1), Follow(4)], Post(2), Announce, &[Leave(1), Join(1), FollowSecond(1), Look(1)], "born";
    a_departure_that_the_next_holder_of_a_followers_handle_overtakes: &[Look(1), FollowSecond(1), PostBySecond(3)], Leave(SECOND), Forget, &[Leave(1), Join(1), Leave(SECOND), Join(SECOND), FollowSecond(1), PostBySecond(4), Look(1)], "born";
}

/// A test for each scenario that fails when reads are old and operations have no sessions.
macro_rules! breaks {
    ($($test:ident: $scenario:ident;)*) => {
        $(
            #[test]
            fn $test() {
                let explore = || async { scenario(stringify!($scenario)).explore_stale(&|engine| engine, false).await };
                assert!(fails(explore), "nothing breaks");
            }
        )*
    };
}

breaks! {
    without_sessions_a_delivery_misses_a_follower: a_post_while_somebody_follows;
    without_sessions_a_delivery_reaches_somebody_who_left: a_post_while_somebody_unfollows;
    without_sessions_a_build_misses_a_post: a_post_while_a_follower_looks_for_the_first_time;
    without_sessions_an_announcement_misses_a_follower: an_author_becomes_an_outlier_while_somebody_follows;
}
