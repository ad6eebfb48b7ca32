//! A storm of the workshop: many actors like one list at once, and the list is reported second by second.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use model::{Handle, Problem, Timestamp};
use serde::{Deserialize, Serialize};

/// The target of a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub enum StormTarget {
    /// A post with a dozen likes.
    Quiet,
    /// A post a few likes below its threshold.
    Brink,
    /// A post with as many likes as the town's most liked has.
    Viral,
    /// Somebody with as many followers as the town's most followed has.
    Celebrity,
}

/// What somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct StormChoice {
    /// The target of the storm.
    pub target: StormTarget,
    /// How many people take part; once each of them has liked, they start again.
    pub actors: u32,
    /// How many likes are due a second.
    pub rate: u32,
    /// How many may be under way at once.
    pub at_once: u32,
    /// For how long likes are due.
    pub seconds: u32,
    /// The percentage of actions that remove a like instead of adding one.
    pub take_back: u32,
}

/// The progress of a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub enum StormPhase {
    /// The list is being laid out.
    Preparing,
    /// Likes are sent.
    Running,
    /// All documents are read and counted.
    Checking,
    /// There is a verdict.
    Over,
    /// The store failed, so that there is none.
    Failed,
}

/// What happened in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct StormSecond {
    /// Its number, from 1.
    pub second: u32,
    /// How many likes were answered in it, including removals.
    pub answered: u64,
    /// Half of them were answered within this many microseconds after they were due.
    pub p50: u64,
    /// The same for 99 of 100.
    pub p99: u64,
    /// How many items the head held at its end.
    pub head: u64,
    /// How many pages there were.
    pub pages: u64,
    /// The owner document's size, in bytes of BSON.
    pub owner_bytes: u64,
    /// For each like that was added, the bytes of the owner documents that were pushed into: an engine writes a document
    /// whole. Indexes, pages and journals are not among them.
    pub bytes_per_like: u64,
}

/// How full the head was at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct HeadSample {
    /// When, in milliseconds since the first like was due.
    pub at: u64,
    /// How many items it held.
    pub items: u64,
}

/// What the documents say afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct StormVerdict {
    /// How many must be in the list: those from before, and those whose last answer confirms it.
    pub acknowledged: u64,
    /// The owner's count.
    pub counted: u64,
    /// How many different people are found by reading all of it.
    pub distinct: u64,
    /// How many of those who must be in it are not found.
    pub lost: u64,
    /// How many unexpected people are found.
    pub strangers: u64,
    /// How many got no clear answer; they may be in the list or not.
    pub unknown: u64,
    /// How many violations `check` finds.
    pub violations: u64,
    /// Whether all of it agrees.
    pub holds: bool,
}

/// A storm, while it runs and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct Storm {
    /// What was chosen.
    pub choice: StormChoice,
    /// Who started it.
    pub by: Handle,
    /// When.
    pub at: Timestamp,
    /// Its progress.
    pub phase: StormPhase,
    /// Whether somebody stopped it.
    pub stopped: bool,
    /// How many items were laid out before it began.
    pub laid_out: u64,
    /// How many the head may hold.
    pub threshold: u64,
    /// How many likes will have been due in the end.
    pub due: u64,
    /// How many were answered.
    pub answered: u64,
    /// How many failed.
    pub failed: u64,
    /// How long it has run, in milliseconds.
    pub elapsed: u64,
    /// How many likes a second were answered.
    pub reached: u64,
    /// Half of all were answered within this many microseconds after they were due.
    pub p50: u64,
    /// The same for 99 of 100.
    pub p99: u64,
    /// Second by second.
    pub seconds: Vec<StormSecond>,
    /// The head, so often that each spill shows: some hundred times.
    pub heads: Vec<HeadSample>,
    /// The verdict from the documents at the end.
    pub verdict: Option<StormVerdict>,
}

impl Storm {
    /// One that is about to lay out its list.
    pub fn begun(choice: StormChoice, by: Handle, at: Timestamp) -> Self {
        Self {
            choice,
            by,
            at,
            phase: StormPhase::Preparing,
            stopped: false,
            laid_out: 0,
            threshold: 0,
            due: choice.due(),
            answered: 0,
            failed: 0,
            elapsed: 0,
            reached: 0,
            p50: 0,
            p99: 0,
            seconds: Vec::new(),
            heads: Vec::new(),
            verdict: None,
        }
    }
}

impl StormTarget {
    /// All of them, the calmest first.
    pub const ALL: [Self; 4] = [Self::Quiet, Self::Brink, Self::Viral, Self::Celebrity];

    /// The name in requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Brink => "brink",
            Self::Viral => "viral",
            Self::Celebrity => "celebrity",
        }
    }
}

impl fmt::Display for StormTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StormTarget {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        let known = Self::ALL.into_iter().find(|target| target.as_str() == name);
        known.ok_or_else(|| {
            Problem::invalid(
                "target",
                "The target of a storm is `quiet`, `brink`, `viral` or `celebrity`.",
            )
        })
    }
}

impl StormChoice {
    /// How many actors there may be.
    pub const ACTORS: RangeInclusive<u32> = 1..=50_000;
    /// How many likes may be due a second.
    pub const RATE: RangeInclusive<u32> = 1..=2_000;
    /// How many may be under way at once.
    pub const AT_ONCE: RangeInclusive<u32> = 1..=64;
    /// How many seconds it may last.
    pub const SECONDS: RangeInclusive<u32> = 1..=60;
    /// How many of a hundred may be taken back.
    pub const TAKE_BACK: RangeInclusive<u32> = 0..=50;

    /// Checks the choice: a laptop must stay usable with it. The first number that is out of bounds is refused by
    /// name.
    pub fn checked(self) -> Result<Self, Problem> {
        for (field, words, value, bounds) in [
            ("actors", "The number of actors", self.actors, Self::ACTORS),
            ("rate", "The number of likes a second", self.rate, Self::RATE),
            (
                "at_once",
                "The number of likes at once",
                self.at_once,
                Self::AT_ONCE,
            ),
            ("seconds", "The number of seconds", self.seconds, Self::SECONDS),
            (
                "take_back",
                "The percentage of removed likes",
                self.take_back,
                Self::TAKE_BACK,
            ),
        ] {
            if !bounds.contains(&value) {
                let (least, most) = (bounds.start(), bounds.end());
                let message = format!("{words} is between {least} and {most}; this one is {value}.");
                return Err(Problem::invalid(field, message));
            }
        }
        Ok(self)
    }

    /// How many likes will be due in total.
    pub fn due(&self) -> u64 {
        u64::from(self.rate) * u64::from(self.seconds)
    }
}

impl Default for StormChoice {
    /// The default for a class: a head that fills up and spills.
    fn default() -> Self {
        Self {
            target: StormTarget::Brink,
            actors: 10_000,
            rate: 200,
            at_once: 16,
            seconds: 10,
            take_back: 0,
        }
    }
}

impl StormPhase {
    /// Whether likes are still to be sent, so that it can be stopped.
    pub fn is_sending(self) -> bool {
        matches!(self, Self::Preparing | Self::Running)
    }

    /// Whether nothing will change any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Over | Self::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_beyond_what_a_laptop_bears_is_refused_by_the_name_of_the_field() {
        assert!(StormChoice::default().checked().is_ok());
        let too_much = [
            (
                StormChoice {
                    actors: 0,
                    ..StormChoice::default()
                },
                "actors",
            ),
            (
                StormChoice {
                    rate: 2_001,
                    ..StormChoice::default()
                },
                "rate",
            ),
            (
                StormChoice {
                    at_once: 65,
                    ..StormChoice::default()
                },
                "at_once",
            ),
            (
                StormChoice {
                    seconds: 61,
                    ..StormChoice::default()
                },
                "seconds",
            ),
            (
                StormChoice {
                    take_back: 51,
                    ..StormChoice::default()
                },
                "take_back",
            ),
        ];
        for (choice, field) in too_much {
            let problem = choice.checked().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some(field), "{problem}");
        }
    }

    #[test]
    fn targets_are_read_as_they_are_written() {
        for target in StormTarget::ALL {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert!("town".parse::<StormTarget>().is_err());
    }
}
