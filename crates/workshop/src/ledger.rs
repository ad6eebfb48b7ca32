//! An account whose balance must be the sum of its entries, while its old entries move into pages and a clerk who got
//! no answer books again.

mod ways;

use std::sync::Arc;

use document::{Engine, Result};
use embedded::Embedded;
use model::Problem;

pub use self::ways::Way;
use self::ways::{Bank, LIMITS};
use crate::crash::{commands, die, writes};
use crate::fill::ListPlacement;
use crate::{Entry, Fill, Record, Recorded, StageDocument, one_of};

/// What the clerk books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// A new entry, where the account's document has room for it.
    Room,
    /// A new entry, where it has none.
    Full,
    /// An entry that was booked long ago.
    Old,
}

/// An entry of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Booking {
    /// The number that the bank gave it, which no other entry has.
    pub number: i64,
    /// The amount, in cents or what the bank counts in; negative if it was paid out.
    pub amount: i64,
}

/// An entry as a reader of the account finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The entry.
    pub booking: Booking,
    /// The document that it was read from: the index in [`Fill::pages`], or `None` for the account's own.
    pub page: Option<usize>,
}

/// The account at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Books {
    /// The documents.
    pub documents: Vec<StageDocument>,
    /// How full they are.
    pub fill: Fill,
    /// The stored balance.
    pub balance: i64,
    /// The entries that a reader finds, newest first.
    pub statement: Vec<Line>,
}

/// What is wrong with an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The balance is not the sum of the entries.
    Unbalanced {
        /// The stored balance.
        balance: i64,
        /// The sum.
        sum: i64,
    },
    /// An entry is found more than once.
    Repeated(i64),
    /// An entry that was confirmed is not found.
    Lost(i64),
}

/// One crash, and the second try.
#[derive(Debug, Clone, PartialEq)]
pub struct Interrupted {
    /// The code that ran.
    pub way: Way,
    /// What the clerk books.
    pub case: Case,
    /// All commands of the booking, as if it had not been interrupted.
    pub script: Vec<Entry>,
    /// The number of writes after which the process died.
    pub after: usize,
    /// Before the booking.
    pub before: Vec<StageDocument>,
    /// Right after the crash.
    pub crashed: Books,
    /// After the clerk booked the same again.
    pub again: Books,
}

/// What was paid in and out before, in turn.
const AMOUNTS: [i64; 8] = [500, -120, 80, -45, 260, -90, 30, -15];

/// Every point at which the process can die, from before the first write to after the last.
///
/// # Errors
/// What the engine refuses.
pub async fn everywhere(way: Way, case: Case) -> Result<Vec<Interrupted>> {
    let script = script(way, case).await?;
    let mut all = Vec::new();
    for after in 0..=writes(&script) {
        all.push(interrupted(way, case, script.clone(), after).await?);
    }
    Ok(all)
}

async fn interrupted(way: Way, case: Case, script: Vec<Entry>, after: usize) -> Result<Interrupted> {
    let engine = case.open(way).await?;
    let bank = Bank::new(way);
    let before = bank.documents(&engine).await?;
    let booking = case.booking();
    let dying = &bank;
    die(&engine, commands(&script, after), |engine| async move {
        dying.book(&engine, booking).await
    })
    .await?;
    let crashed = Books::of(&engine, &bank).await?;
    // Another process, because this one is dead.
    let bank = Bank::new(way);
    bank.book(&engine, booking).await?;
    Ok(Interrupted {
        way,
        case,
        script,
        after,
        before,
        crashed,
        again: Books::of(&engine, &bank).await?,
    })
}

/// The booking without a crash.
async fn script(way: Way, case: Case) -> Result<Vec<Entry>> {
    let engine = case.open(way).await?;
    let bank = Bank::new(way);
    let record = Record::default();
    let recorded = Recorded::new(engine.clone(), engine, record.clone());
    bank.book(&recorded, case.booking()).await?;
    Ok(record.entries())
}

impl Interrupted {
    /// What is wrong right after the crash. The interrupted booking may be in the account or not: nobody confirmed it.
    pub fn faults_then(&self) -> Vec<Fault> {
        self.crashed.faults(&self.case.confirmed())
    }

    /// What is wrong after the second try, which was confirmed.
    pub fn faults_later(&self) -> Vec<Fault> {
        let mut confirmed = self.case.confirmed();
        if !confirmed.contains(&self.case.booking()) {
            confirmed.push(self.case.booking());
        }
        self.again.faults(&confirmed)
    }
}

impl Books {
    async fn of(engine: &Engine, bank: &Bank) -> Result<Self> {
        let documents = bank.documents(engine).await?;
        let place = ListPlacement {
            owners: ways::ACCOUNTS,
            pages: ways::PAGES,
            field: ways::ENTRIES,
        };
        Ok(Self {
            fill: Fill::of(&documents, place, LIMITS),
            documents,
            balance: bank.balance(engine).await?,
            statement: bank.statement(engine).await?,
        })
    }

    /// The sum of the entries that a reader finds.
    pub fn sum(&self) -> i64 {
        self.statement.iter().map(|line| line.booking.amount).sum()
    }

    fn faults(&self, confirmed: &[Booking]) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.balance != self.sum() {
            faults.push(Fault::Unbalanced {
                balance: self.balance,
                sum: self.sum(),
            });
        }
        let times = |number: i64| {
            let of_it = |line: &&Line| line.booking.number == number;
            self.statement.iter().filter(of_it).count()
        };
        let mut numbers: Vec<i64> = self.statement.iter().map(|line| line.booking.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let repeated = numbers.into_iter().filter(|number| times(*number) > 1);
        faults.extend(repeated.map(Fault::Repeated));
        let lost = confirmed.iter().filter(|booking| times(booking.number) == 0);
        faults.extend(lost.map(|booking| Fault::Lost(booking.number)));
        faults
    }
}

impl Case {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::Room, Self::Full, Self::Old];

    /// The name used in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Full => "full",
            Self::Old => "old",
        }
    }

    /// The case of this name.
    ///
    /// # Errors
    /// A problem with the field `case` that lists the known names.
    pub fn named(name: &str) -> std::result::Result<Self, Problem> {
        let missing = format_args!("There is no case called “{name}”");
        one_of("case", name, (&Self::ALL, Self::as_str), missing)
    }

    /// The entry that the clerk books.
    pub fn booking(self) -> Booking {
        match self {
            Self::Room => nth(4),
            Self::Full => nth(6),
            Self::Old => nth(2),
        }
    }

    /// The entries that the bank had confirmed before.
    fn confirmed(self) -> Vec<Booking> {
        let entries = match self {
            Self::Room => 3,
            Self::Full => 5,
            Self::Old => 7,
        };
        (1..=entries).map(nth).collect()
    }

    /// A store with the account and those entries. The process that wrote them may still have a task that appends, so
    /// another one goes on.
    async fn open(self, way: Way) -> Result<Engine> {
        let engine: Engine = Arc::new(Embedded::in_memory()?);
        let bank = Bank::new(way);
        bank.open(&engine).await?;
        for booking in self.confirmed() {
            bank.book(&engine, booking).await?;
        }
        Ok(engine)
    }
}

/// The entry with this number, from 1.
fn nth(number: i64) -> Booking {
    let place = usize::try_from(number - 1).unwrap_or(0) % AMOUNTS.len();
    Booking {
        number,
        amount: AMOUNTS[place],
    }
}
