//! `cargo xtask exercise 2` checks `src/two.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/two.rs"]
mod answer;

use exercises::checks::two as check;
#[cfg(feature = "mine")]
use exercises::two as answer;

#[tokio::test]
async fn two_writers_never_overfill_a_head() {
    check::two_writers_never_overfill_a_head(answer::append).await;
}
