//! A ledger with running totals: each entry has the balance after it, also when two people book at once.

mod engine;

use std::error::Error;

use outlier::bson::{Bson, Uuid, doc};
use outlier::document::{Engine, session_of};
use outlier::{Item, Limits, ListSpec, Lists, Order, OrderBy, Owner, delete_owner, empty};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    id: Uuid,
    /// No two entries of an account have the same, and it orders them.
    number: i64,
    cents: i64,
    balance: i64,
}

/// Books an amount, and returns the new balance. The entry's number is the key of the list: if somebody else has booked
/// since the newest entry was read, the number is taken, nothing is added, and the balance is computed again.
async fn book(
    entries: &Lists,
    engine: &Engine,
    account: &Owner,
    (id, cents): (u128, i64),
) -> Result<i64, Box<dyn Error>> {
    loop {
        let list = entries.on(session_of(engine));
        let newest = list.newest_first(account, None, 1).await?;
        let newest = newest.items.first().map(Item::read::<Entry>).transpose()?;
        let (number, balance) = newest.map_or((0, 0), |entry| (entry.number, entry.balance));
        let entry = Entry {
            id: Uuid::from_bytes(id.to_be_bytes()),
            number: number + 1,
            cents,
            balance: balance + cents,
        };
        let item = Item::of(&entry, &entries.spec().order)?;
        if list.append(account, item).await?.added {
            return Ok(entry.balance);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine().await?;
    let entries = Lists::new(ListSpec {
        owners: "exampleAccounts".into(),
        path: "entries".into(),
        pages: "exampleEntryPages".into(),
        key: Some("number".into()),
        order: Order {
            at: "number".into(),
            by: OrderBy::Number,
            id: "id".into(),
        },
        limits: Limits {
            threshold: 16,
            page_size: 12,
        },
        head_bytes: None,
        largest_item: 500,
        read: Ok,
    });
    entries.prepare(&engine).await?;
    let account = Owner::from(Bson::from("account 1"));
    delete_owner(&engine, "exampleAccounts", "exampleEntryPages", &account, doc! {}).await?;
    engine
        .insert(
            "exampleAccounts",
            vec![doc! { "_id": "account 1", "entries": empty() }],
        )
        .await?;

    let person = async |person: u128| {
        for nth in 0..100 {
            book(&entries, &engine, &account, (person * 1_000 + nth, 5)).await?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    tokio::try_join!(person(1), person(2))?;

    let mut walk = entries.on(session_of(&engine)).walk_from_the_oldest(&account);
    let mut balance = 0;
    while let Some(stretch) = walk.next().await? {
        for item in stretch.items {
            let entry = item.read::<Entry>()?;
            balance += entry.cents;
            assert_eq!(entry.balance, balance);
        }
    }
    println!("200 bookings of 5 cents by two people: {balance} cents");
    Ok(())
}
