use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use document::{Error, Result};
use store::overflow::Work;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout_at};

use super::RunningStorm;
use super::list::StormList;
use super::plan::{Action, action, due};
use super::tally::{Membership, StormAnswers};
use crate::report::{HeadSample, StormSecond};
use crate::sandbox::{Sandbox, SandboxError};

const SECOND: Duration = Duration::from_secs(1);

/// How often the head is sampled, if the storm takes as long as it may.
const SAMPLES: u32 = 600;
/// The shortest pause between two samples, so that they cost little.
const SHORTEST: Duration = Duration::from_millis(20);

/// Sends all likes, and reports the results of each second. Returns when all are answered.
///
/// Each like is due at a time that does not depend on the others, and its latency is measured from then: if the
/// store falls behind, that shows as latency instead of as a lower load. Likes that were not sent when twice the
/// time has passed are dropped.
pub(super) async fn send(
    storm: &RunningStorm,
    list: &StormList,
    tally: &StormAnswers,
    sandbox: &Sandbox,
) -> std::result::Result<(), SandboxError> {
    let began = Instant::now();
    let seconds = u64::from(storm.choice.seconds);
    let senders = Senders {
        storm,
        list,
        tally,
        began,
        end: began + Duration::from_secs(2 * seconds),
        next: AtomicU64::new(0),
    };
    let mut second = Second::default();
    let telling = async {
        let mut ticks = interval_at(began + SECOND, SECOND);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            second.report(storm, list, tally, began).await?;
            sandbox.touch(storm.now()).await?;
        }
    };
    let watching = async {
        let pause = Duration::from_secs(2 * seconds) / SAMPLES;
        let mut ticks = interval_at(began, pause.max(SHORTEST));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            sample(storm, list, began).await?;
        }
    };
    // All in one task: a storm then takes at most one core, and leaves the others to the feed.
    tokio::select! {
        () = senders.all() => {}
        failed = telling => return failed,
        failed = watching => return failed,
    }
    sample(storm, list, began).await?;
    Ok(second.report(storm, list, tally, began).await?)
}

/// Notes how full the head is now.
async fn sample(storm: &RunningStorm, list: &StormList, began: Instant) -> Result<()> {
    let items = list.stored().await?.head;
    let at = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    storm.update(|shown| shown.heads.push(HeadSample { at, items }));
    Ok(())
}

/// The senders of the likes: as many as may be outstanding at once.
struct Senders<'a> {
    storm: &'a RunningStorm,
    list: &'a StormList,
    tally: &'a StormAnswers,
    began: Instant,
    end: Instant,
    /// The next action to be taken.
    next: AtomicU64,
}

impl Senders<'_> {
    async fn all(&self) {
        let senders = (0..self.storm.choice.at_once).map(|_| self.one());
        futures::future::join_all(senders).await;
    }

    /// Takes one action after the other, waits until it is due, and runs it.
    async fn one(&self) {
        let choice = &self.storm.choice;
        let mut stopped = self.storm.stop.subscribe();
        loop {
            let nth = self.next.fetch_add(1, Ordering::Relaxed);
            if nth >= choice.due() || !self.waited(due(choice, nth), &mut stopped).await {
                return;
            }
            let due = self.began + due(choice, nth);
            match self.acts(action(choice, nth), nth).await {
                Ok(()) => self.tally.answered(due.elapsed()),
                Err(error) => {
                    tracing::debug!(%error, "a like of a storm failed");
                    self.tally.failed();
                }
            }
        }
    }

    /// Waits until an action is due; false when it is cancelled.
    async fn waited(&self, due: Duration, stopped: &mut watch::Receiver<bool>) -> bool {
        if *stopped.borrow() || Instant::now() >= self.end {
            return false;
        }
        let due = self.began + due;
        if Instant::now() >= due {
            return true;
        }
        // A timeout here means that nobody stopped the storm.
        timeout_at(due, stopped.wait_for(|stopped| *stopped))
            .await
            .is_err()
    }

    async fn acts(&self, action: Action, nth: u64) -> Result<()> {
        let (actor, after) = match action {
            Action::Like(actor) => (actor, Membership::In),
            Action::Unlike(actor) => (actor, Membership::Out),
        };
        let mut standing = self.tally.turn_of(actor).await;
        let done = match action {
            Action::Like(_) => self.list.like(actor, nth, self.storm.now()).await,
            Action::Unlike(_) => self.list.unlike(actor).await,
        };
        match &done {
            Ok(()) => *standing = after,
            // The store reports that nothing was written.
            Err(Error::Unavailable(_) | Error::Refused { .. } | Error::Contended(_)) => {}
            Err(_) => *standing = Membership::Unknown,
        }
        done
    }
}

/// The reference for the current second.
#[derive(Default)]
struct Second {
    nth: u32,
    before: Work,
}

impl Second {
    async fn report(
        &mut self,
        storm: &RunningStorm,
        list: &StormList,
        tally: &StormAnswers,
        began: Instant,
    ) -> Result<()> {
        let elapsed = began.elapsed();
        let (stored, work) = (list.stored().await?, list.work());
        let (speed, all) = (tally.end_of_second(), tally.so_far());
        let (added, pushes) = (work.added - self.before.added, work.pushes - self.before.pushes);
        self.before = work;
        self.nth += 1;
        let second = StormSecond {
            second: self.nth,
            answered: speed.answered,
            p50: speed.p50,
            p99: speed.p99,
            head: stored.head,
            pages: stored.pages,
            owner_bytes: stored.owner_bytes,
            bytes_per_like: (pushes * stored.owner_bytes).checked_div(added).unwrap_or(0),
        };
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        storm.update(|shown| {
            shown.elapsed = millis;
            shown.answered = all.answered;
            shown.failed = tally.failures();
            shown.reached = (all.answered * 1_000).checked_div(millis).unwrap_or(0);
            (shown.p50, shown.p99) = (all.p50, all.p99);
            // The rest of a second after its last answer has no meaning.
            if second.answered > 0 || shown.seconds.is_empty() || elapsed.as_secs() >= u64::from(self.nth) {
                shown.seconds.push(second);
            }
        });
        Ok(())
    }
}
