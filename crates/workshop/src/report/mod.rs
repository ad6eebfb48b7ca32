//! What the runs of the stations report, to their pages and in the API.

mod layouts;
mod migration;
mod storm;
mod tuning;

use serde::{Deserialize, Serialize};

pub use layouts::{LayoutCost, LayoutLap, LayoutRace, RacedLayout, Wall};
pub use migration::{ListForm, MeasuredList, Migration, MigrationSample, MigrationVerdict};
pub use storm::{HeadSample, Storm, StormChoice, StormPhase, StormSecond, StormTarget, StormVerdict};
pub use tuning::{TunedCost, TunedList};

/// The progress of a run in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub enum Progress {
    /// Nothing has run since the server started.
    Idle,
    /// It is running.
    Running,
    /// Somebody stopped it.
    Stopped,
    /// It is finished.
    Finished,
    /// It failed; the server's log says why.
    Failed,
}
