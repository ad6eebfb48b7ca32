//! `cargo xtask exercise 5` checks `src/five.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/five.rs"]
mod answer;

use exercises::checks::five as check;
#[cfg(feature = "mine")]
use exercises::five as answer;

#[tokio::test]
async fn only_what_is_missing_is_read() {
    check::only_what_is_missing_is_read(answer::newest).await;
}
