//! Tables and numbers for people.

use std::fmt::Write as _;

pub use ui::components::grouped;

/// A table with its first columns left-aligned and the numbers right-aligned.
pub struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these headings; the first `left` columns are texts.
    pub fn new<const N: usize>(left: usize, headings: [&str; N]) -> Self {
        let rows = vec![headings.map(str::to_owned).to_vec()];
        Self { left, rows }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(Vec::from(cells));
    }

    /// Whether it has only headings.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// As lines of text.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                let gap = if column == 0 { "" } else { "  " };
                // Writing to a String cannot fail.
                let written = if column < self.left {
                    write!(line, "{gap}{cell}{padding}")
                } else {
                    write!(line, "{gap}{padding}{cell}")
                };
                debug_assert!(written.is_ok());
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Bytes in the largest unit that gives at least 1.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal place is shown")]
    let bytes_as = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KB", bytes_as(1_024.0)),
        _ => format!("{:.1} MB", bytes_as(1_048_576.0)),
    }
}

/// A number with its noun in singular or plural: "1 list", "2 lists".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_under_each_other() {
        let mut table = Table::new(1, ["relation", "items"]);
        table.row(["likes".to_owned(), grouped(1_234_567)]);
        table.row(["shares".to_owned(), grouped(12)]);
        assert_eq!(
            table.text(),
            "relation      items\nlikes     1,234,567\nshares           12\n"
        );
    }

    #[test]
    fn sizes_are_for_people() {
        assert_eq!(
            [size(63), size(16_384), size(16_000_000)],
            ["63 B", "16.0 KB", "15.3 MB"]
        );
        assert_eq!([grouped(999), grouped(1_000)], ["999", "1,000"]);
        assert_eq!(
            [counted(1, "list", "lists"), counted(0, "list", "lists")],
            ["1 list", "0 lists"]
        );
    }
}
