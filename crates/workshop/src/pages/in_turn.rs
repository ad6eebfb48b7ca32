use std::fmt::Display;

use feed::{FairQueue, SecurityEvent};
use model::Problem;
use tokio::runtime::Handle;
use ui::request::feed;
use ui::session;

use super::faulty;

/// Anybody may ask for a station's work, signed in or not. It runs one request at a time, which leaves a core to the
/// feed; a class of thirty can wait.
static TURNS: FairQueue = FairQueue::new(
    1,
    32,
    "Many people are at the stations right now. Load the page again in a few seconds.",
);

/// Does a station's work when it is the peer's turn, away from the async threads.
pub(crate) async fn in_turn<T, E, Work>(work: impl FnOnce() -> Work + Send + 'static) -> Result<T, Problem>
where
    Work: Future<Output = Result<T, E>>,
    T: Send + 'static,
    E: Display + Send + 'static,
{
    let client = session::client();
    let turn = match TURNS.turn_of(client.peer).await {
        Ok(turn) => turn,
        Err(refusal) => {
            let viewer = session::viewer().map(|viewer| viewer.handle);
            let feed = feed()?;
            feed.security()
                .record(SecurityEvent::Limited, viewer.as_ref(), &client);
            return Err(refusal);
        }
    };
    let runtime = Handle::current();
    let work = tokio::task::spawn_blocking(move || {
        let done = runtime.block_on(work());
        drop(turn);
        done
    });
    let done = work.await.map_err(|error| faulty(&error))?;
    done.map_err(|error| faulty(&error))
}
