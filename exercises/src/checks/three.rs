//! Exercise three.

use document::{Engine, Result};

use super::{LIST, ORDERS, each_once, in_order, numbers, owner, pages, read, sure, up_to, with};
use crate::{PAGE_SIZE, THRESHOLD};

/// As many items as [`THRESHOLD`] lets a head hold.
const FULL: i64 = 10;

/// Wherever the process dies, a reader finds every item once; and the next try finishes.
pub async fn a_crash_loses_and_doubles_nothing(spill: impl AsyncFn(&Engine, &str) -> Result<()>) {
    for commands in 0.. {
        let db = with(1..=FULL, &[]).await;
        let died = up_to(&db, commands, async |db: Engine| spill(&db, LIST).await).await;
        let when = format!("when the process dies after {commands} commands");
        each_once(&read(&db).await, 1..=FULL, &when);
        sure(spill(&db, LIST).await);
        let when = format!("{when} and another one spills");
        each_once(&read(&db).await, 1..=FULL, &when);
        let held = numbers(&owner(&db).await, "head").len();
        assert_eq!(held, THRESHOLD - PAGE_SIZE, "{when}, the head holds {held} items");
        if !died {
            break;
        }
    }
}

/// Two that spill at once move the items once.
pub async fn two_that_spill_move_the_items_once(spill: impl AsyncFn(&Engine, &str) -> Result<()>) {
    for order in 0..ORDERS {
        let db = with(1..=FULL, &[]).await;
        let writer = || async |db: Engine| spill(&db, LIST).await;
        in_order(&db, order, writer(), writer()).await;
        each_once(&read(&db).await, 1..=FULL, "when two spill at once");
        assert_eq!(
            pages(&db).await.len(),
            1,
            "when two spill at once, there is one page"
        );
    }
}
