//! `cargo xtask exercise 1` checks `src/one.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/one.rs"]
mod answer;

use exercises::checks::one as check;
#[cfg(feature = "mine")]
use exercises::one as answer;

#[tokio::test]
async fn no_document_outgrows_its_bound() {
    check::no_document_outgrows_its_bound(answer::append).await;
}

#[tokio::test]
async fn the_newest_are_in_the_head() {
    check::the_newest_are_in_the_head(answer::append).await;
}
