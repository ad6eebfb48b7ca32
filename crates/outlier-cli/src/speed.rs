//! How fast a server computes. Some speak MongoDB's protocol but take milliseconds for each document, and do not stop
//! at a limit of time; what they are asked for and do not finish slows down everything that follows.

use std::time::{Duration, Instant};

use bson::{Document, doc};
use futures::TryStreamExt as _;
use mongo::Observer;

use crate::fault::Fault;
use crate::pipeline::{LEVELS, Plan, pipeline};

/// How many made-up documents to measure: more only if the server was fast, since a short time says little.
const PROBES: [u32; 2] = [50, 1_000];
/// How long a probe has to take to tell.
const MIN_PROBE_TIME: Duration = Duration::from_millis(500);

/// How long the server would compute the lengths and sizes of this many documents; `None` if it cannot say, because it
/// has no `$documents` (MongoDB 5.1).
///
/// # Errors
/// Why it did not answer.
pub async fn expected(
    observer: &Observer,
    database: &str,
    documents: u64,
) -> Result<Option<Duration>, Fault> {
    let probe = async |number: u32| {
        let began = Instant::now();
        let stages = stages(number);
        let rows = observer.client.database(database).aggregate(stages).await?;
        rows.try_collect::<Vec<Document>>().await?;
        Ok(began.elapsed())
    };
    let mut expected = Duration::ZERO;
    // What a command costs, whatever it computes.
    let once: Result<Duration, Fault> = probe(1).await;
    let once = match once {
        Err(Fault::Refused(_) | Fault::Denied | Fault::Slow) => return Ok(None),
        once => once?,
    };
    for number in PROBES {
        let took = probe(number).await?.saturating_sub(once);
        expected = scaled(took, number, documents);
        if took >= MIN_PROBE_TIME {
            break;
        }
    }
    Ok(Some(expected))
}

fn scaled(took: Duration, number: u32, documents: u64) -> Duration {
    let times = documents / u64::from(number.max(1));
    took.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
}

/// The pipeline of a scan over documents with a few short arrays.
fn stages(number: u32) -> Vec<Document> {
    let document =
        |nth: u32| doc! { "_id": nth, "a": [{ "b": 1 }, { "b": 2 }, { "b": 3 }], "c": [1, 2], "d": "text" };
    let plan = Plan {
        levels: LEVELS[0],
        threshold: 1,
        now: None,
        sample: None,
        single: false,
    };
    let made_up: Vec<Document> = (0..number).map(document).collect();
    let mut stages = vec![doc! { "$documents": made_up }];
    stages.extend(pipeline(plan));
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_scaled_to_the_collection() {
        let took = Duration::from_millis(500);
        assert_eq!(scaled(took, 50, 1_000_000), Duration::from_secs(10_000));
        assert_eq!(scaled(took, 1_000, 1_000_000), Duration::from_secs(500));
        assert_eq!(scaled(took, 50, 49), Duration::ZERO);
        assert!(scaled(took, 50, u64::MAX) > Duration::from_secs(1_000_000));
    }
}
