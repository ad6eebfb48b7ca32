//! The times of events: by day rather than by night, and soon after their cause rather than late.

use model::Timestamp;

use super::dice::Dice;

pub(super) const SECOND: i64 = 1000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// How likely people read their feed in each hour of the day, in percent of the busiest. The town lives in UTC.
const AWAKE: [u64; 24] = [
    7, 4, 3, 3, 5, 14, 34, 62, 70, 52, 48, 50, 66, 58, 45, 46, 54, 66, 78, 92, 100, 84, 48, 20,
];

/// How many times to consider before accepting an unusual one.
const TRIES: usize = 48;

/// The part of the day that a text mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Daypart {
    from: i64,
    until: i64,
}

impl Daypart {
    const MORNING: Self = Self { from: 6, until: 11 };
    const EVENING: Self = Self { from: 19, until: 23 };

    /// The part of the day in which a text says it was written, if any.
    pub(super) fn of(text: &str) -> Option<Self> {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&[
            "this morning",
            "First morning",
            "First crossing today",
            "off to work",
            "Missed the 7:40",
        ]) {
            Some(Self::MORNING)
        } else if says(&["onight", "this evening", "Good night", "First evening"]) {
            Some(Self::EVENING)
        } else {
            None
        }
    }

    fn covers(self, at: i64) -> bool {
        (self.from..self.until).contains(&hour(at))
    }
}

/// A time after `from` and before `until`, with the rhythm of the day.
pub(super) fn sometime(dice: &mut Dice, from: Timestamp, until: Timestamp) -> Timestamp {
    settle(dice, from, until, Dice::below)
}

/// Like [`sometime`], in some part of the day.
pub(super) fn during(dice: &mut Dice, part: Option<Daypart>, from: Timestamp, until: Timestamp) -> Timestamp {
    let mut at = sometime(dice, from, until);
    for _ in 0..TRIES {
        if part.is_none_or(|part| part.covers(at.millis())) {
            break;
        }
        at = sometime(dice, from, until);
    }
    at
}

/// A time after `from` and before `until`: half of them sooner than `median` later, fewer and fewer after that.
pub(super) fn soon_after(dice: &mut Dice, from: Timestamp, until: Timestamp, median: i64) -> Timestamp {
    settle(dice, from, until, |dice, _| dice.wait(median).unsigned_abs())
}

/// A time in a wave that builds up before it fades: the later of two.
pub(super) fn in_wave(dice: &mut Dice, from: Timestamp, until: Timestamp, median: i64) -> Timestamp {
    settle(dice, from, until, |dice, _| {
        dice.wait(median).max(dice.wait(median)).unsigned_abs()
    })
}

/// This time of day, this many days before `now`.
pub(super) fn days_before(now: Timestamp, days: i64, time_of_day: i64) -> Timestamp {
    let midnight = now.millis().div_euclid(DAY) * DAY;
    Timestamp::from_millis(midnight - days * DAY + time_of_day)
}

/// This much later.
pub(super) fn later(at: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(at.millis() + millis)
}

fn hour(at: i64) -> i64 {
    at.rem_euclid(DAY) / HOUR
}

/// Draws delays until one falls into the span and an hour in which people are probably awake. The last resort is
/// uniform.
fn settle(
    dice: &mut Dice,
    from: Timestamp,
    until: Timestamp,
    delay: impl Fn(&mut Dice, u64) -> u64,
) -> Timestamp {
    let span = u64::try_from(until.millis() - from.millis() - 1).unwrap_or_default();
    for _ in 0..TRIES {
        let after = delay(dice, span);
        let at = from.millis() + 1 + i64::try_from(after.min(span)).unwrap_or_default();
        let awake = usize::try_from(hour(at)).map_or(0, |hour| AWAKE[hour]);
        if after < span && dice.percent(awake) {
            return Timestamp::from_millis(at);
        }
    }
    later(from, 1 + i64::try_from(dice.below(span)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::town::dice::Stream;

    const FROM: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    #[test]
    fn every_moment_lies_strictly_between_its_bounds() {
        let mut dice = Dice::new(1, Stream::Crowd);
        for span in [2, 3, 1000, 40 * DAY] {
            let until = later(FROM, span);
            for _ in 0..500 {
                for at in [
                    sometime(&mut dice, FROM, until),
                    soon_after(&mut dice, FROM, until, HOUR),
                    in_wave(&mut dice, FROM, until, HOUR),
                ] {
                    assert!(FROM < at && at < until, "{at}");
                }
            }
        }
    }

    #[test]
    fn evenings_are_busier_than_nights() {
        let mut dice = Dice::new(1, Stream::Crowd);
        let mut hours = [0; 24];
        for _ in 0..20_000 {
            let at = sometime(&mut dice, FROM, later(FROM, 30 * DAY));
            hours[usize::try_from(hour(at.millis())).unwrap()] += 1;
        }
        assert!(hours[20] > 10 * hours[2], "{hours:?}");
    }

    #[test]
    fn a_post_about_this_morning_is_written_in_the_morning() {
        let part = Daypart::of("Fog so thick this morning that I said hello to a post.");
        assert_eq!(part, Some(Daypart::MORNING));
        let mut dice = Dice::new(1, Stream::Posts);
        for _ in 0..200 {
            let at = during(&mut dice, part, FROM, later(FROM, 30 * DAY));
            assert!((6..11).contains(&hour(at.millis())), "{at}");
        }
    }
}
