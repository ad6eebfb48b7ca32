//! What pages and islands are made of.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

mod avatar;
mod body;
mod icon;
mod meter;
mod moment;
mod number;
mod person;
mod post;
mod reactions;
mod scroll;
mod seam;
mod text_form;
mod toggle;

pub use avatar::Avatar;
pub use body::Body;
pub use icon::Icon;
pub use meter::{Meter, MeterSize};
pub use moment::Moment;
pub use number::grouped;
pub use person::{Byline, MemberRow};
pub use post::Post;
pub use reactions::{FollowButton, LikeButton, ShareButton};
pub use scroll::{Entry, Scroll, Stretches};
pub use seam::Seam;
pub use text_form::{TextForm, TextFormOptions};
pub use toggle::Toggle;
