//! Tables.

/// A table whose first column is text and whose others are numbers.
pub fn table(headings: &[String], rows: &[Vec<String>]) -> String {
    let mut lines = vec![row(headings)];
    let rule: Vec<String> = (0..headings.len())
        .map(|column| if column == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    lines.push(row(&rule));
    lines.extend(rows.iter().map(|cells| row(cells)));
    lines.join("\n") + "\n"
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_aligns_its_numbers() {
        let headings = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            table(&headings, &[headings.to_vec()]),
            "| a | b |\n| --- | ---: |\n| a | b |\n"
        );
    }
}
