//! What the pages and the JSON API have in common: the session that a request belongs to, and how a refused request
//! is answered.

mod address;
pub mod cookie;
mod device;
mod host;
mod problem;
mod session;
mod version;

pub use address::{Origin, PublicAddress, link_with};
pub use host::{is_loopback, is_sent_to_this_machine};
pub use problem::{BODY, CLOSED, ErrorResponse, ProblemBody};
pub use session::{CLEAR_CACHE, Cookies, Peer, Session, Sessions, not_signed_in, resolve};
pub use version::Version;
