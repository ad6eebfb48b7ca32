//! `cargo xtask exercise 7` checks `src/seven.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/seven.rs"]
mod answer;

use exercises::checks::seven as check;
#[cfg(feature = "mine")]
use exercises::seven as answer;

#[tokio::test]
async fn a_storm_does_not_outgrow_a_document() {
    check::a_storm_does_not_outgrow_a_document(answer::keep).await;
}

#[tokio::test]
async fn two_at_once_do_not_outgrow_a_document() {
    check::two_at_once_do_not_outgrow_a_document(answer::keep).await;
}
