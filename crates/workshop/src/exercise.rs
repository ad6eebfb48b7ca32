//! The questions that go with the exercises. An answer is tried out on the real code, not compared with a key, so
//! every answer that works is right.

use std::sync::OnceLock;

use bson::RawDocumentBuf;
use document::{Error, Result};
use model::{Handle, PostId, Problem, Relation, Timestamp, Topic};
use store::Limits;
use store::overflow::{Item, lay_out};
use store::upkeep::{ItemSizes, evaluate};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::Protocol;
use crate::cast::handle;
use crate::crash::{self, Crash};
use crate::race::{self, BEFOREHAND, Clicks};

/// A question to the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The number of the exercise, from 1, as in `cargo xtask exercise`.
    pub number: usize,
    /// The title of the exercise.
    pub title: &'static str,
    /// The question.
    pub asks: &'static str,
    /// The form of an answer.
    pub looks: &'static str,
    /// The station that helps to find the answer.
    pub station: &'static str,
}

/// Whether an answer is right, and what trying it out showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grade {
    /// Whether it is right.
    pub right: bool,
    /// What happened, as sentences.
    pub why: String,
}

/// The largest document that MongoDB stores, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum size of the owner in the fourth question, in bytes.
const BUDGET: u64 = 16 * 1024;
/// The list of the last two questions.
const LIMITS: Limits = Limits {
    threshold: 160,
    page_size: 128,
};
/// The actor whose place in a list of a thousand is asked for.
const SEARCHED_ACTOR: u64 = 300;
/// How many items are migrated.
const MIGRATED: u64 = 10_000;

/// The largest number that an answer may have.
const MOST: u64 = 1_000_000_000;

/// All questions, in the order of the exercises.
pub const QUESTIONS: [Question; 6] = [
    Question {
        number: 1,
        title: "The wall",
        asks: "A list is one array in its owner’s document. A like has 60 bytes, and its place in the array some more. How many \
               likes fit before the engine refuses the next one? Within two per cent is good enough.",
        looks: "a number",
        station: "/lab/layouts",
    },
    Question {
        number: 2,
        title: "The race",
        asks: "In which order must Ada and Bob send their commands, so that check-then-act puts 1,001 items into a document for \
               1,000? Use one letter for each command: a for Ada, b for Bob.",
        looks: "letters, such as aabb",
        station: "/lab/race",
    },
    Question {
        number: 3,
        title: "The crash",
        asks: "Somebody adds an item to a full list with the article’s check-then-act, the process dies, and they try again. \
               After how many writes must it die, so that the list is wrong for good?",
        looks: "a number",
        station: "/lab/crash",
    },
    Question {
        number: 4,
        title: "The budget",
        asks: "A post’s likes may take 16 KB of its document, 60 bytes each. What is the threshold? Five per cent less is good enough; \
               one too many is not.",
        looks: "a number",
        station: "/lab/tune",
    },
    Question {
        number: 5,
        title: "The place",
        asks: "A thousand likes came one by one; a head holds 160, and a page 128. In which page is the 300th? Page 0 has the oldest.",
        looks: "a number",
        station: "/lab/trace",
    },
    Question {
        number: 6,
        title: "The move",
        asks: "An array of 10,000 likes becomes a head for 160 and pages of 128. How many documents is the list stored in then, with \
               its owner?",
        looks: "a number",
        station: "/lab/migrate",
    },
];

impl Question {
    /// The question with this number.
    ///
    /// # Errors
    /// A problem with the field `exercise`.
    pub fn numbered(number: &str) -> std::result::Result<&'static Self, Problem> {
        let found = number
            .parse()
            .ok()
            .and_then(|number: usize| QUESTIONS.get(number.checked_sub(1)?));
        found.ok_or_else(|| {
            let last = QUESTIONS.len();
            Problem::invalid(
                "exercise",
                format!("There is no exercise “{number}”. `exercise` is a number from 1 to {last}."),
            )
        })
    }

    /// Tries an answer out.
    pub async fn grade(&self, answer: &str) -> Result<Grade> {
        let answer = answer.trim();
        if self.number == 2 {
            return order(answer).await;
        }
        let digits: String = answer
            .chars()
            .filter(|c| !matches!(c, ',' | '.' | ' ' | '’' | '\''))
            .collect();
        let number = match digits.parse::<u64>() {
            Ok(number) if number <= MOST => number,
            _ => {
                return Ok(wrong(format!(
                    "“{answer}” is not a whole number from 0 to {MOST}."
                )));
            }
        };
        match self.number {
            1 => wall(number),
            3 => death(number).await,
            4 => budget(number),
            5 => place(number),
            _ => documents(number),
        }
    }
}

fn right(why: String) -> Grade {
    Grade { right: true, why }
}

fn wrong(why: String) -> Grade {
    Grade { right: false, why }
}

fn wall(likes: u64) -> Result<Grade> {
    let bytes = unbounded_bytes(likes)?;
    Ok(if bytes > MAX_DOCUMENT_BYTES {
        wrong(format!(
            "A document with {likes} likes would have {bytes} bytes. The engine refuses more than {MAX_DOCUMENT_BYTES}."
        ))
    } else if unbounded_bytes(likes.saturating_add(likes / 50 + 1))? > MAX_DOCUMENT_BYTES {
        right(format!(
            "With {likes} likes the document has {bytes} bytes, of {MAX_DOCUMENT_BYTES}: the wall is less than two per cent away."
        ))
    } else {
        wrong(format!(
            "With {likes} likes the document has {bytes} bytes. There is room up to {MAX_DOCUMENT_BYTES}."
        ))
    })
}

/// The size of a post whose likes are one array.
fn unbounded_bytes(likes: u64) -> Result<u64> {
    let item = like_bytes()?;
    // The owner with an empty array: its length, `_id`, the field's name, the array's length and both ends.
    let empty = raw(&bson::doc! { "_id": store::overflow::uuid_bson(Uuid::nil()), "likes": [] })?;
    let mut keys = 0_u64;
    let (mut from, mut digits) = (0_u64, 1);
    while from < likes {
        let to = 10_u64.saturating_pow(digits).min(likes);
        keys += (to - from) * u64::from(digits);
        (from, digits) = (to, digits + 1);
    }
    // Each place has a type, its index as text, and a zero.
    Ok(empty + keys + likes.saturating_mul(item + 2))
}

fn like_bytes() -> Result<u64> {
    raw(&like(1)?.to_document())
}

fn raw(document: &bson::Document) -> Result<u64> {
    let raw = RawDocumentBuf::try_from(document);
    let raw = raw.map_err(|error| Error::refused(2, error.to_string()))?;
    Ok(raw.as_bytes().len() as u64)
}

fn like(nth: u64) -> Result<Item> {
    let by: Handle = handle(&format!("fan{nth:06}"))?;
    let at = Timestamp::from_millis(i64::try_from(nth).unwrap_or(i64::MAX));
    Ok(Item::new(Uuid::from_u128(nth.into()), by, at))
}

async fn order(clicks: &str) -> Result<Grade> {
    let Ok(clicks) = clicks.to_lowercase().parse::<Clicks>() else {
        return Ok(wrong(format!(
            "“{clicks}” has other letters than a and b, or too many of them."
        )));
    };
    let race = race::run(Protocol::CheckThenAct, &clicks).await?;
    let Some(verdict) = race.verdict else {
        let done = race.writers.iter().filter(|writer| writer.done).count();
        return Ok(wrong(format!(
            "After these clicks, {done} of the two writers are done. Continue."
        )));
    };
    let held = verdict.in_owner;
    Ok(if held as u64 > BEFOREHAND + 1 {
        right(format!(
            "The document holds {held} items, and both writers got a success message."
        ))
    } else {
        wrong(format!(
            "The document holds {held} items, which is allowed. The second writer must read before the first one pushes."
        ))
    })
}

/// Every crash of the third question, which are always the same.
async fn crashes() -> Result<&'static [Crash]> {
    static CRASHES: OnceCell<Vec<Crash>> = OnceCell::const_new();
    let crashes =
        CRASHES.get_or_try_init(|| crash::everywhere(Protocol::CheckThenAct, crash::Operation::Again));
    Ok(crashes.await?)
}

async fn death(writes: u64) -> Result<Grade> {
    let crashes = crashes().await?;
    let all = crash::writes(&crashes[0].script);
    let Some(crash) = crashes.iter().find(|crash| crash.after as u64 == writes) else {
        return Ok(wrong(format!(
            "The operation has {all} writes; it cannot crash after {writes}."
        )));
    };
    let faults = crash.later.tally.discrepancies().len();
    Ok(match (faults, writes) {
        (0, _) => wrong(format!(
            "After {writes} of {all} writes, the second try repairs everything."
        )),
        (_, done) => right(format!(
            "It crashed after {done} of {all} writes, and after the second try a reader finds {} items instead of {}.",
            crash.later.tally.reachable(),
            crash.later.tally.reachable() - crash.later.tally.doubled.len() as u64,
        )),
    })
}

fn budget(threshold: u64) -> Result<Grade> {
    let size = like_bytes()?;
    let sizes = ItemSizes {
        p50: size,
        p90: size,
        p99: size,
        max: size,
    };
    let worst = |items: u64| {
        let items = usize::try_from(items)
            .unwrap_or(usize::MAX)
            .clamp(1, store::Settings::MOST);
        evaluate(BUDGET, sizes, 20, items, items).worst_head_bytes
    };
    let bytes = worst(threshold);
    Ok(if threshold > store::Settings::MOST as u64 {
        wrong(format!(
            "No head may hold more than {} items.",
            store::Settings::MOST
        ))
    } else if bytes > BUDGET {
        wrong(format!(
            "A head of {threshold} has {bytes} bytes. The budget is {BUDGET}."
        ))
    } else if worst(threshold + threshold / 20 + 1) > BUDGET {
        right(format!("A head of {threshold} has {bytes} bytes, of {BUDGET}."))
    } else {
        wrong(format!(
            "A head of {threshold} has {bytes} bytes. The budget is {BUDGET}: more fit."
        ))
    })
}

/// The pages of this many likes that arrived one by one, as ranges of their actors.
fn laid_out(likes: u64) -> Result<Vec<usize>> {
    let owner = Topic::Post(PostId::from(Uuid::nil()));
    let items = (1..=likes).map(like).collect::<Result<Vec<_>>>()?;
    let list = lay_out(&owner, Uuid::nil(), Relation::Likes, LIMITS, items);
    Ok(list
        .pages
        .iter()
        .map(|page| page.get_array("items").map_or(0, Vec::len))
        .collect())
}

fn place(page: u64) -> Result<Grade> {
    let pages = laid_out(1_000)?;
    let mut first = 1;
    for (number, held) in (0..).zip(&pages) {
        let last = first + *held as u64 - 1;
        if number == page {
            return Ok(if (first..=last).contains(&SEARCHED_ACTOR) {
                right(format!("Page {page} has the likes {first} to {last}."))
            } else {
                wrong(format!("Page {page} has the likes {first} to {last}."))
            });
        }
        first = last + 1;
    }
    Ok(wrong(format!(
        "There are {} pages, numbered from 0, and the rest is in the head.",
        pages.len()
    )))
}

/// The number of pages of the migrated list, which is laid out once.
fn pages_after_migration() -> Result<u64> {
    static PAGES: OnceLock<u64> = OnceLock::new();
    if let Some(pages) = PAGES.get() {
        return Ok(*pages);
    }
    let pages = laid_out(MIGRATED)?.len() as u64;
    Ok(*PAGES.get_or_init(|| pages))
}

fn documents(count: u64) -> Result<Grade> {
    let pages = pages_after_migration()?;
    Ok(if count == pages + 1 {
        right(format!("{pages} pages, and the owner with its head."))
    } else if count == pages {
        wrong("The owner is a document, too.".to_owned())
    } else {
        let said = if count > pages { "fewer" } else { "more" };
        wrong(format!(
            "It takes {said} documents than {count}. Items that stay in the head need no page."
        ))
    })
}

#[cfg(test)]
mod tests;
