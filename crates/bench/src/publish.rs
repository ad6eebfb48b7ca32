//! Publishes the results: all numbers as JSON, and the tables between two marks of the README.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::Result;

/// A part of the README that a command writes.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    begin: &'static str,
    end: &'static str,
    /// The file with all of its numbers.
    numbers: &'static str,
}

/// The cost of lists.
pub const LISTS: Part = Part {
    begin: "<!-- Written by `cargo xtask bench`: begin -->",
    end: "<!-- Written by `cargo xtask bench`: end -->",
    numbers: "lists.json",
};

/// One document for each item, beside heads and pages.
pub const EDGES: Part = Part {
    begin: "<!-- Written by `cargo xtask bench`, one document for each item: begin -->",
    end: "<!-- Written by `cargo xtask bench`, one document for each item: end -->",
    numbers: "edges.json",
};

/// The server's performance.
pub const SERVER: Part = Part {
    begin: "<!-- Written by `cargo xtask bench --server`: begin -->",
    end: "<!-- Written by `cargo xtask bench --server`: end -->",
    numbers: "server.json",
};

/// A page with a place for every part.
fn empty_page() -> String {
    let places = [LISTS, EDGES, SERVER].map(|part| format!("{}\n{}\n", part.begin, part.end));
    format!("# Benchmarks\n\n{}", places.join("\n"))
}

impl Part {
    /// Writes the numbers, and replaces the earlier text in the README.
    pub fn publish(self, out: &Path, results: &impl Serialize, text: &str) -> Result<()> {
        fs::create_dir_all(out)?;
        fs::write(
            out.join(self.numbers),
            serde_json::to_string_pretty(results)? + "\n",
        )?;
        let readme = out.join("README.md");
        let page = fs::read_to_string(&readme).unwrap_or_else(|_| empty_page());
        Ok(fs::write(readme, self.between_the_marks(&page, text)?)?)
    }

    fn between_the_marks(self, page: &str, text: &str) -> Result<String> {
        let parts = page
            .split_once(self.begin)
            .and_then(|(before, rest)| Some((before, rest.split_once(self.end)?.1)));
        let (before, after) = parts.ok_or("the README has lost the marks between which the tables go")?;
        Ok(format!("{before}{}\n\n{text}\n{}{after}", self.begin, self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let page = format!("before\n{}\nold\n{}\nafter\n", LISTS.begin, LISTS.end);
        let written = LISTS.between_the_marks(&page, "new").unwrap();
        assert_eq!(
            written,
            format!("before\n{}\n\nnew\n{}\nafter\n", LISTS.begin, LISTS.end)
        );
        assert_eq!(LISTS.between_the_marks(&written, "new").unwrap(), written);
        assert!(SERVER.between_the_marks(&written, "new").is_err());
        for part in [LISTS, EDGES, SERVER] {
            assert!(part.between_the_marks(&empty_page(), "new").is_ok());
        }
    }
}
