//! `spillway serve --classroom`: a class in one room, on one server.
//!
//! ```text
//!   address  where the others in the room find this machine, and how that is told
//!   anew     the same town once more, with the same class in it
//! ```

mod address;
mod anew;

pub use address::{addresses, invitation};
pub use anew::{Anew, router, take_part};
