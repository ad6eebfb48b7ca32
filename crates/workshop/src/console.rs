//! The console: MongoDB's shell on a store of one's own, in memory.
//!
//! ```text
//!   console      a line, its answer, and the documents afterwards
//!   outcome      what the shell shows of a line, as text
//!   cost         what a line read and wrote, in words
//!   example      the post that a console begins with
//!   consoles     everybody's consoles, of which a server keeps some
//! ```
//!
//! A line is read by the crate `shell` and answered by the same code that answers drivers (`wire`). The store begins with a
//! post whose likes overflow into pages, with limits so small that all of its documents can be read at a glance. It is for
//! strangers: its size and the work for a line are limited.

mod consoles;
mod cost;
mod example;
mod outcome;

use std::collections::VecDeque;
use std::sync::Arc;

use bson::Document;
use document::Result;
use document::catalogue::Catalogue;
use embedded::{Embedded, Limits};
use shell::{Shape, Shown, Statement};
use ui::components::size;
use wire::Local;

use crate::StageDocument;
use crate::exercise::Question;

pub use self::consoles::{Consoles, Key};
use self::cost::Cost;
pub(crate) use self::example::{LIMITS as LIST_LIMITS, PLACE};
use self::outcome::Outcome;

/// The name of the database.
const DATABASE: &str = "console";
/// How many bytes of documents a console holds.
const MOST_BYTES: u64 = 500 * 1024;
/// What one line may compute and write.
const LIMITS: Limits = Limits {
    steps: 2_000_000,
    bytes: 2_000_000,
};
/// The longest line, in characters.
const LONGEST_LINE: usize = 5_000;
/// How many lines are shown.
const KEPT: usize = 30;
/// How many documents of a cursor are shown at a time, as in the shell.
const AT_ONCE: usize = 20;
/// The commands that may make a store larger.
const WRITES: [&str; 6] = [
    "insert",
    "update",
    "findAndModify",
    "findandmodify",
    "createIndexes",
    "create",
];

/// Operators that are offered while somebody types.
pub const OPERATORS: [&str; 59] = [
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$nin",
    "$exists",
    "$type",
    "$regex",
    "$elemMatch",
    "$size",
    "$all",
    "$and",
    "$or",
    "$nor",
    "$not",
    "$expr",
    "$set",
    "$unset",
    "$inc",
    "$mul",
    "$min",
    "$max",
    "$push",
    "$each",
    "$slice",
    "$sort",
    "$position",
    "$pull",
    "$pullAll",
    "$addToSet",
    "$pop",
    "$setOnInsert",
    "$match",
    "$group",
    "$project",
    "$limit",
    "$skip",
    "$unwind",
    "$count",
    "$sum",
    "$avg",
    "$addFields",
    "$replaceRoot",
    "$sortByCount",
    "$concatArrays",
    "$filter",
    "$map",
    "$first",
    "$last",
    "$bsonSize",
    "$arrayElemAt",
    "$cond",
    "$ifNull",
    "$mergeObjects",
    "$bucket",
    "$sample",
];

/// A line and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// Its number in this console, from 1.
    pub number: u64,
    /// The line.
    pub line: String,
    /// What the shell shows.
    pub text: String,
    /// Whether it was refused, or failed.
    pub failed: bool,
    /// What it read and wrote, if it was run.
    pub cost: Option<String>,
}

/// What is seen of a console.
#[derive(Debug, Clone)]
pub struct Screen {
    /// The lines, the newest first.
    pub entered: Vec<Entered>,
    /// The post and its pages before the last line.
    pub before: Vec<StageDocument>,
    /// The same now.
    pub after: Vec<StageDocument>,
    /// The names of the collections.
    pub collections: Vec<String>,
}

/// Somebody's console. Its lines run one after the other.
pub struct Console {
    engine: Arc<Embedded>,
    local: Local,
    /// What `it` shows: the rest of the last cursor. A console holds so little that a cursor is read at once.
    rest: Vec<Document>,
    entered: VecDeque<Entered>,
    number: u64,
    before: Vec<StageDocument>,
}

impl Console {
    /// A new one, with its post.
    pub async fn open() -> Result<Self> {
        let engine = Arc::new(Embedded::in_memory_within(LIMITS)?);
        example::fill(&engine).await?;
        let before = example::documents(&engine).await?;
        Ok(Self {
            local: Local::new(engine.clone(), engine.clone(), DATABASE),
            engine,
            rest: Vec::new(),
            entered: VecDeque::new(),
            number: 0,
            before,
        })
    }

    /// What is seen of it now.
    pub async fn screen(&self) -> Result<Screen> {
        Ok(Screen {
            entered: self.entered.iter().cloned().collect(),
            before: self.before.clone(),
            after: example::documents(&self.engine).await?,
            collections: Catalogue::collections(&*self.engine).await?,
        })
    }

    /// Runs a line.
    pub async fn enter(&mut self, line: &str) -> Result<&Entered> {
        self.before = example::documents(&self.engine).await?;
        let before = self.engine.counters();
        let outcome = self.outcome(line.trim()).await?;
        let cost = Cost::between(before, self.engine.counters());
        self.number += 1;
        self.entered.truncate(KEPT - 1);
        self.entered.push_front(Entered {
            number: self.number,
            line: line.trim().to_owned(),
            cost: outcome.was_run().then(|| outcome.explained(cost)),
            failed: outcome.failed(),
            text: outcome.text(),
        });
        Ok(&self.entered[0])
    }

    async fn outcome(&mut self, line: &str) -> Result<Outcome> {
        if line.chars().count() > LONGEST_LINE {
            let message = format!("A line has at most {LONGEST_LINE} characters.");
            return Ok(Outcome::refused(message));
        }
        if let Some(asked) = line.strip_prefix("exercise") {
            return exercise(asked.trim_end_matches(';')).await;
        }
        Ok(match shell::parse(line) {
            Err(error) => Outcome::Refused(error),
            Ok(Statement::Nothing) => Outcome::Lines(Vec::new()),
            Ok(Statement::Help) => Outcome::help(),
            Ok(Statement::Name(None)) => Outcome::Lines(vec![DATABASE.to_owned()]),
            Ok(Statement::Name(Some(collection))) => Outcome::Lines(vec![format!("{DATABASE}.{collection}")]),
            Ok(Statement::Use(name)) if name == DATABASE => {
                Outcome::Lines(vec![format!("already on db {DATABASE}")])
            }
            Ok(Statement::Use(name)) => {
                Outcome::refused(format!("There is no database {name} here, only {DATABASE}."))
            }
            Ok(Statement::More) if self.rest.is_empty() => Outcome::Lines(vec!["no cursor".to_owned()]),
            Ok(Statement::More) => self.next_page(),
            Ok(Statement::Run { command, shape }) => self.run(command, &shape).await?,
        })
    }

    async fn run(&mut self, command: Document, shape: &Shape) -> Result<Outcome> {
        let Some((name, subject)) = command.iter().next() else {
            let message = "A command has a name, as in { ping: 1 }.".to_owned();
            return Ok(Outcome::refused(message));
        };
        let (name, subject) = (name.clone(), subject.as_str().unwrap_or_default().to_owned());
        if WRITES.contains(&name.as_str()) && self.bytes().await? >= MOST_BYTES {
            let message = format!(
                "A console holds {}. Delete something, or begin again.",
                size(MOST_BYTES)
            );
            return Ok(Outcome::refused(message));
        }
        let mut answer = self.local.answer(command).await;
        if *shape != Shape::Answer {
            self.read_whole(&mut answer, &subject).await;
        }
        Ok(match shell::show(&answer, shape) {
            Shown::Documents { documents, .. } => {
                self.rest = documents;
                self.next_page()
            }
            shown => Outcome::Shown(shown),
        })
    }

    /// Adds the rest of a cursor to its first batch.
    async fn read_whole(&self, answer: &mut Document, collection: &str) {
        while let Ok(cursor) = answer.get_document_mut("cursor") {
            let Ok(id @ 1..) = cursor.get_i64("id") else {
                return;
            };
            let mut more = self.local.more(id, collection, None).await;
            let Ok(next) = more.get_document_mut("cursor") else {
                *answer = more;
                return;
            };
            cursor.insert("id", next.get_i64("id").unwrap_or(0));
            if let (Ok(all), Ok(batch)) = (
                cursor.get_array_mut("firstBatch"),
                next.get_array_mut("nextBatch"),
            ) {
                all.append(batch);
            }
        }
    }

    /// The next documents of the last cursor.
    fn next_page(&mut self) -> Outcome {
        let documents = self.rest.drain(..AT_ONCE.min(self.rest.len())).collect();
        let more = !self.rest.is_empty();
        Outcome::Shown(Shown::Documents { documents, more })
    }

    /// How many bytes of documents it holds.
    async fn bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        for collection in Catalogue::collections(&*self.engine).await? {
            bytes += self.engine.collection_size(&collection).await?.bytes;
        }
        Ok(bytes)
    }
}

/// `exercise`, `exercise 5` or `exercise 5 2`: the questions, one of them, or whether an answer is right.
async fn exercise(asked: &str) -> Result<Outcome> {
    let words = asked.trim().split_once(char::is_whitespace);
    let (number, answer) = words.unwrap_or((asked.trim(), ""));
    if number.is_empty() || number == "s" {
        return Ok(Outcome::questions());
    }
    let question = match Question::numbered(number) {
        Ok(question) => question,
        Err(problem) => return Ok(Outcome::refused(problem.message)),
    };
    let answer = answer.trim().trim_matches(['"', '\'']);
    if answer.is_empty() {
        return Ok(Outcome::question(question));
    }
    Ok(Outcome::Graded(question.grade(answer).await?))
}

#[cfg(test)]
mod tests;
