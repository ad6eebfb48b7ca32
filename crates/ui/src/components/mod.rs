//! The parts that pages and islands share.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

mod avatar;
mod beginning;
mod body;
#[cfg(feature = "ssr")]
mod code;
mod delete;
#[cfg(feature = "ssr")]
mod documents;
mod drawer;
mod field;
mod headings;
mod meter;
pub mod meter_words;
mod moment;
mod number;
mod person;
mod post;
mod reactions;
mod text_form;
#[cfg(feature = "ssr")]
mod tree;

pub use avatar::{Avatar, Landscape};
pub use beginning::{beginning, excerpt};
pub use body::Body;
#[cfg(feature = "ssr")]
pub use code::Code;
pub use delete::DeleteControl;
#[cfg(feature = "ssr")]
pub use documents::{ShownDocument, beside, unchanged};
pub use drawer::StoredDrawer;
pub use field::Field;
pub use headings::Headings;
pub use meter::{Meter, MeterSize};
pub use moment::Moment;
pub use number::{MAX_DOCUMENT_BYTES, grouped, size};
pub use person::Byline;
pub use post::Post;
pub use reactions::{FollowButton, Reactions};
pub use text_form::{TextForm, counter};
