//! Exercise six.

use bson::doc;
use document::{Engine, Result};

use super::{LIST, ORDERS, each_once, empty, in_order, owner, pages, read, sure, up_to};
use crate::PAGE_SIZE;

const ITEMS: i64 = 15;

async fn unbounded() -> Engine {
    let db = empty();
    let list = doc! { "_id": LIST, "items": (1..=ITEMS).collect::<Vec<_>>() };
    sure(db.insert("lists", vec![list]).await);
    db
}

/// Somebody appends while the list is migrated, in every order.
pub async fn nothing_is_lost_while_others_write(
    append: impl AsyncFn(&Engine, &str, i64) -> Result<()>,
    migrate: impl AsyncFn(&Engine, &str) -> Result<()>,
) {
    for order in 0..ORDERS {
        let db = unbounded().await;
        let writes = async |db: Engine| append(&db, LIST, ITEMS + 1).await;
        let migrates = async |db: Engine| migrate(&db, LIST).await;
        in_order(&db, order, migrates, writes).await;
        assert!(
            !owner(&db).await.contains_key("items"),
            "the array is still there"
        );
        each_once(
            &read(&db).await,
            1..=ITEMS + 1,
            "when somebody appends during the migration",
        );
        for (page, items) in pages(&db).await {
            assert_eq!(
                items.len(),
                PAGE_SIZE,
                "page {page} does not hold {PAGE_SIZE} items"
            );
        }
    }
}

/// It may die anywhere and be started again.
pub async fn a_migration_may_be_interrupted(migrate: impl AsyncFn(&Engine, &str) -> Result<()>) {
    for commands in 0.. {
        let db = unbounded().await;
        let died = up_to(&db, commands, async |db: Engine| migrate(&db, LIST).await).await;
        if died {
            sure(migrate(&db, LIST).await);
        }
        each_once(
            &read(&db).await,
            1..=ITEMS,
            &format!("when the migration died after {commands} commands"),
        );
        if !died {
            break;
        }
    }
}
