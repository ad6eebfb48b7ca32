//! `spillway serve --classroom`: a class in one room, on one server.
//!
//! ```text
//!   address  where the others in the room find this machine, and how this is shown
//!   reset    the same town once more, with the same class in it; the server says how it is loaded
//!   teacher  the browser that may ask for a reset
//! ```

mod address;
mod reset;
mod teacher;

pub use address::addresses;
pub use reset::{Reload, Reset, router, take_part};
