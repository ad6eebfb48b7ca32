//! The workshop's exercises. Each of the files `one` to `eight` operates on a list, and has a bug. The tests of
//! the same name say what is wrong; `cargo xtask exercise 3` runs those of the third.
//!
//! ```text
//!   one    a document that grows without end          five   the newest twenty, read from everywhere
//!   two    a look, then a push                        six    a move while others write
//!   three  writes in the wrong order                  seven  sensors, of which one panics
//!   four   a push that is sent twice                  eight  a ledger whose balance must be its entries' sum
//! ```
//!
//! All of them use two collections: `lists` has the owners, `{_id, head: […], pages: n}`, and `pages` has the
//! spilled items, `{_id: "feed/0", list: "feed", page: 0, items: […]}`, where page 0 has the oldest items. Items
//! are numbers: larger ones are newer.

pub mod checks;

pub mod eight;
pub mod five;
pub mod four;
pub mod one;
pub mod seven;
pub mod six;
pub mod three;
pub mod two;

/// How many items a head holds at most.
pub const THRESHOLD: usize = 10;
/// How many items a page holds.
pub const PAGE_SIZE: usize = 8;
