use bson::{Bson, Document};
use shell::{CURSOR_METHODS, METHODS, Shown, printed};

use super::Cost;
use crate::exercise::{Grade, QUESTIONS, Question};

/// The longest text that is shown of an answer, in characters.
const LONGEST: usize = 10_000;

/// What became of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// A command was run.
    Shown(Shown),
    /// The line was not run.
    Refused(shell::Error),
    /// Something that needs no command.
    Lines(Vec<String>),
    /// An answer to a question was tried out.
    Graded(Grade),
}

impl Outcome {
    pub(super) fn refused(message: String) -> Self {
        Self::Refused(shell::Error {
            kind: "MongoshInvalidInputError",
            message,
            at: None,
        })
    }

    pub(super) fn help() -> Self {
        let collection = METHODS.join(", ");
        let cursor = CURSOR_METHODS.join(", ");
        Self::Lines(vec![
            "show collections, show dbs, it, help".to_owned(),
            format!("db.posts.…: {collection}"),
            format!("after find and aggregate: {cursor}"),
            "db.…: runCommand, getCollectionNames, createCollection, stats, version, hello".to_owned(),
            "exercise: the questions; exercise 5: one of them; exercise 5 0: try an answer".to_owned(),
        ])
    }

    pub(super) fn questions() -> Self {
        let lines = QUESTIONS.map(|question| format!("exercise {}: {}", question.number, question.title));
        Self::Lines(lines.to_vec())
    }

    pub(super) fn question(question: &Question) -> Self {
        let Question {
            number, asks, looks, ..
        } = question;
        Self::Lines(vec![
            asks.to_string(),
            format!("Answer with: exercise {number} and {looks}"),
        ])
    }

    /// Whether a command was run.
    pub(super) fn was_run(&self) -> bool {
        matches!(self, Self::Shown(_))
    }

    /// Whether the line was refused, or its command failed.
    pub(super) fn failed(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Shown(Shown::Failed { .. }) => true,
            Self::Graded(grade) => !grade.right,
            Self::Shown(_) | Self::Lines(_) => false,
        }
    }

    /// What it cost, in words, and what a plan means.
    pub(super) fn explained(&self, cost: Cost) -> String {
        let did_nothing = cost.is_nothing();
        let cost = cost.in_words();
        let plan = match self {
            Self::Shown(Shown::Value(Bson::Document(answer))) => plan(answer),
            _ => None,
        };
        match plan {
            Some(plan) if did_nothing => plan,
            Some(plan) => format!("{plan} It did: {cost}."),
            None => cost,
        }
    }

    /// As the shell shows it.
    pub(super) fn text(&self) -> String {
        let text = match self {
            Self::Shown(Shown::Value(value)) => printed(value),
            Self::Shown(Shown::Documents { documents, .. }) if documents.is_empty() => String::new(),
            Self::Shown(Shown::Documents { documents, more }) => {
                let documents = documents.iter().cloned().map(Bson::Document).collect();
                let more = if *more { "\nType \"it\" for more" } else { "" };
                format!("{}{more}", printed(&Bson::Array(documents)))
            }
            Self::Shown(Shown::Lines(lines)) | Self::Lines(lines) => lines.join("\n"),
            Self::Shown(Shown::Failed { kind, message }) => format!("{kind}: {message}"),
            Self::Refused(error) => error.to_string(),
            Self::Graded(Grade { right, why }) => {
                let verdict = if *right { "Right." } else { "Not yet." };
                format!("{verdict} {why}")
            }
        };
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}\n… and more", &text[..end]),
            None => text,
        }
    }
}

/// How a query finds its documents, if this is the answer of `explain`.
fn plan(answer: &Document) -> Option<String> {
    let mut stage = answer
        .get_document("queryPlanner")
        .ok()?
        .get_document("winningPlan")
        .ok()?;
    loop {
        match stage.get_str("stage").ok()? {
            "COLLSCAN" => return Some("It reads the whole collection.".to_owned()),
            "IDHACK" => return Some("It finds the document by its _id.".to_owned()),
            "EOF" => return Some("There is nothing to read.".to_owned()),
            "IXSCAN" => {
                let name = stage.get_str("indexName").unwrap_or("of the collection");
                return Some(format!("It reads a range of the index {name}."));
            }
            _ => stage = stage.get_document("inputStage").ok()?,
        }
    }
}
