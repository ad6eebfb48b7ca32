//! MongoDB's wire protocol in front of an engine, so that shells and drivers can look into a store that has no server.
//!
//! ```text
//!   listener, connection   who may connect, how many, for how long
//!   message                bytes to commands and back
//!   server                 which command goes where, and who may give it
//!   about, sign_in, scram  what drivers ask before they work
//!   read, cursor           find, aggregate, count, distinct and what they leave behind
//!   write, replace         insert, update, delete, findAndModify
//!   collections, catalogue what is there
//!   arguments, fault       what commands say, and why they fail
//! ```
//!
//! It is a server without replicas: it takes no transactions, and drivers do not repeat writes by themselves. What it
//! does not know, it refuses by name.

mod about;
mod arguments;
mod catalogue;
mod collections;
mod connection;
mod cursor;
mod fault;
mod listener;
mod message;
mod read;
mod replace;
mod scram;
mod server;
mod sign_in;
mod write;

pub use catalogue::{Catalogue, Documents, Extent};
pub use listener::{ListenError, Listener, Options, listen};
pub use scram::Login;
