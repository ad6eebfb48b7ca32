//! The code of S3 and S4, as the articles print it. That of S0 and S1 is in `store::layouts`.

mod follow;
mod followers;
mod like;
mod migrate;

pub use follow::Follow;
pub use followers::{FOLLOWER_OVERFLOW, all_followers, followers_page, with_followers};
pub use like::{AddLike, OVERFLOWS, POSTS, all_likes, new_post};
pub use migrate::{Migrate, outliers};
