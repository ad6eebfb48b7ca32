//! Numbers in readable form.

/// 1234567 as 1,234,567.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut written = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// A time in the unit that fits it.
pub fn time(microseconds: f64) -> String {
    match microseconds {
        us if us < 1_000.0 => format!("{us:.0} µs"),
        us if us < 100_000.0 => format!("{:.2} ms", us / 1e3),
        us if us < 1_000_000.0 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// A size in the unit that fits it.
pub fn bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1_000.0 => format!("{bytes:.0} B"),
        bytes if bytes < 10_000.0 => format!("{:.1} KB", bytes / 1e3),
        bytes if bytes < 1_000_000.0 => format!("{:.0} KB", bytes / 1e3),
        bytes => format!("{:.1} MB", bytes / 1e6),
    }
}

/// A count as a number to draw or to divide by.
#[expect(
    clippy::cast_precision_loss,
    reason = "what is counted here is far below 2^52"
)]
pub fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [999.0, 1_000.0, 1_234_567.0].map(thousands),
            ["999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [85.4, 1_250.0, 120_000.0, 2_500_000.0].map(time),
            ["85 µs", "1.25 ms", "120 ms", "2.50 s"]
        );
        assert_eq!(
            [62.0, 6_200.0, 620_000.0, 6_200_000.0].map(bytes),
            ["62 B", "6.2 KB", "620 KB", "6.2 MB"]
        );
    }
}
