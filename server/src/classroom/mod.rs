//! `spillway serve --classroom`: a class in one room, on one server.
//!
//! ```text
//!   address  where the others in the room find this machine, and how that is told
//!   anew     the same town once more, with the same class in it
//!   teacher  whose browser may ask for that
//! ```

mod address;
mod anew;
mod teacher;

pub use address::addresses;
pub use anew::{Anew, router, take_part};
