//! How large the items of the store's lists are, for who chooses limits.

use std::sync::Arc;

use model::{Problem, Timestamp};
use store::upkeep::{RelationStats, stats};
use tokio::sync::Mutex;

use super::Feed;
use super::problems::explain;

/// For how long a measurement of the whole store is good enough, in milliseconds.
const GOOD_FOR: i64 = 10 * 60 * 1_000;

/// The last measurement. Who asks while one goes on waits for it, so that the store is read by one at a time.
pub(super) type Measured = Arc<Mutex<Option<(Timestamp, Arc<Vec<RelationStats>>)>>>;

impl Feed {
    /// The numbers of every relation, and when they were taken; at most ten minutes old.
    pub async fn relation_stats(&self) -> Result<(Timestamp, Arc<Vec<RelationStats>>), Problem> {
        let mut kept = self.measured.lock().await;
        let now = self.environment.now();
        if let Some((at, stats)) = &*kept
            && now.millis() - at.millis() < GOOD_FOR
        {
            return Ok((*at, Arc::clone(stats)));
        }
        let measured = stats(&self.store, &|_, _| {}).await.map_err(explain)?;
        let measured = Arc::new(measured);
        *kept = Some((now, Arc::clone(&measured)));
        Ok((now, measured))
    }
}
