use std::fmt;

use model::Problem;

/// Whose code runs: the article's or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// S1's `addActivity`: look at the count, then push.
    CheckThenAct,
    /// S0's `addActivitySafe`: push under a guard on the count, else into an overflow document.
    GuardedAppend,
    /// S3's `addFollower`: look how long the array is, then push to it or to a batch, and count afterwards.
    AddFollower,
    /// Ours: [`store::overflow`].
    Ours,
}

impl Protocol {
    /// All of them, in the order in which they are taught.
    pub const ALL: [Self; 4] = [
        Self::CheckThenAct,
        Self::GuardedAppend,
        Self::AddFollower,
        Self::Ours,
    ];

    /// The name, as it stands in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CheckThenAct => "check-then-act",
            Self::GuardedAppend => "guarded-append",
            Self::AddFollower => "add-follower",
            Self::Ours => "ours",
        }
    }

    /// The name, as a person reads it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::CheckThenAct => "Check, then act",
            Self::GuardedAppend => "Guarded append",
            Self::AddFollower => "Add a follower",
            Self::Ours => "Head and pages",
        }
    }

    /// Where the code is from.
    pub const fn source(self) -> &'static str {
        match self {
            Self::CheckThenAct => "addActivity, from “Unbounded Growth: The Outlier Pattern”",
            Self::GuardedAppend => {
                "addActivitySafe, from “Implementing the Outlier Pattern with Safe Overflow”"
            }
            Self::AddFollower => "addFollower, from “How to Create MongoDB Outlier Patterns”",
            Self::Ours => "OverflowList::append, as this feed runs it",
        }
    }

    /// The protocol of this name.
    ///
    /// # Errors
    /// A problem with the field `layout` that lists the names there are.
    pub fn named(name: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.as_str() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Problem::invalid(
                "layout",
                format!("There is no layout called “{name}”. `layout` is one of: {names}."),
            )
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
