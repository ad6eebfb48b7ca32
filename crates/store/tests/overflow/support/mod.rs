//! Shared support of the model check, the mutants and the simulation.

pub mod actor;
pub mod disordered;
#[expect(dead_code, reason = "the tests of departures use the rest")]
#[path = "../../support/early.rs"]
pub mod early;
pub mod flawed;
#[expect(dead_code, reason = "the tests of departures use the rest")]
pub mod flawed_feed;
pub mod late_writes;
#[path = "../../support/lists.rs"]
mod lists;
pub mod operations;
pub mod power;
pub mod scenarios;
pub mod steps;
pub mod town;

pub use lists::*;

/// Two tests for a scenario, which the function `scenario` beside knows by the name of the test.
macro_rules! with_new_and_old_reads {
    ($test:ident) => {
        mod $test {
            use super::scenario;

            #[tokio::test]
            async fn with_new_reads() {
                scenario(stringify!($test)).explore(&|engine| engine).await;
            }

            #[tokio::test(start_paused = true)]
            async fn with_an_old_read() {
                scenario(stringify!($test))
                    .explore_stale(&|engine| engine, true)
                    .await;
            }
        }
    };
}
pub(crate) use with_new_and_old_reads;
