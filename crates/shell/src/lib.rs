//! What people type in MongoDB's shell, as the commands that drivers send.
//!
//! ```text
//!   value      literals: documents, arrays, strings, numbers, regular expressions
//!   wrappers   values that JavaScript has no literal for: ObjectId("…"), ISODate("…"), NumberLong(…)
//!   statement  db.posts.find({…}).sort({…}), show collections, help
//!   call       the arguments of a method
//!   methods    a method of a collection to a command
//!   indexes    the two that make indexes
//!   options    options of a method to fields of a command
//!   sort       the orders that drivers take
//!   run        the methods of cursors that may follow
//!   answers    the answer of a server to what the shell shows
//!   refusals   methods that are missing, with what to use instead
//!   printed    values as the shell prints them
//! ```
//!
//! It is a parser and no JavaScript: nothing is evaluated, so variables, functions and arithmetic are refused by name.
//! What each method sends is what [mongosh](https://www.mongodb.com/docs/mongodb-shell/) sends.

mod answers;
mod call;
mod error;
mod indexes;
mod methods;
mod options;
mod printed;
mod refusals;
mod run;
mod sort;
mod statement;
mod text;
mod value;
mod wrappers;

pub use answers::{Shown, show};
pub use error::{Error, Result};
pub use methods::METHODS;
pub use printed::printed;
pub use run::Shape;
pub use statement::{CURSOR_METHODS, Statement, parse};
