//! How far a model check goes.

/// How far the enumeration goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// How often a run may switch away from an operation that could go on. Unbounded when large.
    pub switches: usize,
    /// How many crashes, lost answers or lost calls a run may have.
    pub faults: usize,
}

/// Bounds.
pub const fn within(switches: usize, faults: usize) -> Bounds {
    Bounds { switches, faults }
}

/// Wider bounds than those of a test, which find every fault found so far. `SPILLWAY_MODEL_SWITCHES=9` enumerates
/// everything, and `SPILLWAY_MODEL_FAULTS=2` adds two crashes or lost answers.
pub fn least() -> Bounds {
    let number = |variable: &str| std::env::var(variable).map_or(0, |number| number.parse().unwrap());
    Bounds {
        switches: number("SPILLWAY_MODEL_SWITCHES"),
        faults: number("SPILLWAY_MODEL_FAULTS"),
    }
}

impl Bounds {
    /// These, or the others where they are wider.
    #[must_use]
    pub fn at_least(self, least: Self) -> Self {
        Self {
            switches: self.switches.max(least.switches),
            faults: self.faults.max(least.faults),
        }
    }
}
