//! The workshop's tuner: a list that was laid out in a sandbox, with the limits that follow from a budget.

use model::{Handle, Problem, Relation};
use serde::{Deserialize, Serialize};

use super::Progress;

/// A list with the limits that somebody chose, while it is laid out and after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct TunedList {
    /// Its progress.
    pub progress: Progress,
    /// Who chose the limits.
    pub by: Handle,
    /// The relation whose items of the store gave the sizes.
    pub relation: Relation,
    /// How many bytes the list may take of its owner's document.
    pub budget: u64,
    /// How many items its head may hold.
    pub threshold: u64,
    /// How many items a page may hold.
    pub page_size: u64,
    /// How large each item is: as half of the store's are at most.
    pub item_bytes: u64,
    /// How many items the list has in the end.
    pub items: u64,
    /// How many of them were appended one by one so far; the others were laid out at once.
    pub appended: u64,
    /// The verdict from the documents at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<TunedCost>,
}

/// What a list with these limits costs, measured on its documents from one full head to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct TunedCost {
    /// The owner's document when the head is full, in bytes.
    pub owner_bytes: u64,
    /// What the list takes of it, in bytes: what the budget is for.
    pub list_bytes: u64,
    /// The largest page, in bytes.
    pub page_bytes: u64,
    /// The documents that one append writes, in bytes, on average.
    pub written: f64,
    /// How many documents a first page takes right after a spill. Absent where the engine reports its answers, but not
    /// what it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_page_documents: Option<u64>,
    /// And how many bytes are read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_page_bytes: Option<u64>,
    /// How many seams a reader crosses to the oldest item.
    pub seams: u64,
    /// Whether all of it is as predicted by the layout.
    pub as_predicted: bool,
}

impl TunedList {
    /// The least and the largest budget, in KB.
    pub const BUDGETS: (u64, u64) = (1, 64);

    /// The bytes of a budget in KB, as MongoDB counts them.
    ///
    /// # Errors
    /// A problem with the field `kb`.
    pub fn budget(kb: &str) -> Result<u64, Problem> {
        let (least, most) = Self::BUDGETS;
        let parsed = kb.parse().ok().filter(|kb| (least..=most).contains(kb));
        parsed.map(|kb: u64| kb * 1_024).ok_or_else(|| {
            Problem::invalid(
                "kb",
                format!("A budget is a whole number from {least} to {most} KB, not “{kb}”."),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_of_kilobytes_within_bounds() {
        assert_eq!(TunedList::budget("1"), Ok(1_024));
        assert_eq!(TunedList::budget("64"), Ok(65_536));
        for wrong in ["0", "65", "-1", "many", "1.5", ""] {
            let problem = TunedList::budget(wrong).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("kb"));
            assert!(problem.message.contains(&format!("not “{wrong}”")), "{problem}");
        }
    }
}
