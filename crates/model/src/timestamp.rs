use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::Problem;

/// The first and last moments that RFC 3339 can write: 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

/// A moment in UTC, in whole milliseconds since 1970, the precision of a BSON date. Written as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime, examples("2026-03-01T12:00:00.123Z")))]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment this many milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The date and time to the minute, as in "2026-05-01 09:30 UTC".
    pub fn exact(self) -> String {
        let iso = self.to_string();
        let (date, time) = (iso.get(..10), iso.get(11..16));
        format!("{} {} UTC", date.unwrap_or_default(), time.unwrap_or_default())
    }

    /// The date and time to the minute in the form of RFC 3339 that HTML accepts, as in "2026-05-01T09:30Z".
    pub fn to_the_minute(self) -> String {
        let iso = self.to_string();
        format!("{}Z", iso.get(..16).unwrap_or_default())
    }

    /// How long ago this was at `now`, in words: "now", "5m ago", "3h ago", "2d ago", then the date.
    pub fn ago(self, now: Self) -> String {
        let seconds = now.0.saturating_sub(self.0).max(0) / 1000;
        match seconds {
            0..60 => "now".to_owned(),
            60..3600 => format!("{}m ago", seconds / 60),
            3600..86_400 => format!("{}h ago", seconds / 3600),
            86_400..604_800 => format!("{}d ago", seconds / 86_400),
            _ => self.date(now),
        }
    }

    /// The date, as in "13 Nov"; with the year if it is not the year of `now`.
    pub fn date(self, now: Self) -> String {
        let iso = self.to_string();
        let (year, month, day) = (iso.get(..4), iso.get(5..7), iso.get(8..10));
        let month = month.and_then(|month| MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?));
        let (Some(year), Some(month), Some(day)) = (year, month, day) else {
            return iso;
        };
        let day = day.trim_start_matches('0');
        if now.to_string().starts_with(year) {
            format!("{day} {month}")
        } else {
            format!("{day} {month} {year}")
        }
    }
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Writes the time as RFC 3339, which has the years 0 to 9999; a time beyond them is written as the nearest.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.0.clamp(FIRST, LAST);
        let (seconds, millis) = (written.div_euclid(1000), written.rem_euclid(1000));
        let text = OffsetDateTime::from_unix_timestamp(seconds)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok())
            .ok_or(fmt::Error)?;
        // Always three digits, so that sorting the texts sorts the moments.
        write!(f, "{}.{millis:03}Z", text.trim_end_matches('Z'))
    }
}

impl FromStr for Timestamp {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let moment = OffsetDateTime::parse(input, &Rfc3339)
            .map_err(|_| Problem::invalid("at", "A time is written like 2026-03-01T12:00:00Z (RFC 3339)."))?;
        i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000))
            .map(Self)
            .map_err(|_| Problem::invalid("at", "That time is out of range."))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_and_read_as_rfc_3339() {
        let at = Timestamp::from_millis(1_772_366_400_123);
        assert_eq!(at.to_string(), "2026-03-01T12:00:00.123Z");
        assert_eq!(at.to_string().parse::<Timestamp>().unwrap(), at);
        assert_eq!(at.exact(), "2026-03-01 12:00 UTC");
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(60).to_string(), "1970-01-01T00:00:00.060Z");
    }

    #[test]
    fn a_moment_that_no_date_can_say_is_written_as_the_nearest() {
        let written = |millis| Timestamp::from_millis(millis).to_string();
        assert_eq!(written(i64::MAX), "9999-12-31T23:59:59.999Z");
        assert_eq!(written(LAST + 1), "9999-12-31T23:59:59.999Z");
        assert_eq!(written(i64::MIN), "0000-01-01T00:00:00.000Z");
        let (first, last) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        assert_eq!(
            (first.ago(last), last.ago(first)),
            ("1 Jan 0000".to_owned(), "now".to_owned())
        );
        assert_eq!(last.exact(), "9999-12-31 23:59 UTC");
    }

    #[test]
    fn tells_its_age_the_way_people_do() {
        let at = Timestamp::from_millis(1_772_366_400_000);
        let after = |seconds: i64| at.ago(Timestamp::from_millis(at.millis() + seconds * 1000));
        assert_eq!(
            [
                after(-5),
                after(59),
                after(3599),
                after(86_399),
                after(604_799),
                after(604_800)
            ],
            ["now", "now", "59m ago", "23h ago", "6d ago", "1 Mar"]
        );
    }

    #[test]
    fn a_date_has_its_year_when_it_is_another_one() {
        let date = |at: &str, now: &str| {
            let moment = |text: &str| text.parse::<Timestamp>().unwrap();
            moment(at).date(moment(now))
        };
        assert_eq!(date("2026-11-13T23:59:59Z", "2026-12-31T23:59:59Z"), "13 Nov");
        assert_eq!(
            date("2025-11-13T00:00:00Z", "2026-01-01T00:00:00Z"),
            "13 Nov 2025"
        );
        assert_eq!(date("2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z"), "1 Jan 2026");
    }
}
