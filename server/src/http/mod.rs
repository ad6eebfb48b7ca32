//! The parts that all routes share: how problems are answered, which requests are accepted, and the log.

mod begun;
mod bodies;
mod compression;
mod headers;
mod health;
mod limits;
mod peer;
mod plain_http;
mod record_refusals;
mod refusals;
mod request_log;

pub use self::begun::finish_mutations;
pub use self::bodies::read_whole;
pub use self::compression::compress;
pub use self::headers::{CORP, allow_own_scripts, guard};
pub use self::health::{described as described_health, router as health};
pub use self::limits::{Limits, Quotas, limit_accounts, limit_peers, limit_reads, limit_under_way};
pub use self::peer::{identify, network, require_proxies};
pub use self::plain_http::{Reach, refuse_plain_http, refuse_plain_origins};
pub use self::record_refusals::record_refusals;
pub use self::refusals::{add_error_text, for_a_person, forgery_protection};
pub use self::request_log::{RequestLog, log};
