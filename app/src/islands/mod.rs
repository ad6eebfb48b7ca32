//! What the browser wakes: the parts of a page that react. Each is rendered on the server first, from the same data.

mod activity;
mod comments;
mod members;
mod posts;
mod profile;

pub use activity::ActivityFeed;
pub use comments::CommentThread;
pub use members::MemberFeed;
pub use posts::{OnePost, PostFeed};
pub use profile::ProfileCard;
