//! Solution of `src/eight.rs`.

use bson::doc;
use document::{Engine, Result, Update};

pub async fn book(db: &Engine, account: &str, number: i64, amount: i64) -> Result<()> {
    // One document changes as a whole or not at all, so what must agree belongs into one document.
    let not_yet_booked = doc! { "_id": account, "entries.number": { "$ne": number } };
    let both = doc! {
        "$inc": { "balance": amount },
        "$push": { "entries": { "number": number, "amount": amount } },
    };
    db.update("accounts", Update::one(not_yet_booked, both)).await?;
    Ok(())
}
