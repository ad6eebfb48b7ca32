//! `cargo xtask exercise 6` checks `src/six.rs`; without the feature `mine`, it is the solution.

#[cfg(not(feature = "mine"))]
#[path = "../solutions/six.rs"]
mod answer;

use exercises::checks::six as check;
#[cfg(feature = "mine")]
use exercises::six as answer;

#[tokio::test]
async fn nothing_is_lost_while_others_write() {
    check::nothing_is_lost_while_others_write(exercises::six::append, answer::migrate).await;
}

#[tokio::test]
async fn a_migration_may_be_interrupted() {
    check::a_migration_may_be_interrupted(answer::migrate).await;
}
