//! `cargo xtask exercise 8` checks `src/eight.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/eight.rs"]
mod answer;

use exercises::checks::eight as check;
#[cfg(feature = "mine")]
use exercises::eight as answer;

#[tokio::test]
async fn the_balance_is_the_sum_after_every_crash() {
    check::the_balance_is_the_sum_after_every_crash(answer::book).await;
}

#[tokio::test]
async fn one_number_is_booked_once() {
    check::one_number_is_booked_once(answer::book).await;
}
