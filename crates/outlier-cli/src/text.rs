//! The result as a table for the terminal.

use outlier::verdict::{Verdict, percentage};

use crate::report::{ArrayReport, CollectionReport, Report};

/// The headings of the table.
const HEADINGS: [&str; 10] = [
    "array",
    "arrays",
    "items p50",
    "p90",
    "p99",
    "max",
    "bytes p99",
    "max",
    "beyond",
    "verdict",
];
/// How many of the columns, from the left and from the right, are text.
const TEXTS: (usize, usize) = (1, 1);

/// The whole result.
pub fn table(report: &Report) -> String {
    let mut lines = Vec::new();
    if let Some(sample) = report.sample {
        lines.push(format!(
            "SAMPLED: at most {sample} random documents of each collection. Outliers are rare; without --sample every \
             document is measured."
        ));
    }
    for collection in &report.collections {
        collection_lines(collection, &mut lines);
    }
    if !report.skipped.is_empty() {
        lines.push(String::new());
        lines.push("Skipped".to_owned());
        let of = |skipped: &crate::targets::Skipped| {
            format!("  {}: {}", printable(&skipped.namespace), skipped.reason)
        };
        lines.extend(report.skipped.iter().map(of));
    }
    lines.push(String::new());
    let arrays = || {
        report
            .collections
            .iter()
            .flat_map(|collection| &collection.arrays)
    };
    let alarms = arrays()
        .filter(|array| array.judgement.verdict != Verdict::Leave)
        .count();
    lines.push(format!(
        "{} collections, {} kinds of arrays, {alarms} that need attention. Nothing was written.",
        grouped(report.collections.len() as u64),
        grouped(arrays().count() as u64),
    ));
    lines.join("\n").trim_start().to_owned() + "\n"
}

fn collection_lines(collection: &CollectionReport, lines: &mut Vec<String>) {
    let CollectionReport {
        database,
        collection: name,
        document_bytes,
        ..
    } = collection;
    lines.push(String::new());
    lines.push(format!(
        "{}.{}: {} documents{}, {}; largest {} ({} of 16 MB)",
        printable(database),
        printable(name),
        grouped(collection.documents),
        printable(&collection.kind()),
        size(collection.bytes),
        size(document_bytes.max),
        percentage(collection.of_most),
    ));
    lines.extend(collection.measured.note().map(|note| format!("  {note}")));
    lines.extend(
        collection
            .obstacle()
            .map(|obstacle| format!("  {}", printable(&obstacle))),
    );
    if collection.too_deep > 0 {
        lines.push(format!(
            "  {} arrays or objects were nested too deeply to be measured.",
            collection.too_deep
        ));
    }
    if collection.arrays.is_empty() {
        lines.push("  no arrays".to_owned());
        return;
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(collection.arrays.iter().map(row));
    lines.extend(aligned(&rows));
    for array in &collection.arrays {
        if array.judgement.verdict != Verdict::Leave {
            lines.push(format!(
                "  {} → {}",
                printable(&array.path),
                array.judgement.verdict.words()
            ));
            lines.extend(notes(array).into_iter().map(|note| format!("    {note}")));
        }
    }
}

/// Reasons, growth and indexes, in sentences.
pub fn notes(array: &ArrayReport) -> Vec<String> {
    let mut notes = array.judgement.reasons.clone();
    if let Some(growth) = &array.growth {
        notes.push(format!(
            "It grows by {:.1} items a day on average, judging by {}.",
            growth.items_per_day, growth.from
        ));
    }
    if !array.indexes.is_empty() {
        let names = array.indexes.iter().map(|index| {
            let unique = if index.unique { " (unique)" } else { "" };
            format!("{}{unique}", printable(&index.name))
        });
        let names: Vec<String> = names.collect();
        notes.push(format!(
            "A conversion must keep what these indexes do: {}.",
            names.join(", ")
        ));
    }
    notes
}

fn row(array: &ArrayReport) -> [String; 10] {
    let ArrayReport { items, bytes, .. } = array;
    [
        printable(&array.path),
        grouped(array.arrays),
        grouped(items.p50),
        grouped(items.p90),
        grouped(items.p99),
        grouped(items.max),
        size(bytes.p99),
        size(bytes.max),
        percentage(array.beyond_share),
        array.judgement.verdict.words().to_owned(),
    ]
}

/// Rows with their columns under each other.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            line.push_str("  ");
            if column < TEXTS.0 || column >= N - TEXTS.1 {
                line.push_str(cell);
                line.push_str(&padding);
            } else {
                line.push_str(&padding);
                line.push_str(cell);
            }
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A name without characters that would change the terminal.
pub fn printable(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect()
}

/// A number with commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that gives at least 1.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal place is shown")]
    let bytes_as = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KB", bytes_as(1_024.0)),
        1_048_576..1_073_741_824 => format!("{:.1} MB", bytes_as(1_048_576.0)),
        _ => format!("{:.1} GB", bytes_as(1_073_741_824.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_for_people() {
        assert_eq!(
            [grouped(7), grouped(1_000), grouped(1_234_567)],
            ["7", "1,000", "1,234,567"]
        );
        assert_eq!(
            [size(63), size(16_384), size(15_728_640)],
            ["63 B", "16.0 KB", "15.0 MB"]
        );
    }

    #[test]
    fn a_name_cannot_change_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
