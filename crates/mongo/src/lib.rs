//! The document port over a MongoDB server: each operation is the driver's command of the same name.
//!
//! ```text
//!   connect    an address, and what its server is
//!   observe    an address that is only read from
//!   options    concerns, timeouts, refusals
//!   engine     the port's operations
//!   changes    following a change stream through failures of the server
//!   identity   the port's own rule that identities are the caller's
//!   validator  what the server refuses to store, for every writer
//!   cluster    sharding, where the server is a router
//!   session    what one operation reads is never older than what it has seen
//!   presence   whether there is a server to send commands to
//!   fault      the driver's errors by meaning
//! ```
//!
//! The driver may send a write a second time when it lost the answer to the first (`retryWrites`). The server
//! recognises the repetition by its number and does not apply it twice; if it could not, the driver does not repeat
//! the write.

mod changes;
mod cluster;
mod connect;
mod engine;
mod fault;
mod identity;
mod observe;
mod options;
mod presence;
mod session;
mod validator;

pub use cluster::{Cluster, Sharded, database_of};
pub use connect::{ConnectError, Mongo};
pub use observe::Observer;
