//! What every route shares: how problems are answered, who may send what, and the log.

mod bodies;
mod health;
mod problem;
mod refusals;
mod request_log;

pub use self::bodies::read_whole;
pub use self::health::router as health;
pub use self::problem::Refusal;
pub use self::refusals::{explain, forgery_protection};
pub use self::request_log::{RequestLog, log};
