//! The protocol under the interleavings of two or three operations' engine calls, with a crash before any write, a lost
//! answer to any write or a write that never happens, or two of these, and with reads that are old. After each write
//! the invariants of overflow.md hold for every reader.

use crate::support::scenarios::{all, least, named, within};
use checker::stale::old_reads;

async fn explore(name: &str) {
    let runs = named(name).explore(&|engine| engine, least()).await;
    println!("{name}: {runs} runs");
    assert!(runs > 20, "only {runs} runs");
}

/// The same over a store whose reads may be old: like a replica set whose deposed primary still believes that it is
/// the primary, and like shards that lag independently of each other. The operations have sessions.
async fn explore_stale(name: &str) {
    let mut runs = 0;
    for bounds in [within(1, 0), within(0, 1)] {
        let bounds = bounds.at_least(least());
        runs += named(name)
            .explore_stale(&|engine| engine, true, bounds, old_reads())
            .await;
    }
    println!("{name}, with old reads: {runs} runs");
    assert!(runs > 20, "only {runs} runs");
}

/// Two tests for each scenario, so that they run in parallel and a failure has a name.
macro_rules! scenarios {
    ($($test:ident: $name:literal;)*) => {
        $(
            mod $test {
                #[tokio::test]
                async fn with_new_reads() {
                    super::explore($name).await;
                }

                #[tokio::test(start_paused = true)]
                async fn with_an_old_read() {
                    super::explore_stale($name).await;
                }
            }
        )*

        #[test]
        fn every_scenario_is_explored() {
            let explored = [$($name),*];
            for scenario in all() {
                assert!(explored.contains(&scenario.name), "{}", scenario.name);
            }
        }
    };
}

scenarios! {
    two_likes_both_meet_a_full_head: "two likes both meet a full head";
    two_likes_meet_a_head_with_one_place_left: "two likes meet a head with one place left";
    a_like_meets_a_head_that_another_fills_after_an_unlike_in_a_page: "a like meets a head that another fills, after an unlike in a page";
    the_same_person_likes_twice_at_once_while_the_head_is_full: "the same person likes twice at once while the head is full";
    a_double_like_while_the_first_one_spills: "a double like while the first one spills";
    a_double_like_while_two_others_fill_and_spill_the_head: "a double like while two others fill and spill the head";
    an_unlike_of_an_item_that_is_being_spilled: "an unlike of an item that is being spilled";
    an_unlike_and_a_new_like_while_a_third_spills: "an unlike and a new like while a third spills";
    a_head_is_spilled_and_full_again_while_another_spills_it: "a head is spilled and full again while another spills it";
    a_page_is_written_late_after_an_unlike_in_it: "a page is written late, after an unlike in it";
    a_server_with_larger_limits_appends_below_a_chunk_that_is_being_spilled: "a server with larger limits appends below a chunk that is being spilled";
    a_double_like_while_the_only_page_is_emptied_and_its_number_used_again: "a double like while the only page is emptied and its number used again";
    a_double_like_while_the_only_page_is_emptied_and_its_number_used_again_for_an_item_of_the_same_moment: "a double like while the only page is emptied, and its number used again for an item of the same moment";
    two_pages_are_emptied_and_their_numbers_used_again: "two pages are emptied, and their numbers used again";
    somebody_who_liked_unlikes_while_another_likes: "somebody who liked unlikes, while another likes";
    somebody_unlikes_after_their_like_has_spilled: "somebody unlikes after their like has spilled";
    two_unlikes_of_one_item_of_a_page: "two unlikes of one item of a page";
    two_unlikes_that_empty_a_page: "two unlikes that empty a page";
    a_page_is_emptied_while_the_head_spills: "a page is emptied while the head spills";
    a_page_is_tidied_by_two_and_its_number_used_again: "a page is tidied by two, and its number used again";
    an_unlike_in_a_page_while_the_head_spills: "an unlike in a page while the head spills";
    an_unlike_in_a_page_and_a_new_like_by_the_same_person: "an unlike in a page and a new like by the same person";
    a_late_clock_while_the_head_spills: "a late clock while the head spills";
    three_likes_one_of_them_late_meet_a_full_head: "three likes, one of them late, meet a full head";
    a_like_an_unlike_in_the_head_and_one_in_a_page_at_once: "a like, an unlike in the head and one in a page at once";
    two_servers_with_different_limits_spill_the_same_head: "two servers with different limits spill the same head";
    a_scroll_while_items_spill: "a scroll while items spill";
    a_scroll_from_the_oldest_while_items_spill: "a scroll from the oldest while items spill";
    a_scroll_while_an_item_of_a_page_goes: "a scroll while an item of a page goes";
    a_scroll_from_the_oldest_while_the_only_page_is_emptied: "a scroll from the oldest while the only page is emptied";
    a_scroll_while_a_page_is_emptied_and_its_number_used_again: "a scroll while a page is emptied and its number used again";
    the_whole_list_is_read_while_an_item_of_a_page_goes: "the whole list is read while an item of a page goes";
    a_jump_to_an_offset_while_an_item_of_a_page_goes: "a jump to an offset while an item of a page goes";
    a_like_spills_the_head_of_a_post_that_is_deleted_and_published_again: "a like spills the head of a post that is deleted and published again";
    a_like_spills_the_head_of_a_post_that_is_deleted_and_published_again_without_likes: "a like spills the head of a post that is deleted and published again without likes";
    a_like_meets_a_post_that_is_deleted_published_again_and_liked_by_the_same_person: "a like meets a post that is deleted, published again and liked by the same person";
    an_unlike_in_a_page_of_a_post_that_is_deleted_published_again_and_liked_by_the_same_people: "an unlike in a page of a post that is deleted, published again and liked by the same people";
    an_unlike_in_a_page_of_a_post_that_is_deleted_published_again_liked_and_unliked_by_the_same_people: "an unlike in a page of a post that is deleted, published again, liked and unliked by the same people";
    a_page_is_emptied_in_a_post_that_is_deleted_and_published_again: "a page is emptied in a post that is deleted and published again";
    a_page_is_emptied_in_a_post_that_is_deleted_published_again_and_unliked_as_often: "a page is emptied in a post that is deleted, published again and unliked as often";
    two_servers_delete_a_post_and_publish_it_again: "two servers delete a post and publish it again";
    a_scroll_while_a_post_is_deleted_published_again_and_liked: "a scroll while a post is deleted, published again and liked";
    a_scroll_from_the_oldest_while_a_post_is_deleted_published_again_and_liked: "a scroll from the oldest while a post is deleted, published again and liked";
    a_like_meets_an_unbounded_array_of_a_post_that_is_deleted_and_published_again: "a like meets an unbounded array of a post that is deleted and published again";
    a_like_with_a_late_clock_meets_an_unbounded_array: "a like with a late clock meets an unbounded array";
    an_unlike_in_a_page_of_a_post_that_is_deleted_and_published_again: "an unlike in a page of a post that is deleted and published again";
    a_comment_of_a_page_is_deleted_posted_again_and_spilled_to_a_page_of_the_same_number: "a comment of a page is deleted, posted again and spilled to a page of the same number";
    two_likes_meet_a_short_unbounded_array: "two likes meet a short unbounded array";
    two_likes_meet_an_unbounded_array: "two likes meet an unbounded array";
    an_unlike_meets_an_unbounded_array_that_a_push_still_uses: "an unlike meets an unbounded array that a push still uses";
    two_servers_with_different_limits_adopt_an_unbounded_array: "two servers with different limits adopt an unbounded array";
    three_likes_go_together_and_only_two_have_room: "three likes go together, and only two have room";
    two_likes_go_together_while_another_server_takes_one_of_their_two_places: "two likes go together while another server takes one of their two places";
    two_likes_go_together_and_the_second_of_them_likes_on_another_server_too: "two likes go together, and the second of them likes on another server too";
    the_same_person_likes_twice_and_another_once_together_beside_a_spill: "the same person likes twice and another once, together, beside a spill";
    likes_of_which_one_is_in_a_page_go_together_beside_an_unlike_in_that_page: "likes of which one is in a page go together, beside an unlike in that page";
    likes_go_together_and_a_spill_takes_the_second_of_them_to_a_page_before_they_come: "likes go together, and a spill takes the second of them to a page before they come";
    likes_with_a_late_clock_go_together_while_the_head_spills: "likes with a late clock go together while the head spills";
    a_like_an_unlike_in_the_head_and_one_in_a_page_of_one_server_at_once: "a like, an unlike in the head and one in a page of one server at once";
    two_likes_go_together_on_a_post_that_is_deleted_and_published_again: "two likes go together on a post that is deleted and published again";
    two_likes_that_go_together_meet_an_unbounded_array: "two likes that go together meet an unbounded array";
}
