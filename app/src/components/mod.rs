//! What pages and islands are made of.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

mod avatar;
mod body;
mod icon;
mod list;
mod meter;
pub mod meter_words;
mod moment;
mod number;
mod person;
mod post;
mod reactions;
mod rows;
mod seam;
mod text_form;

pub use avatar::Avatar;
pub use body::Body;
pub use icon::Icon;
pub use list::{Entry, List};
pub use meter::{Meter, MeterSize};
pub use moment::Moment;
pub use number::grouped;
pub use person::Byline;
pub use post::Post;
pub use reactions::{FollowButton, LikeButton, ShareButton};
pub use rows::{ActivityRow, CommentRow, MemberRow};
pub use seam::Seam;
pub use text_form::{TextForm, counter};
