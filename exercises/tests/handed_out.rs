//! As they are handed out, no exercise passes its check.

#![cfg(not(feature = "mine"))]

use std::panic::AssertUnwindSafe;

use exercises::checks;
use futures::FutureExt as _;

async fn is_found_out(exercise: &str, check: impl Future<Output = ()>) {
    let found = AssertUnwindSafe(check).catch_unwind().await;
    assert!(
        found.is_err(),
        "exercise {exercise} is solved in exercises/src; to hand it out again, take the file from the repository"
    );
}

#[tokio::test]
async fn exercise_one_waits_for_an_answer() {
    is_found_out(
        "one",
        checks::one::no_document_outgrows_its_bound(exercises::one::append),
    )
    .await;
}

#[tokio::test]
async fn exercise_two_waits_for_an_answer() {
    is_found_out(
        "two",
        checks::two::two_writers_never_overfill_a_head(exercises::two::append),
    )
    .await;
}

#[tokio::test]
async fn exercise_three_waits_for_an_answer() {
    is_found_out(
        "three",
        checks::three::a_crash_loses_and_doubles_nothing(exercises::three::spill),
    )
    .await;
}

#[tokio::test]
async fn exercise_four_waits_for_an_answer() {
    is_found_out(
        "four",
        checks::four::a_second_try_changes_nothing(exercises::four::append),
    )
    .await;
}

#[tokio::test]
async fn exercise_five_waits_for_an_answer() {
    is_found_out(
        "five",
        checks::five::only_what_is_missing_is_read(exercises::five::newest),
    )
    .await;
}

#[tokio::test]
async fn exercise_six_waits_for_an_answer() {
    is_found_out(
        "six",
        checks::six::nothing_is_lost_while_others_write(exercises::six::append, exercises::six::migrate),
    )
    .await;
}

#[tokio::test]
async fn exercise_seven_waits_for_an_answer() {
    is_found_out(
        "seven",
        checks::seven::a_storm_does_not_outgrow_a_document(exercises::seven::keep),
    )
    .await;
}

#[tokio::test]
async fn exercise_eight_waits_for_an_answer() {
    is_found_out(
        "eight",
        checks::eight::the_balance_is_the_sum_after_every_crash(exercises::eight::book),
    )
    .await;
}
