use std::fmt;

use model::Problem;

use crate::one_of;

/// The protocol that runs: an article's or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// S1's `addActivity`: reads the count, then pushes.
    CheckThenAct,
    /// S0's `addActivitySafe`: pushes under a guard on the count, else into an overflow document.
    GuardedAppend,
    /// S3's `addFollower`: reads the array's length, then pushes to it or to a batch, and updates the count
    /// afterwards.
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

    /// The name used in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CheckThenAct => "check-then-act",
            Self::GuardedAppend => "guarded-append",
            Self::AddFollower => "add-follower",
            Self::Ours => "ours",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::CheckThenAct => "Check, then act",
            Self::GuardedAppend => "Guarded append",
            Self::AddFollower => "Add a follower",
            Self::Ours => "Head and pages",
        }
    }

    /// The source of the code.
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

    /// The protocol with this name.
    ///
    /// # Errors
    /// A problem with the field `layout` that lists the known names.
    pub fn named(name: &str) -> Result<Self, Problem> {
        let missing = format_args!("There is no layout called “{name}”");
        one_of("layout", name, (&Self::ALL, Self::as_str), missing)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
