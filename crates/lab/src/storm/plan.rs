use std::time::Duration;

use model::StormChoice;

/// What an actor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// This one likes.
    Like(u32),
    /// This one takes the like back.
    TakeBack(u32),
}

/// When the `nth` deed is due, from the beginning.
pub(super) fn due(choice: &StormChoice, nth: u64) -> Duration {
    Duration::from_micros(nth * 1_000_000 / u64::from(choice.rate.max(1)))
}

/// What happens as the `nth` deed: the share that is taken back is spread evenly, each from one of those who were to like
/// before, picked here and there.
pub(super) fn deed(choice: &StormChoice, nth: u64) -> Deed {
    let actors = u64::from(choice.actors.max(1));
    let taken_back = |nth: u64| nth * u64::from(choice.take_back) / 100;
    let liked = nth - taken_back(nth);
    let one_of = |number: u64, many: u64| u32::try_from(number % many).unwrap_or_default();
    if taken_back(nth + 1) > taken_back(nth) && liked > 0 {
        Deed::TakeBack(one_of(scattered(nth), actors.min(liked)))
    } else {
        Deed::Like(one_of(liked, actors))
    }
}

/// A number that looks like chance and is always the same (the last step of `SplitMix64`).
fn scattered(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn deeds(actors: u32, take_back: u32) -> Vec<Deed> {
        let choice = StormChoice {
            actors,
            take_back,
            rate: 100,
            seconds: 10,
            ..StormChoice::default()
        };
        (0..choice.due()).map(|nth| deed(&choice, nth)).collect()
    }

    #[test]
    fn everybody_likes_once_before_anybody_likes_again() {
        let all = deeds(400, 0);
        let first: BTreeSet<_> = all[..400].iter().map(|deed| format!("{deed:?}")).collect();
        assert_eq!(first.len(), 400);
        assert_eq!(all[400], Deed::Like(0));
    }

    #[test]
    fn the_share_that_was_chosen_is_taken_back_from_those_who_were_to_like() {
        let all = deeds(1_000, 20);
        let mut liked = BTreeSet::new();
        let mut taken_back = 0;
        for deed in all {
            match deed {
                Deed::Like(actor) => drop(liked.insert(actor)),
                Deed::TakeBack(actor) => {
                    taken_back += 1;
                    assert!(liked.contains(&actor), "{actor} takes back what was never given");
                }
            }
        }
        assert_eq!(taken_back, 200);
    }

    #[test]
    fn deeds_are_due_evenly() {
        let choice = StormChoice {
            rate: 250,
            ..StormChoice::default()
        };
        assert_eq!(due(&choice, 1), Duration::from_millis(4));
        assert_eq!(due(&choice, 250), Duration::from_secs(1));
    }
}
