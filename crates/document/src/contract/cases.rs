//! The list of all cases, and what can be done with it.

/// Hands all cases to another macro: by module, each marked as of common use or as a corner.
#[macro_export]
#[doc(hidden)]
macro_rules! each_contract_case {
    ($then:ident($($given:tt)*)) => {
        $crate::$then! {
            ($($given)*)
            documents common: [
                an_inserted_document_is_found_as_it_was
                an_insertion_stops_at_the_first_failure_and_keeps_the_documents_before
                delete_removes_one_or_all
                a_document_may_have_16_megabytes_and_no_more
                a_missing_collection_is_empty
                collections_are_listed_by_name
            ]
            filters common: [
                equality_is_by_value_or_by_element
                comparisons_stay_within_a_type
                sets_match_any_or_none
                presence_and_absence
                arrays_match_by_element_size_and_content
                logic_combines_filters
                paths_lead_through_documents_and_arrays
                expressions_compare_computed_values
            ]
            queries common: [
                results_are_sorted_skipped_and_limited
                sorting_orders_types_and_looks_into_arrays
                projections_keep_drop_slice_and_pick
                count_agrees_with_find
                distinct_lists_each_value_once
            ]
            updates common: [
                fields_are_set_and_unset
                numbers_are_incremented_and_bounded
                push_inserts_then_sorts_then_slices
                sets_take_each_value_once
                pulls_remove_by_value_test_or_filter
                an_update_counts_matches_and_real_changes
                an_update_of_many_changes_each
                an_update_may_not_pass_16_megabytes
            ]
            pipelines common: [
                set_computes_all_its_fields_from_the_document_as_it_was
                indexes_follow_a_pipeline_and_a_unique_one_refuses_it
                an_upsert_computes_from_the_equalities_of_its_filter
                a_document_near_the_wall_is_rearranged_in_one_write
            ]
            modify common: [
                find_and_modify_returns_the_version_asked_for_projected
                find_and_modify_takes_the_first_in_the_order
                an_upsert_inserts_once_and_then_updates
                an_upsert_needs_an_id
            ]
            indexes common: [
                a_unique_index_refuses_a_second_document_but_allows_repeats_within_one
                a_compound_unique_index_looks_at_all_its_fields
                an_index_over_part_of_a_collection_ignores_the_rest
                an_index_is_created_once_and_over_existing_documents
                an_index_never_changes_an_answer
            ]
            aggregation common: [
                documents_are_matched_sorted_and_cut
                documents_are_reshaped
                groups_accumulate
            ]
            concurrency common: [
                increments_by_many_tasks_all_count
                a_guarded_push_lets_one_of_many_tasks_through
                upserts_by_many_tasks_insert_once
            ]
            changes common: [
                every_change_is_reported_once_it_can_be_read
                writes_without_effect_or_elsewhere_are_not_reported
                changes_are_refused_exactly_if_they_are_not_declared
            ]
            documents corner: [
                a_document_needs_an_id_of_a_usable_type
                an_id_contains_no_operator_names
            ]
            filters corner: [
                invalid_expressions_are_refused
                malformed_filters_are_refused
                a_position_at_the_end_of_a_path_names_one_value
                elements_that_are_arrays_match_by_their_positions
                regular_expressions_search_strings
                invalid_regular_expressions_are_refused
            ]
            queries corner: [distinct_enters_the_elements_of_arrays]
            updates corner: [
                invalid_updates_are_refused_and_change_nothing
                pulls_look_into_arrays_within_arrays
                elements_are_named_by_filters
                invalid_element_paths_and_filters_are_refused
            ]
            modify corner: [an_upsert_takes_every_equality_of_its_filter]
            pipelines corner: [
                nested_documents_in_set_merge_and_enter_every_element_of_an_array
                unset_and_project_keep_and_drop_fields
                an_invalid_pipeline_is_refused_and_changes_nothing
            ]
            indexes corner: [
                parallel_arrays_cannot_be_indexed
                the_index_on_ids_exists_already
                an_index_over_arrays_never_changes_what_a_range_finds
            ]
            aggregation corner: [
                buckets_group_by_ranges
                automatic_buckets_are_about_equally_full
                arrays_are_unwound
                counts_and_sizes_are_computed
                invalid_pipelines_are_refused
                variables_are_bound
            ]
            sampling corner: [
                a_sample_has_documents_of_the_collection
                invalid_samples_are_refused
            ]
            documents common: [decimals_are_kept_or_refused]
        }
    };
}

/// Makes a test of every case of the contract: `contract_tests!(make_engine)`.
#[macro_export]
macro_rules! contract_tests {
    ($make:expr) => {
        $crate::each_contract_case!(contract_test_functions($make, document::contract));
    };
}

/// A test function for every case, which is in the module `$cases::$contract`.
#[macro_export]
#[doc(hidden)]
macro_rules! contract_test_functions {
    (($make:expr, $cases:ident::$contract:ident) $($module:ident $use:ident: [$($case:ident)*])*) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let engine: $crate::Engine = $make().await;
                $cases::$contract::$module::$case(&engine).await;
            }
        )*)*
    };
}

/// Runs every case in turn, even after one has failed. Returns those that failed; their messages are in the output.
#[macro_export]
#[doc(hidden)]
macro_rules! run_contract_cases {
    (($make:ident) $($module:ident $use:ident: [$($case:ident)*])*) => {{
        let mut failed = Vec::new();
        $($(
            let engine = $make().await;
            if $crate::contract::AssertUnwindSafe($module::$case(&engine)).catch_unwind().await.is_err() {
                failed.push($crate::contract::Failure {
                    case: concat!(stringify!($module), "::", stringify!($case)),
                    corner: stringify!($use) == "corner",
                });
            }
        )*)*
        failed
    }};
}
