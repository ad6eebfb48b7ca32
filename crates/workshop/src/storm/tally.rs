use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex as Lock, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

/// Whether an actor is in the list according to the last answer that they got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Membership {
    /// They are not.
    #[default]
    Out,
    /// They are.
    In,
    /// Their last action got no conclusive answer.
    Unknown,
}

/// The answers so far.
pub(super) struct StormAnswers {
    /// The last answer of each actor. One actor's actions run one after the other; the result of two concurrent
    /// ones would be undefined.
    actors: Vec<Mutex<Membership>>,
    /// The latencies of the current second, in microseconds, and those of all earlier seconds.
    latencies: Lock<(Vec<u64>, Vec<u64>)>,
    failed: AtomicU64,
}

/// The latencies of a number of actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Speed {
    /// How many there were.
    pub answered: u64,
    /// The median, in microseconds.
    pub p50: u64,
    /// The 99th percentile, in microseconds.
    pub p99: u64,
}

impl StormAnswers {
    /// Starts without any actions.
    pub(super) fn of(actors: u32) -> Self {
        Self {
            actors: (0..actors).map(|_| Mutex::default()).collect(),
            latencies: Lock::default(),
            failed: AtomicU64::new(0),
        }
    }

    /// Waits until an actor has no outstanding action.
    pub(super) async fn turn_of(&self, actor: u32) -> MutexGuard<'_, Membership> {
        let actor = usize::try_from(actor).unwrap_or_default();
        self.actors[actor % self.actors.len()].lock().await
    }

    pub(super) fn answered(&self, after: Duration) {
        let after = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.0.push(after);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failures(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Ends a second; returns its latencies.
    pub(super) fn end_of_second(&self) -> Speed {
        let mut second = {
            let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
            let second = std::mem::take(&mut latencies.0);
            latencies.1.extend_from_slice(&second);
            second
        };
        Speed::of(&mut second)
    }

    /// The latencies of all finished seconds.
    pub(super) fn so_far(&self) -> Speed {
        let mut all = self
            .latencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1
            .clone();
        Speed::of(&mut all)
    }

    /// The last answer of each actor, by number.
    pub(super) async fn memberships(&self) -> Vec<Membership> {
        let mut standings = Vec::with_capacity(self.actors.len());
        for actor in &self.actors {
            standings.push(*actor.lock().await);
        }
        standings
    }
}

impl Speed {
    fn of(latencies: &mut [u64]) -> Self {
        latencies.sort_unstable();
        // The smallest value that this many percent do not exceed.
        let within = |percent: usize| {
            let rank = (latencies.len() * percent).div_ceil(100);
            latencies.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            answered: latencies.len() as u64,
            p50: within(50),
            p99: within(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let tally = StormAnswers::of(1);
        for micros in (1..=200).rev() {
            tally.answered(Duration::from_micros(micros));
        }
        let speed = Speed {
            answered: 200,
            p50: 100,
            p99: 198,
        };
        assert_eq!(tally.end_of_second(), speed);
        assert_eq!(tally.end_of_second(), Speed::default());
        assert_eq!(tally.so_far(), speed);
    }
}
