//! The server functions: what the browser may ask for and do. Each is the address of a plain form and, in an
//! island, an ordinary async call. They parse the input, call the feed, and answer both kinds of caller.

pub mod accounts;
pub mod comments;
pub mod people;
pub mod posts;
pub mod settings;
