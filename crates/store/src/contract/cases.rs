//! The list of all cases, and macros that use it.

/// Hands all cases to one of the macros of [`document`]: by module, each marked as of common use or as a corner.
#[macro_export]
#[doc(hidden)]
macro_rules! each_list_case {
    ($then:ident($($given:tt)*)) => {
        document::$then! {
            ($($given)*)
            lists common: [
                every_relation_spills_reads_and_removes_alike
                a_list_that_its_owner_lacks_is_empty_until_the_first_append
                an_unlike_removes_the_like_wherever_it_is
                pages_emptied_by_unlikes_are_removed
                an_offset_gives_what_a_cursor_gives
                likes_of_one_moment_are_walked_once_over_every_seam
            ]
            interruptions common: [
                a_like_repeated_after_an_unknown_outcome_lands_once
                an_unlike_repeated_after_an_unknown_outcome_happens_once
                a_deleted_post_leaves_no_page_and_its_successor_is_sound
                an_unbounded_array_is_adopted
            ]
            account_deletion common: [
                leaving_removes_everything_a_person_made
                leaving_also_removes_what_was_done_meanwhile
            ]
            crowds common: [
                sixty_four_likers_at_once_are_all_counted_once
                clicks_of_the_same_people_at_once_count_once
                sixty_four_people_liking_and_unliking_at_once_leave_what_they_kept
                sixty_four_people_whose_writes_are_in_doubt_leave_what_they_kept
                a_walk_down_through_a_crowd_sees_once_what_stays
                a_walk_up_through_a_crowd_sees_once_what_stays
                an_unbounded_array_is_adopted_by_many_at_once
            ]
            inspection common: [a_chain_has_the_number_of_items_of_each_page]
            inspection corner: [the_byte_map_of_an_owner_adds_up_to_its_bson_size]
        }
    };
}

/// Makes a test of every case: `contract_tests!(make_engine)`.
#[macro_export]
macro_rules! contract_tests {
    ($make:expr) => {
        $crate::each_list_case!(contract_test_functions($make, store::contract));
    };
}
