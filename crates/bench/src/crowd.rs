//! Many clients at once.

use crate::Result;

/// How many of them there are.
pub const CLIENTS: u64 = 64;

/// Repeats an operation in a task for each client, until it says that there is no more to do. Returns how often it was
/// done in all tasks together.
pub async fn repeat<F>(operation: impl Fn() -> F + Clone + Send + 'static) -> Result<u64>
where
    F: Future<Output = Result<bool>> + Send,
{
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let operation = operation.clone();
        running.spawn(async move {
            let mut done = 0_u64;
            while operation().await? {
                done += 1;
            }
            Result::Ok(done)
        });
    }
    let mut done = 0;
    while let Some(ended) = running.join_next().await {
        done += ended??;
    }
    Ok(done)
}
