//! The parts of the feed's pages that no other pages have.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

mod activity;
mod completions;
mod edit;
mod found_person;
mod list;
mod notification;
mod pin;
mod post;
mod restrictions;
mod rows;
mod seam;
mod stored;

pub use activity::{ActivityRow, verb};
pub use completions::completions;
pub use edit::{EditCommentForm, EditForm, QuoteForm, ReplyForm};
pub use found_person::{FoundPersonRow, suggestions};
pub use list::{Entry, List, UpdateSource};
pub use notification::NotificationRow;
pub use pin::{PinForm, PinnedPost};
pub use post::{found_post, post};
pub use restrictions::{BlockForm, HideForm, MuteForm, ReportLink, RestrictionForms, report_address};
pub use rows::{CommentForms, CommentRow, MemberRow, comment_address};
pub use seam::Seam;
pub use stored::Stored;
