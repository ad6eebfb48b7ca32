use std::time::Duration;

use crate::report::StormChoice;

/// An action of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// This actor likes.
    Like(u32),
    /// This actor removes the like.
    Unlike(u32),
}

/// When the `nth` action is due, from the beginning.
pub(super) fn due(choice: &StormChoice, nth: u64) -> Duration {
    Duration::from_micros(nth * 1_000_000 / u64::from(choice.rate.max(1)))
}

/// The `nth` action: the removals are spread evenly, each by an actor who was to like before, picked in a
/// scattered order.
pub(super) fn action(choice: &StormChoice, nth: u64) -> Action {
    let actors = u64::from(choice.actors.max(1));
    let taken_back = |nth: u64| nth * u64::from(choice.take_back) / 100;
    let liked = nth - taken_back(nth);
    let one_of = |number: u64, many: u64| u32::try_from(number % many).unwrap_or_default();
    if taken_back(nth + 1) > taken_back(nth) && liked > 0 {
        Action::Unlike(one_of(scattered(nth), actors.min(liked)))
    } else {
        Action::Like(one_of(liked, actors))
    }
}

/// A pseudo-random number that is always the same (the last step of `SplitMix64`).
fn scattered(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn actions(actors: u32, take_back: u32) -> Vec<Action> {
        let choice = StormChoice {
            actors,
            take_back,
            rate: 100,
            seconds: 10,
            ..StormChoice::default()
        };
        (0..choice.due()).map(|nth| action(&choice, nth)).collect()
    }

    #[test]
    fn everybody_likes_once_before_anybody_likes_again() {
        let all = actions(400, 0);
        let first: BTreeSet<_> = all[..400].iter().map(|action| format!("{action:?}")).collect();
        assert_eq!(first.len(), 400);
        assert_eq!(all[400], Action::Like(0));
    }

    #[test]
    fn the_share_that_was_chosen_is_taken_back_from_those_who_were_to_like() {
        let all = actions(1_000, 20);
        let mut liked = BTreeSet::new();
        let mut taken_back = 0;
        for action in all {
            match action {
                Action::Like(actor) => drop(liked.insert(actor)),
                Action::Unlike(actor) => {
                    taken_back += 1;
                    assert!(liked.contains(&actor), "{actor} takes back what was never given");
                }
            }
        }
        assert_eq!(taken_back, 200);
    }

    #[test]
    fn actions_are_due_evenly() {
        let choice = StormChoice {
            rate: 250,
            ..StormChoice::default()
        };
        assert_eq!(due(&choice, 1), Duration::from_millis(4));
        assert_eq!(due(&choice, 250), Duration::from_secs(1));
    }
}
