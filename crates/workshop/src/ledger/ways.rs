//! Three ways to book an amount on an account.

use bson::{DateTime, Document, doc};
use document::{Engine, Error, Find, Result, Update};
use model::Problem;
use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, empty, uuid_bson};
use uuid::Uuid;

use super::{Booking, Line};
use crate::cast::FIRST;
use crate::{StageDocument, one_of};

pub(super) const ACCOUNTS: &str = "accounts";
pub(super) const PAGES: &str = "entryPages";
pub(super) const ENTRIES: &str = "entries";
const ACCOUNT: &str = "ada";

/// So small that every entry can be shown.
pub(super) const LIMITS: Limits = Limits {
    threshold: 5,
    page_size: 4,
};

/// More entries than the account has.
const ALL: usize = 100;

/// How an amount is booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The balance in one write, the entry in the next. Then the oldest entries move to another document, if there are too
    /// many.
    TwoWrites,
    /// Balance and entry in one write, unless the account's document has the number; old entries move as above.
    OneWrite,
    /// A head with pages, where the write that adds the entry changes the balance too.
    HeadAndPages,
}

/// A process that books.
pub(super) struct Bank {
    way: Way,
    lists: Lists,
}

impl Way {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::TwoWrites, Self::OneWrite, Self::HeadAndPages];

    /// The name used in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TwoWrites => "two-writes",
            Self::OneWrite => "one-write",
            Self::HeadAndPages => "head-and-pages",
        }
    }

    /// The way of this name.
    ///
    /// # Errors
    /// A problem with the field `way` that lists the known names.
    pub fn named(name: &str) -> std::result::Result<Self, Problem> {
        let missing = format_args!("There is no way called “{name}”");
        one_of("way", name, (&Self::ALL, Self::as_str), missing)
    }
}

impl Bank {
    pub(super) fn new(way: Way) -> Self {
        let spec = ListSpec {
            owners: ACCOUNTS.into(),
            path: ENTRIES.into(),
            pages: PAGES.into(),
            key: Some("number".into()),
            order: Order::default(),
            limits: LIMITS,
            head_bytes: None,
            largest_item: 200,
            read: Ok,
        };
        Self {
            way,
            lists: Lists::writing(spec, |entries| doc! { "$inc": { "balance": sum_of(entries) } }),
        }
    }

    /// Creates the account, with nothing on it.
    pub(super) async fn open(&self, engine: &Engine) -> Result<()> {
        let mut account = doc! { "_id": ACCOUNT, "balance": 0_i64 };
        if self.way == Way::HeadAndPages {
            self.lists.prepare(engine).await?;
            account.insert(ENTRIES, empty());
        } else {
            account.insert(ENTRIES, Vec::<Document>::new());
        }
        engine.insert(ACCOUNTS, vec![account]).await
    }

    /// Books an amount.
    pub(super) async fn book(&self, engine: &Engine, booking: Booking) -> Result<()> {
        let Booking { number, amount } = booking;
        let account = doc! { "_id": ACCOUNT };
        let entry = doc! { "number": number, "amount": amount };
        match self.way {
            Way::TwoWrites => {
                let sum = doc! { "$inc": { "balance": amount } };
                engine.update(ACCOUNTS, Update::one(account.clone(), sum)).await?;
                let push = doc! { "$push": { ENTRIES: entry } };
                engine.update(ACCOUNTS, Update::one(account, push)).await?;
                move_old_entries(engine).await
            }
            Way::OneWrite => {
                let guard = doc! { "_id": ACCOUNT, "entries.number": { "$ne": number } };
                let both = doc! { "$inc": { "balance": amount }, "$push": { ENTRIES: entry } };
                engine.update(ACCOUNTS, Update::one(guard, both)).await?;
                move_old_entries(engine).await
            }
            Way::HeadAndPages => {
                let list = self.lists.on(engine.clone());
                let item = item(entry, number, &self.lists.spec().order)?;
                list.append(&owner(), item).await.map(drop)
            }
        }
    }

    /// The stored balance.
    pub(super) async fn balance(&self, engine: &Engine) -> Result<i64> {
        amount_of(&account(engine).await?, "balance")
    }

    /// What a reader of the account finds, newest first.
    pub(super) async fn statement(&self, engine: &Engine) -> Result<Vec<Line>> {
        if self.way == Way::HeadAndPages {
            let list = self.lists.on(engine.clone());
            let read = list.newest_first(&owner(), None, ALL).await?;
            let mut page = None;
            let mut lines = Vec::new();
            for item in read.items {
                lines.push(line(item.document(), page)?);
                if let Some(seam) = read.seams.iter().find(|seam| seam.after == item.order().1) {
                    page = usize::try_from(seam.page).ok();
                }
            }
            return Ok(lines);
        }
        let mut lines = entries(&account(engine).await?, None)?;
        let pages = engine
            .find(PAGES, Find::matching(doc! {}).sort(doc! { "page": 1 }))
            .await?;
        for (nth, page) in pages.iter().enumerate().rev() {
            lines.extend(entries(page, Some(nth))?);
        }
        Ok(lines)
    }

    /// The documents as they are, the account first.
    pub(super) async fn documents(&self, engine: &Engine) -> Result<Vec<StageDocument>> {
        let mut shown = Vec::new();
        for (collection, sort) in [(ACCOUNTS, doc! { "_id": 1 }), (PAGES, doc! { "page": 1 })] {
            let found = engine
                .find(collection, Find::matching(doc! {}).sort(sort))
                .await?;
            let found = found.into_iter();
            shown.extend(found.map(|document| StageDocument { collection, document }));
        }
        Ok(shown)
    }
}

/// Moves the oldest entries into a document of their own if the account's document has too many. As in many programs, it
/// is done after the booking, in two writes.
async fn move_old_entries(engine: &Engine) -> Result<()> {
    let account = account(engine).await?;
    let entries = account.get_array(ENTRIES).map_err(|_| no_entries())?;
    if entries.len() <= LIMITS.threshold {
        return Ok(());
    }
    let oldest = &entries[..LIMITS.page_size];
    let numbers: Vec<_> = oldest
        .iter()
        .filter_map(|entry| entry.as_document()?.get("number").cloned())
        .collect();
    let number = i64::try_from(engine.count(PAGES, doc! {}).await?).unwrap_or(i64::MAX);
    let page =
        doc! { "_id": format!("{ACCOUNT}/{number}"), "account": ACCOUNT, "page": number, ENTRIES: oldest };
    engine.insert(PAGES, vec![page]).await?;
    let pull = doc! { "$pull": { ENTRIES: { "number": { "$in": numbers } } } };
    let moved = Update::one(doc! { "_id": ACCOUNT }, pull);
    engine.update(ACCOUNTS, moved).await.map(drop)
}

fn owner() -> Owner {
    Owner::new(ACCOUNT, ACCOUNT)
}

/// An entry as the item of a list: the bank gives it an id and a time, too.
fn item(mut entry: Document, number: i64, order: &Order) -> Result<Item> {
    entry.insert("id", uuid_bson(Uuid::from_u128(number.unsigned_abs().into())));
    entry.insert("at", DateTime::from_millis(FIRST + 1_000 * number));
    Item::new(entry, order)
}

async fn account(engine: &Engine) -> Result<Document> {
    let found = engine
        .find(ACCOUNTS, Find::matching(doc! { "_id": ACCOUNT }))
        .await?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| Error::NoOwner(ACCOUNT.to_owned()))
}

/// The entries in a document, the newest first.
fn entries(document: &Document, page: Option<usize>) -> Result<Vec<Line>> {
    let entries = document.get_array(ENTRIES).map_err(|_| no_entries())?;
    let lines = entries.iter().rev().filter_map(|entry| entry.as_document());
    lines.map(|entry| line(entry, page)).collect()
}

fn line(entry: &Document, page: Option<usize>) -> Result<Line> {
    let booking = Booking {
        number: amount_of(entry, "number")?,
        amount: amount_of(entry, "amount")?,
    };
    Ok(Line { booking, page })
}

fn amount_of(document: &Document, field: &str) -> Result<i64> {
    let value = document.get_i64(field);
    value.map_err(|_| Error::malformed(format!("`{field}` of an account is not a number of 64 bits")))
}

fn sum_of(entries: &[Document]) -> i64 {
    entries
        .iter()
        .filter_map(|entry| entry.get_i64("amount").ok())
        .sum()
}

fn no_entries() -> Error {
    Error::malformed("an account has no `entries`")
}
