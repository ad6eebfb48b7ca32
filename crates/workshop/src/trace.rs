//! The cost of reading a list, step by step.

use std::fmt;
use std::str::FromStr;

use document::trace::{Read, reads};
use feed::to_problem;
use model::{Cursor, Handle, Problem, Relation, Topic, View};
use store::Store;
use store::inspect::InspectedOwner;
use store::overflow::Stretch;

/// How many items a step shows: as many as the pages of likes and followers.
const ITEMS: usize = 50;

/// Which part of a list a reader goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the newest items.
    First,
    /// To the items after the last step.
    Next,
    /// To the oldest items; the next step then continues towards newer ones.
    Oldest,
    /// To a position, counted from the newest, which is 1.
    Place(u64),
}

/// A sequence of steps, in the form of an address: `first.next.oldest.10000`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps(pub Vec<Step>);

/// One step, and what was read for it.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The destination.
    pub step: Step,
    /// The items found; `None` when there was nowhere to continue.
    pub found: Option<Stretch>,
    /// The commands that it took.
    pub reads: Vec<Read>,
}

/// A reader's way through a list.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The owner of the list as it is now.
    pub whole: InspectedOwner,
    /// Each step.
    pub steps: Vec<Traced>,
}

/// The end from which the next step continues, and its position.
type Continuation = Option<(bool, Cursor)>;

/// Walks through a list and counts what is read for each step, and for nothing else.
///
/// # Errors
/// A problem with the field `list` if the reader may not see it.
pub async fn trace(
    store: &Store,
    reader: Option<&Handle>,
    owner: &Topic,
    relation: Relation,
    steps: &Steps,
) -> Result<Trace, Problem> {
    let view = View::of(owner, reader);
    let whole = store.inspect_owner(owner, view).await.map_err(to_problem)?;
    if !whole.lists.contains_key(&relation) {
        return Err(Problem::invalid("list", "There is no such list for you."));
    }
    let list = store.list(relation);
    let mut go_on: Continuation = None;
    let mut traced = Vec::new();
    for step in steps.0.iter().copied() {
        let (upwards, after) = match (step, go_on) {
            (Step::Next, None) => {
                traced.push(Traced {
                    step,
                    found: None,
                    reads: Vec::new(),
                });
                continue;
            }
            (Step::Next, Some((upwards, after))) => (upwards, Some(after)),
            (other, _) => (other == Step::Oldest, None),
        };
        let (found, reads) = match step {
            Step::Place(place) => reads(list.from_offset(owner, place.saturating_sub(1), ITEMS)).await,
            _ if upwards => reads(list.oldest_first(owner, after, ITEMS)).await,
            _ => reads(list.newest_first(owner, after, ITEMS)).await,
        };
        let found = found.map_err(to_problem)?;
        go_on = found.next.map(|next| (upwards, next));
        traced.push(Traced {
            step,
            found: Some(found),
            reads,
        });
    }
    Ok(Trace { whole, steps: traced })
}

impl Steps {
    /// More than anybody needs to see that the cost stays the same.
    pub const MOST: usize = 12;

    /// The steps with one more at the end.
    #[must_use]
    pub fn and(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Whether there is room for one more.
    pub fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST
    }
}

impl FromStr for Steps {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let step = |word: &str| match word {
            "first" => Some(Step::First),
            "next" => Some(Step::Next),
            "oldest" => Some(Step::Oldest),
            place => place.parse().ok().filter(|place| *place > 0).map(Step::Place),
        };
        let steps: Option<Vec<Step>> = text.split('.').map(step).collect();
        steps
            .filter(|steps| steps.len() <= Self::MOST && steps.first() != Some(&Step::Next))
            .map(Self)
            .ok_or_else(|| {
                let most = Self::MOST;
                Problem::invalid(
                    "steps",
                    format!(
                        "`steps` are up to {most} of first, next, oldest and the number of an item, separated by \
                         dots, such as “first.next.10000”. The first one is not next."
                    ),
                )
            })
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, step) in self.0.iter().enumerate() {
            let dot = if nth == 0 { "" } else { "." };
            match step {
                Step::First => write!(f, "{dot}first")?,
                Step::Next => write!(f, "{dot}next")?,
                Step::Oldest => write!(f, "{dot}oldest")?,
                Step::Place(place) => write!(f, "{dot}{place}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_survive_the_trip_through_an_address() {
        for text in ["first", "first.next.next", "oldest.next.10000.next"] {
            assert_eq!(text.parse::<Steps>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn impossible_steps_are_refused_by_name() {
        let many = ["first"; Steps::MOST + 1].join(".");
        for text in ["", "next", "first.", "first.last", "0", "-1", &many] {
            let problem = text.parse::<Steps>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("steps"), "{text}");
        }
        assert!(
            ["first"; Steps::MOST]
                .join(".")
                .parse::<Steps>()
                .unwrap()
                .is_full()
        );
    }
}
