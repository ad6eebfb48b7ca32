//! `cargo xtask exercise 4` checks `src/four.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/four.rs"]
mod answer;

use exercises::checks::four as check;
#[cfg(feature = "mine")]
use exercises::four as answer;

#[tokio::test]
async fn a_second_try_changes_nothing() {
    check::a_second_try_changes_nothing(answer::append).await;
}

#[tokio::test]
async fn two_concurrent_tries_append_once() {
    check::two_concurrent_tries_append_once(answer::append).await;
}
