//! Lines that are run, and lines that are refused.

use bson::Document;
use shell::{Shape, Statement, parse};

pub fn run(line: &str) -> (Document, Shape) {
    match parse(line) {
        Ok(Statement::Run { command, shape }) => (command, shape),
        other => panic!("{line}: {other:?}"),
    }
}

pub fn are_refused(lines: &[(&str, &str, &str)]) {
    for (line, kind, words) in lines {
        let error = parse(line).unwrap_err();
        assert_eq!(error.kind, *kind, "{line}: {error}");
        assert!(error.message.contains(words), "{line}: {error}");
    }
}
