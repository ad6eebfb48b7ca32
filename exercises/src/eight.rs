//! A ledger whose balance must be the sum of its entries: the closing exercise for people who count money.

use bson::doc;
use document::{Engine, Result, Update};

/// Books an amount on an account, `{_id, balance, entries: […]}`, under a number that the bank assigned.
///
/// The process may die between the two writes, and then the balance is not the sum of the entries. A clerk who
/// gets no answer books the same number again. Neither a transaction nor a second document is needed to get both
/// right. (Where old entries go is the answer to the third exercise.)
pub async fn book(db: &Engine, account: &str, number: i64, amount: i64) -> Result<()> {
    let owner = doc! { "_id": account };
    let sum = doc! { "$inc": { "balance": amount } };
    db.update("accounts", Update::one(owner.clone(), sum)).await?;
    let entry = doc! { "$push": { "entries": { "number": number, "amount": amount } } };
    db.update("accounts", Update::one(owner, entry)).await?;
    Ok(())
}
