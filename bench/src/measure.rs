//! Latencies, and the work that the engine counted.

use std::time::{Duration, Instant};

use chart::numbers::number;
use serde::Serialize;
use store::embedded::{Counters, Embedded};

use crate::Result;

/// What one kind of operation cost.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// How often it was measured.
    pub times: usize,
    /// Half of them were faster, in microseconds.
    pub median_us: f64,
    /// 95 of 100 were faster, in microseconds.
    pub p95_us: f64,
    /// Documents that the engine read for one, on average.
    pub documents_read: f64,
    /// Bytes of BSON that the engine read for one, on average.
    pub bytes_read: f64,
    /// Bytes of BSON that the engine wrote for one, on average.
    pub bytes_written: f64,
    /// Durable commits for one, on average.
    pub commits: f64,
}

/// Collects measurements of one kind of operation.
#[derive(Debug, Default)]
pub struct Meter {
    latencies: Vec<Duration>,
    work: Counters,
}

impl Meter {
    /// Measures one operation.
    pub async fn time<T>(&mut self, engine: &Embedded, operation: impl Future<Output = T>) -> T {
        let before = engine.counters();
        let began = Instant::now();
        let outcome = operation.await;
        self.latencies.push(began.elapsed());
        self.add_work(before, engine.counters());
        outcome
    }

    /// Adds what many operations at the same time took.
    pub fn add(&mut self, latencies: Vec<Duration>, before: Counters, after: Counters) {
        self.latencies.extend(latencies);
        self.add_work(before, after);
    }

    fn add_work(&mut self, before: Counters, after: Counters) {
        self.work.documents_read += after.documents_read - before.documents_read;
        self.work.bytes_read += after.bytes_read - before.bytes_read;
        self.work.bytes_written += after.bytes_written - before.bytes_written;
        self.work.commits += after.commits - before.commits;
    }

    /// What it all comes to.
    pub fn cost(mut self) -> Cost {
        self.latencies.sort_unstable();
        let each = |sum: u64| number(sum) / number(self.latencies.len().max(1) as u64);
        Cost {
            times: self.latencies.len(),
            median_us: at(&self.latencies, 50),
            p95_us: at(&self.latencies, 95),
            documents_read: each(self.work.documents_read),
            bytes_read: each(self.work.bytes_read),
            bytes_written: each(self.work.bytes_written),
            commits: each(self.work.commits),
        }
    }
}

/// The value that so many per cent are below, in microseconds; the latencies are sorted.
fn at(latencies: &[Duration], percent: usize) -> f64 {
    latencies
        .get(latencies.len() * percent / 100)
        .map_or(0.0, |latency| latency.as_secs_f64() * 1e6)
}

/// The processor time that this process took so far, in seconds; 0 where there is no `/proc`.
pub fn processor_time() -> Result<f64> {
    processor_time_of("self")
}

/// The processor time that a process took so far, in seconds; 0 where there is no `/proc`.
pub fn processor_time_of(process: &str) -> Result<f64> {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return Ok(0.0);
    };
    // Behind the program's name, which may hold anything, the 12th and 13th: user and system, in hundredths.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let mut hundredths = 0;
    for field in fields.skip(11).take(2) {
        hundredths += field.parse::<u64>()?;
    }
    Ok(number(hundredths) / 100.0)
}

/// A line of what the system says about a process's memory, in kB; 0 where there is no `/proc`.
pub fn memory_of(process: &str, field: &str) -> Result<u64> {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else {
        return Ok(0);
    };
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kb = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no such line")?;
    Ok(kb.parse()?)
}

/// The middle one of a few values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
