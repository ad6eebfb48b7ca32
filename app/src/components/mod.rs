//! The parts that pages and islands share.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

#[cfg(feature = "ssr")]
mod activity;
mod avatar;
mod beginning;
mod body;
#[cfg(feature = "ssr")]
mod code;
mod delete;
#[cfg(feature = "ssr")]
mod documents;
mod icon;
#[cfg(feature = "ssr")]
mod list;
mod meter;
pub mod meter_words;
mod moment;
mod number;
mod person;
#[cfg(feature = "ssr")]
mod post;
mod reactions;
mod rows;
#[cfg(feature = "ssr")]
mod seam;
#[cfg(feature = "ssr")]
mod stored;
mod text_form;
#[cfg(feature = "ssr")]
mod tree;

#[cfg(feature = "ssr")]
pub use activity::{ActivityRow, did};
pub use avatar::Avatar;
pub use beginning::beginning;
pub use body::Body;
#[cfg(feature = "ssr")]
pub use code::Code;
pub use delete::DeleteControl;
#[cfg(feature = "ssr")]
pub use documents::{ShownDocument, as_it_is, beside};
pub use icon::{Drawings, Icon};
#[cfg(feature = "ssr")]
pub use list::{Entry, Fresh, List};
pub use meter::{Meter, MeterSize};
pub use moment::Moment;
pub use number::{grouped, size};
pub use person::Byline;
#[cfg(feature = "ssr")]
pub use post::Post;
pub use reactions::{FollowButton, LikeButton, ShareButton};
pub use rows::{CommentRow, MemberRow};
#[cfg(feature = "ssr")]
pub use seam::Seam;
#[cfg(feature = "ssr")]
pub use stored::{Stored, StoredDrawer, WALL};
pub use text_form::{TextForm, counter};
