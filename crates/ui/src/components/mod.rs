//! The parts that pages share.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

mod avatar;
mod beginning;
mod body;
mod brand;
mod code;
mod delete;
mod documents;
mod drawer;
mod field;
mod headings;
mod meter;
mod moment;
mod person;
mod post;
mod reactions;
mod text_form;
mod tree;

pub use crate::number::{MAX_DOCUMENT_BYTES, grouped, share_of_limit, size};
pub use avatar::{Avatar, Landscape, LandscapeSymbol};
pub use beginning::{beginning, excerpt};
pub use body::Body;
pub use brand::{ICON, Wordmark};
pub use code::Code;
pub use delete::DeleteControl;
pub use documents::{ShownDocument, beside, unchanged};
pub use drawer::StoredDrawer;
pub use field::Field;
pub use headings::Headings;
pub use meter::{Meter, MeterSize};
pub use moment::Moment;
pub use person::Byline;
pub use post::Post;
pub use reactions::{BookmarkButton, FollowButton, Reactions};
pub use text_form::TextForm;
