//! Latencies, and the work that the engine counted.

use std::time::{Duration, Instant};

use embedded::{Counters, Embedded};
use serde::{Deserialize, Serialize};

/// The cost of one kind of operation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cost {
    /// How often it was measured.
    pub times: usize,
    /// Half of them were faster, in microseconds.
    pub median_us: f64,
    /// 95 of 100 were faster, in microseconds.
    pub p95_us: f64,
    /// Commands for one, on average.
    pub commands: f64,
    /// Documents that the engine read for one, on average.
    pub documents_read: f64,
    /// Index entries that the engine read for one, on average.
    pub entries_read: f64,
    /// Bytes of BSON that the engine read for one, on average.
    pub bytes_read: f64,
    /// Bytes of BSON that the engine wrote for one, on average.
    pub bytes_written: f64,
    /// Durable commits for one, on average.
    pub commits: f64,
}

/// Collects measurements of one kind of operation.
#[derive(Debug, Default)]
pub struct CostMeter {
    latencies: Vec<Duration>,
    work: Counters,
}

impl CostMeter {
    /// Measures one operation.
    pub async fn time<T>(&mut self, engine: &Embedded, operation: impl Future<Output = T>) -> T {
        let before = engine.counters();
        let began = Instant::now();
        let outcome = operation.await;
        self.latencies.push(began.elapsed());
        self.add_work(before, engine.counters());
        outcome
    }

    /// Adds the times of many concurrent operations.
    pub fn add(&mut self, latencies: Vec<Duration>, before: Counters, after: Counters) {
        self.latencies.extend(latencies);
        self.add_work(before, after);
    }

    /// Merges another meter's measurements.
    pub fn take(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.add_work(Counters::default(), other.work);
    }

    fn add_work(&mut self, before: Counters, after: Counters) {
        self.work.operations += after.operations - before.operations;
        self.work.documents_read += after.documents_read - before.documents_read;
        self.work.entries_read += after.entries_read - before.entries_read;
        self.work.bytes_read += after.bytes_read - before.bytes_read;
        self.work.bytes_written += after.bytes_written - before.bytes_written;
        self.work.commits += after.commits - before.commits;
    }

    /// The summary.
    #[expect(
        clippy::cast_precision_loss,
        reason = "sums of one experiment are far below 2^52"
    )]
    pub fn cost(mut self) -> Cost {
        self.latencies.sort_unstable();
        let each = |sum: u64| sum as f64 / self.latencies.len().max(1) as f64;
        Cost {
            times: self.latencies.len(),
            median_us: at(&self.latencies, 50),
            p95_us: at(&self.latencies, 95),
            commands: each(self.work.operations),
            documents_read: each(self.work.documents_read),
            entries_read: each(self.work.entries_read),
            bytes_read: each(self.work.bytes_read),
            bytes_written: each(self.work.bytes_written),
            commits: each(self.work.commits),
        }
    }
}

/// The percentile of the latencies, in microseconds; they are sorted.
fn at(latencies: &[Duration], percent: usize) -> f64 {
    latencies
        .get(latencies.len() * percent / 100)
        .map_or(0.0, |latency| latency.as_secs_f64() * 1e6)
}
