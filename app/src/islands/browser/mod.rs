//! The browser's side of the islands.

pub mod dom;
pub mod drawer;
pub mod keys;
pub mod list;
pub mod live;
pub mod meter;
pub mod number;
pub mod pane;
pub mod place;
pub mod send;
pub mod stretch;
pub mod toggle;
