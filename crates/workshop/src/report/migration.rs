//! A migration of the workshop: an unbounded array becomes head and pages while people like the post.

use model::{Handle, Problem};
use serde::{Deserialize, Serialize};

use super::Progress;

/// How a list is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub enum ListForm {
    /// One array that grows without bound.
    Unbounded,
    /// A list that is all in its head. An array that was just taken over is one, however long.
    Head,
    /// Head and pages.
    Overflowed,
}

/// A list, as `detect` reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct MeasuredList {
    /// The owner.
    pub owner: String,
    /// How it is stored.
    pub form: ListForm,
    /// How many items it has.
    pub items: u64,
    /// How many pages it has.
    pub pages: u64,
    /// The owner's document, in bytes.
    pub owner_bytes: u64,
    /// The pages together, in bytes.
    pub page_bytes: u64,
}

/// The list that is migrated, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct MigrationSample {
    /// Milliseconds since the first like.
    pub at: u64,
    /// Likes that were acknowledged until then.
    pub acknowledged: u64,
    /// How the list is stored.
    pub form: ListForm,
    /// How many items it has.
    pub count: u64,
    /// How many of them are in the owner's document.
    pub head: u64,
    /// How many pages it has.
    pub pages: u64,
    /// The owner's document, in bytes.
    pub owner_bytes: u64,
}

/// The verdict from the documents at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct MigrationVerdict {
    /// Likes that were there before.
    pub before: u64,
    /// Likes that were acknowledged.
    pub acknowledged: u64,
    /// The owner's count.
    pub counted: u64,
    /// How many items are found by reading all of it.
    pub found: u64,
    /// How many different people are found.
    pub distinct: u64,
    /// How many violations `check` finds.
    pub violations: u64,
    /// How many lists `migrate` left as they were.
    pub refused: u64,
    /// Whether all of it agrees.
    pub holds: bool,
}

impl MigrationVerdict {
    /// Sets `holds` from the numbers: nothing lost, nothing twice, nothing left behind.
    #[must_use]
    pub fn evaluated(self) -> Self {
        let expected = self.before + self.acknowledged;
        let agreed = [self.counted, self.found, self.distinct]
            .iter()
            .all(|number| *number == expected);
        let holds = agreed && self.violations + self.refused == 0;
        Self { holds, ..self }
    }
}

/// A migration, while it runs and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct Migration {
    /// Its progress.
    pub progress: Progress,
    /// Who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Handle>,
    /// How many likes the array had.
    pub items: u64,
    /// What `detect` found before, the longest first.
    pub found: Vec<MeasuredList>,
    /// The list that is migrated, from time to time.
    #[serde(rename = "looks")]
    pub samples: Vec<MigrationSample>,
    /// Likes that were acknowledged.
    pub acknowledged: u64,
    /// Of those, likes that were pushed to the array by code that does not know head and pages.
    pub pushed: u64,
    /// What `detect` found afterwards, the longest first.
    pub left: Vec<MeasuredList>,
    /// The verdict from the documents at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<MigrationVerdict>,
}

impl Migration {
    /// How many likes the array may have.
    pub const SIZES: [u64; 3] = [1_000, 10_000, 50_000];

    /// A migration of an array of this many likes, before it begins.
    pub fn of(items: u64, by: Option<Handle>) -> Self {
        Self {
            progress: Progress::Idle,
            by,
            items,
            found: Vec::new(),
            samples: Vec::new(),
            acknowledged: 0,
            pushed: 0,
            left: Vec::new(),
            verdict: None,
        }
    }

    /// Whether an array of this size can be migrated.
    ///
    /// # Errors
    /// A problem with the field `items` that lists the allowed sizes.
    pub fn size(items: u64) -> Result<u64, Problem> {
        let size = Self::SIZES.into_iter().find(|size| *size == items);
        size.ok_or_else(|| {
            let message = "The array has 1000, 10000 or 50000 likes. Choose one of these.";
            Problem::invalid("items", message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_holds_only_when_every_number_agrees() {
        let good = MigrationVerdict {
            before: 10,
            acknowledged: 5,
            counted: 15,
            found: 15,
            distinct: 15,
            violations: 0,
            refused: 0,
            holds: false,
        };
        assert!(good.evaluated().holds);
        for bad in [
            MigrationVerdict { counted: 14, ..good },
            MigrationVerdict { found: 16, ..good },
            MigrationVerdict { distinct: 14, ..good },
            MigrationVerdict {
                acknowledged: 6,
                ..good
            },
            MigrationVerdict {
                violations: 1,
                ..good
            },
            MigrationVerdict { refused: 1, ..good },
        ] {
            assert!(!bad.evaluated().holds, "{bad:?}");
        }
    }

    #[test]
    fn an_array_has_one_of_three_sizes() {
        assert_eq!(Migration::size(10_000), Ok(10_000));
        assert_eq!(Migration::size(7).unwrap_err().field.as_deref(), Some("items"));
    }
}
