//! Writes that are not journaled although they should be: what a power failure then takes with it.

use std::fmt::Debug;

use checker::disk::Moment;

/// The role of a write's journaling for acknowledged operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// It is journaled, and without that something acknowledged is lost.
    Needed,
    /// It is journaled, but nothing is lost without that; with the reason.
    Spared(&'static str),
    /// The protocol does not journal it; with the reason.
    Unjournaled(&'static str),
}

/// Whether something acknowledged is lost, or something is broken, when the power fails while a write is late.
pub async fn breaks<K: Clone + Debug, F: Future<Output = ()> + Send + 'static>(
    moments: Vec<Moment<K>>,
    look: impl Fn(Vec<u8>, K) -> F,
) -> bool {
    let behind: Vec<_> = moments.into_iter().filter(|moment| moment.is_behind).collect();
    assert!(!behind.is_empty(), "the write was never late");
    for moment in behind {
        let image = moment.after_power_failure(1);
        if tokio::spawn(look(image, moment.known)).await.is_err() {
            return true;
        }
    }
    false
}

/// Each write of a table, and whether the protocol journals it.
pub fn journaled<S: Copy + Ord>(writes: &[(S, Fate)]) -> Vec<(S, bool)> {
    let mut table: Vec<_> = writes
        .iter()
        .map(|(step, fate)| (*step, !matches!(fate, Fate::Unjournaled(_))))
        .collect();
    table.sort_unstable();
    table
}

/// A test for each write, by `dies` of the place that lists them, and all of them as a table.
macro_rules! writes {
    ($of:ty; $($test:ident: $step:ident, $fate:expr;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                assert_eq!(dies($step).await, $fate == Needed, "{:?}: {:?}", $step, $fate);
            }
        )*

        const WRITES: &[($of, Fate)] = &[$(($step, $fate)),*];
    };
}
pub(crate) use writes;
