//! Exercise eight.

use bson::{Bson, doc};
use document::{Engine, Find, Result};

use super::{Integer as _, ORDERS, empty, in_order, sure, up_to};

const ACCOUNT: &str = "ada";

async fn open() -> Engine {
    let db = empty();
    let entries = vec![doc! { "number": 1_i64, "amount": 100_i64 }];
    let account = doc! { "_id": ACCOUNT, "balance": 100_i64, "entries": entries };
    sure(db.insert("accounts", vec![account]).await);
    db
}

/// The balance, and the entries: their numbers and amounts.
async fn statement(db: &Engine) -> (i64, Vec<(i64, i64)>) {
    let found = sure(db.find("accounts", Find::matching(doc! { "_id": ACCOUNT })).await);
    let account = &found[0];
    let balance = account
        .get("balance")
        .and_then(Bson::as_i64_or_i32)
        .unwrap_or_default();
    let entries = account.get_array("entries").cloned().unwrap_or_default();
    let entry = |entry: &Bson| {
        let entry = entry.as_document()?;
        Some((
            entry.get("number")?.as_i64_or_i32()?,
            entry.get("amount")?.as_i64_or_i32()?,
        ))
    };
    (balance, entries.iter().filter_map(entry).collect())
}

async fn balanced(db: &Engine, when: &str) -> Vec<(i64, i64)> {
    let (balance, entries) = statement(db).await;
    let sum: i64 = entries.iter().map(|(_, amount)| amount).sum();
    assert_eq!(
        balance, sum,
        "{when}, the balance is {balance} and the entries add up to {sum}"
    );
    entries
}

/// Wherever the process dies, the balance is the sum; and booking again books once.
pub async fn the_balance_is_the_sum_after_every_crash(
    book: impl AsyncFn(&Engine, &str, i64, i64) -> Result<()>,
) {
    for commands in 0.. {
        let db = open().await;
        let died = up_to(&db, commands, async |db: Engine| book(&db, ACCOUNT, 2, -30).await).await;
        let when = format!("when the process dies after {commands} commands");
        balanced(&db, &when).await;
        sure(book(&db, ACCOUNT, 2, -30).await);
        let when = format!("{when} and the same is booked again");
        assert_eq!(balanced(&db, &when).await, [(1, 100), (2, -30)], "{when}");
        if !died {
            break;
        }
    }
}

/// Two clerks book the same number.
pub async fn one_number_is_booked_once(book: impl AsyncFn(&Engine, &str, i64, i64) -> Result<()>) {
    for order in 0..ORDERS {
        let db = open().await;
        let clerk = || async |db: Engine| book(&db, ACCOUNT, 2, 50).await;
        in_order(&db, order, clerk(), clerk()).await;
        let when = "when two book the same number at once";
        assert_eq!(balanced(&db, when).await, [(1, 100), (2, 50)], "{when}");
    }
}
