//! The console: MongoDB's shell on a store of one's own, in memory.
//!
//! A line is read by the crate `shell`, answered by the same code that answers drivers (`wire`), and shown with what it
//! cost. The store begins with a post whose likes overflow into pages, with limits so small that all of its documents can
//! be read at a glance.

use std::fmt::Write as _;
use std::sync::Arc;

use bson::{Bson, Document};
use document::{DocumentEngine as _, Engine, Find, Result};
use embedded::{Counters, Embedded};
use model::{PostId, Relation, Timestamp, Topic};
use shell::{Shape, Shown, Statement};
use store::overflow::{Item, PAGES};
use store::people::User;
use store::{Settings, Store, posts};
use uuid::Uuid;
use wire::Local;

use crate::cast::{FIRST, handle};

/// The name of the database.
const DATABASE: &str = "console";
/// How many bytes of documents a console holds.
pub const MOST_BYTES: u64 = 2 * 1024 * 1024;
/// The longest line, in characters.
pub const LONGEST_LINE: usize = 10_000;
/// How many documents of a cursor are shown at a time, as in the shell.
const AT_ONCE: i32 = 20;

/// How many likes the head and a page of the console's post hold.
const THRESHOLD: usize = 4;
const PAGE_SIZE: usize = 3;
/// How many likes the post begins with.
const LIKES: i64 = 12;

/// A line and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entered {
    /// The line.
    pub line: String,
    /// What the shell shows.
    pub outcome: Outcome,
    /// What it cost; `None` if nothing was run.
    pub cost: Option<Cost>,
}

/// What the shell shows of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// What the server answered.
    Shown(Shown),
    /// The line was not run.
    Refused(shell::Error),
    /// The explanation of the console.
    Help,
    /// Nothing was asked.
    Nothing,
}

/// What a command read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Documents read, whether they matched or not, and their bytes.
    pub read: (u64, u64),
    /// Documents written, and the bytes of their new versions.
    pub written: (u64, u64),
    /// Index entries read.
    pub entries: u64,
}

impl Cost {
    fn between(before: Counters, after: Counters) -> Self {
        Self {
            read: (
                after.documents_read - before.documents_read,
                after.bytes_read - before.bytes_read,
            ),
            written: (
                after.documents_written - before.documents_written,
                after.bytes_written - before.bytes_written,
            ),
            entries: after.entries_read - before.entries_read,
        }
    }

    /// In a sentence.
    pub fn in_words(&self) -> String {
        let documents = |(count, bytes): (u64, u64)| {
            let noun = if count == 1 { "document" } else { "documents" };
            format!("{count} {noun}, {}", size(bytes))
        };
        let mut words = format!("{} read", documents(self.read));
        if self.written.0 > 0 {
            // Writing to a text does not fail.
            drop(write!(words, "; {} written", documents(self.written)));
        }
        words
    }
}

/// Somebody's console. Its lines run one after the other.
pub struct Console {
    engine: Arc<Embedded>,
    local: Local,
    last: Option<(i64, String)>,
}

impl Console {
    /// A new one, with its post.
    pub async fn open() -> Result<Self> {
        let engine = Arc::new(Embedded::in_memory()?);
        let console = Self {
            local: Local::new(engine.clone(), engine.clone(), DATABASE),
            engine,
            last: None,
        };
        console.fill().await?;
        Ok(console)
    }

    /// The post that a console begins with.
    pub fn post() -> Topic {
        Topic::Post(PostId::from(Uuid::from_u128(1)))
    }

    /// The store, as the feed reads it.
    pub async fn store(&self) -> Result<Store> {
        let mut settings = Settings::default().without_notifications();
        let refused = |problem: model::Problem| document::Error::refused(2, problem.message);
        settings
            .set_threshold(Relation::Likes, THRESHOLD)
            .map_err(refused)?;
        settings
            .set_page_size(Relation::Likes, PAGE_SIZE)
            .map_err(refused)?;
        let engine: Engine = self.engine.clone();
        Store::open(engine, settings).await
    }

    async fn fill(&self) -> Result<()> {
        let store = self.store().await?;
        let ada = User {
            person: model::Person {
                handle: handle("ada")?,
                name: parsed("Ada")?,
            },
            bio: String::new(),
            password: None,
            at: Timestamp::from_millis(FIRST),
        };
        store.people().insert(&ada, Uuid::from_u128(2)).await?;
        let id = Uuid::from_u128(1);
        let (text, at) = (parsed("The weir is open.")?, Timestamp::from_millis(FIRST));
        store
            .posts()
            .insert(
                PostId::from(id),
                Uuid::from_u128(3),
                &ada.person.handle,
                &text,
                at,
            )
            .await?;
        let likes = store.list(Relation::Likes);
        for nth in 1..=LIKES {
            let at = Timestamp::from_millis(FIRST + 60_000 * nth);
            let by = handle(&format!("fan{nth}"))?;
            let id = Uuid::from_u128(100 + u128::from(nth.unsigned_abs()));
            likes.append(&Self::post(), Item::new(id, by, at)).await?;
        }
        Ok(())
    }

    /// The documents of the post and of its pages, oldest page first.
    pub async fn documents(&self) -> Result<(Option<Document>, Vec<Document>)> {
        let id = store::overflow::uuid_bson(Uuid::from_u128(1));
        let owner = Find::matching(bson::doc! { "_id": &id }).limit(1);
        let owner = self.engine.find(posts::COLLECTION, owner).await?.pop();
        let pages = Find::matching(bson::doc! { "owner": id }).sort(bson::doc! { "page": 1 });
        Ok((owner, self.engine.find(PAGES, pages).await?))
    }

    /// Runs a line.
    pub async fn enter(&mut self, line: &str) -> Entered {
        let before = self.engine.counters();
        let outcome = self.outcome(line).await;
        let ran = matches!(outcome, Outcome::Shown(_));
        Entered {
            line: line.to_owned(),
            outcome,
            cost: ran.then(|| Cost::between(before, self.engine.counters())),
        }
    }

    async fn outcome(&mut self, line: &str) -> Outcome {
        if line.chars().count() > LONGEST_LINE {
            return refused(format!("A line has at most {LONGEST_LINE} characters."));
        }
        match shell::parse(line) {
            Err(error) => Outcome::Refused(error),
            Ok(Statement::Nothing) => Outcome::Nothing,
            Ok(Statement::Help) => Outcome::Help,
            Ok(Statement::Name(collection)) => {
                let name =
                    collection.map_or_else(|| DATABASE.to_owned(), |name| format!("{DATABASE}.{name}"));
                Outcome::Shown(Shown::Lines(vec![name]))
            }
            Ok(Statement::More) => match self.last.take() {
                Some((cursor, collection)) => {
                    let answer = self.local.more(cursor, &collection).await;
                    Outcome::Shown(self.kept(shell::show(&answer, &Shape::Cursor), &collection))
                }
                None => Outcome::Shown(Shown::Lines(vec!["no cursor".to_owned()])),
            },
            Ok(Statement::Run { command, shape }) => self.run(command, shape).await,
        }
    }

    async fn run(&mut self, mut command: Document, shape: Shape) -> Outcome {
        let Some((name, subject)) = command.iter().next() else {
            return refused("A command has a name, as in { ping: 1 }.".to_owned());
        };
        let (name, subject) = (name.clone(), subject.as_str().unwrap_or_default().to_owned());
        if WRITES.contains(&name.as_str()) && self.bytes().await >= MOST_BYTES {
            return refused(format!(
                "A console holds {}. Delete something, or begin again.",
                size(MOST_BYTES)
            ));
        }
        self.last = None;
        if shape == Shape::Cursor {
            limit_batch(&mut command, &name);
        }
        let mut answer = self.local.answer(command).await;
        if shape == Shape::Array {
            self.read_whole(&mut answer, &subject).await;
        }
        Outcome::Shown(self.kept(shell::show(&answer, &shape), &subject))
    }

    /// Adds the rest of a cursor to its first batch.
    async fn read_whole(&self, answer: &mut Document, collection: &str) {
        while let Ok(cursor) = answer.get_document_mut("cursor") {
            let Ok(id @ 1..) = cursor.get_i64("id") else {
                return;
            };
            let mut more = self.local.more(id, collection).await;
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

    /// Remembers a cursor that has more.
    fn kept(&mut self, shown: Shown, collection: &str) -> Shown {
        if let Shown::Documents { cursor: id @ 1.., .. } = &shown {
            self.last = Some((*id, collection.to_owned()));
        }
        shown
    }

    async fn bytes(&self) -> u64 {
        let answer = self.local.answer(bson::doc! { "dbStats": 1 }).await;
        match answer.get("dataSize") {
            Some(Bson::Double(bytes)) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "some megabytes"
                )]
                let bytes = bytes.max(0.0) as u64;
                bytes
            }
            Some(Bson::Int64(bytes)) => bytes.unsigned_abs(),
            Some(Bson::Int32(bytes)) => bytes.unsigned_abs().into(),
            _ => 0,
        }
    }
}

/// A number of bytes in words.
fn size(bytes: u64) -> String {
    chart::numbers::bytes(u32::try_from(bytes).unwrap_or(u32::MAX).into())
}

/// The commands that may make a store larger.
const WRITES: [&str; 5] = ["insert", "update", "findAndModify", "createIndexes", "create"];

fn limit_batch(command: &mut Document, name: &str) {
    match name {
        "find" if !command.contains_key("batchSize") => _ = command.insert("batchSize", AT_ONCE),
        "aggregate" => {
            if let Ok(cursor) = command.get_document_mut("cursor")
                && !cursor.contains_key("batchSize")
            {
                cursor.insert("batchSize", AT_ONCE);
            }
        }
        _ => {}
    }
}

fn refused(message: String) -> Outcome {
    Outcome::Refused(shell::Error {
        kind: "MongoshInvalidInputError",
        message,
        at: None,
    })
}

fn parsed<T: std::str::FromStr<Err = model::Problem>>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|problem: model::Problem| document::Error::refused(2, problem.message))
}

#[cfg(test)]
mod tests;
