//! MongoDB's wire protocol in front of an engine, so that shells and drivers can look into a store that has no server.
//!
//! ```text
//!   listener, connection   who may connect, how many, for how long
//!   local                  the same commands without a connection
//!   message, bytes         bytes to commands and back
//!   server                 which command goes where, and who may give it
//!   strangers              connections that have not signed in: room, and pauses after wrong passwords
//!   about, sign_in, scram  what drivers ask before they work
//!   read, cursor, source   find, aggregate, count, distinct and what they leave behind
//!   write, update          insert, delete, update
//!   modify                 findAndModify
//!   explain                how a command would be done
//!   hint, variables        the arguments hint and let, which all of these take
//!   collections, catalogue what is there
//!   arguments, fault       what commands say, and why they fail
//! ```
//!
//! It is a server without replicas: it takes no transactions, and drivers do not repeat writes by themselves. What it
//! does not know, it refuses by name.

mod about;
mod arguments;
mod bytes;
mod collections;
mod connection;
mod counts;
mod cursor;
mod explain;
mod fault;
mod hint;
mod listener;
mod local;
mod malformed;
mod message;
mod modify;
mod read;
mod scram;
mod server;
mod sign_in;
mod source;
mod strangers;
mod update;
mod variables;
mod write;

pub use listener::{ListenError, Listener, Options, listen};
pub use local::Local;
pub use scram::Login;
pub use sign_in::{Observer, SignInEvent};
