//! The code of S4, and S3's migration and pages, as the articles print it. The code of S0 and S1, and S3's
//! `addFollower`, is in the crate.

mod followers;
mod like;
mod migrate;

pub use followers::{add_follower, all_followers, followers_page, with_followers};
pub use like::{OVERFLOWS, POSTS, add_like, all_likes, new_post};
pub use migrate::{migrate, outliers};
