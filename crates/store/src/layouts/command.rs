use std::fmt;

use bson::Document;

use document::{Change, DocumentEngine, Error, Find, FindAndModify, Result, Update, Updated};

/// One database command of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Reads the first document that matches.
    FindOne {
        /// The collection.
        collection: &'static str,
        /// The filter.
        filter: Document,
    },
    /// Adds a document.
    InsertOne {
        /// The collection.
        collection: &'static str,
        /// The document.
        document: Document,
    },
    /// Changes the first document that matches.
    UpdateOne {
        /// The collection.
        collection: &'static str,
        /// The filter and the change.
        update: Update,
    },
    /// Changes the first document that matches and returns it.
    FindOneAndUpdate {
        /// The collection.
        collection: &'static str,
        /// The filter and the change.
        change: FindAndModify,
    },
}

/// The store's answer to a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The document that a find, or a change, found.
    Document(Option<Document>),
    /// What an update did.
    Updated(Updated),
    /// An insert succeeded.
    Inserted,
}

/// An operation as a list of commands, each of which may depend on earlier answers. Anything may happen between two of
/// them: another operation's command, or a crash of the process.
pub trait Steps: Send {
    /// The next command; `None` when the operation is over.
    fn next(&self) -> Option<Command>;

    /// Processes the answer to that command.
    fn take(&mut self, answer: Answer) -> Result<()>;
}

/// Takes one step; returns false if the operation was over already.
pub async fn step(engine: &dyn DocumentEngine, operation: &mut dyn Steps) -> Result<bool> {
    let Some(command) = operation.next() else {
        return Ok(false);
    };
    operation.take(command.execute(engine).await?)?;
    Ok(true)
}

/// Takes all remaining steps.
pub async fn run(engine: &dyn DocumentEngine, operation: &mut dyn Steps) -> Result<()> {
    while step(engine, operation).await? {}
    Ok(())
}

impl Command {
    /// Sends the command to an engine.
    pub async fn execute(self, engine: &dyn DocumentEngine) -> Result<Answer> {
        Ok(match self {
            Self::FindOne { collection, filter } => {
                let found = engine.find(collection, Find::matching(filter).limit(1)).await?;
                Answer::Document(found.into_iter().next())
            }
            Self::InsertOne { collection, document } => {
                engine.insert(collection, vec![document]).await?;
                Answer::Inserted
            }
            Self::UpdateOne { collection, update } => {
                Answer::Updated(engine.update(collection, update).await?)
            }
            Self::FindOneAndUpdate { collection, change } => {
                Answer::Document(engine.find_and_modify(collection, change).await?)
            }
        })
    }
}

impl Answer {
    /// The document, if the command asked for one.
    pub fn document(self) -> Result<Option<Document>> {
        match self {
            Self::Document(document) => Ok(document),
            other => Err(Error::malformed(format!("{other:?} instead of a document"))),
        }
    }
}

impl fmt::Display for Command {
    /// As it would be typed into `MongoDB`'s shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = |change: &Change| match change {
            Change::Operators(operators) | Change::Elements(operators, _) => operators.to_string(),
            Change::Pipeline(stages) => {
                let stages: Vec<String> = stages.iter().map(Document::to_string).collect();
                format!("[{}]", stages.join(", "))
            }
        };
        match self {
            Self::FindOne { collection, filter } => write!(f, "db.{collection}.findOne({filter})"),
            Self::InsertOne { collection, document } => write!(f, "db.{collection}.insertOne({document})"),
            Self::UpdateOne { collection, update } => {
                let options = if update.upsert { ", { upsert: true }" } else { "" };
                let (filter, change) = (&update.filter, change(&update.update));
                write!(f, "db.{collection}.updateOne({filter}, {change}{options})")
            }
            Self::FindOneAndUpdate {
                collection,
                change: modify,
            } => {
                let (filter, change) = (&modify.filter, change(&modify.update));
                write!(f, "db.{collection}.findOneAndUpdate({filter}, {change})")
            }
        }
    }
}
