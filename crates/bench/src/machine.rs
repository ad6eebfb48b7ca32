//! The system's numbers about processes, and the median of a few measurements.

use crate::Result;
use chart::numbers::number;

/// The processor time that this process has used so far, in seconds; 0 where there is no `/proc`.
pub fn processor_time() -> Result<f64> {
    processor_time_of("self")
}

/// The processor time that a process has used so far, in seconds; 0 where there is no `/proc`.
pub fn processor_time_of(process: &str) -> Result<f64> {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return Ok(0.0);
    };
    // After the program's name, which may contain anything, the 12th and 13th fields: user and system, in
    // hundredths.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let mut hundredths = 0;
    for field in fields.skip(11).take(2) {
        hundredths += field.parse::<u64>()?;
    }
    Ok(number(hundredths) / 100.0)
}

/// A line of the system's report on a process's memory, in kB; 0 where there is no `/proc`.
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

/// The median of a few values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
