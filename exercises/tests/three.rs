//! `cargo xtask exercise 3` checks `src/three.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/three.rs"]
mod answer;

use exercises::checks::three as check;
#[cfg(feature = "mine")]
use exercises::three as answer;

#[tokio::test]
async fn a_crash_loses_and_doubles_nothing() {
    check::a_crash_loses_and_doubles_nothing(answer::spill).await;
}

#[tokio::test]
async fn two_that_spill_move_the_items_once() {
    check::two_that_spill_move_the_items_once(answer::spill).await;
}
