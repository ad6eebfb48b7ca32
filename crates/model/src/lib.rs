//! The types that the browser and the server share: names parsed at the edge, what the API answers, and how a
//! problem is reported. Nothing here knows how or where anything is stored.

mod cursor;
mod feed;
mod handle;
mod id;
mod marks;
mod notification;
mod overflow;
mod problem;
mod relation;
mod report;
pub mod search;
mod session;
mod tag;
mod text;
mod timestamp;
mod topic;

pub use cursor::Cursor;
pub use feed::{
    Account, Activity, ActivityKind, Comment, FoundPerson, Listing, Member, Person, Post, PostCard, Profile,
    Quote, ReactionState, Seam, SeamCost,
};
pub use handle::Handle;
pub use id::{ItemId, PostId};
pub use marks::{Mark, marks};
pub use notification::{Notification, NotificationKind, NotificationSettings, Notifications};
pub use overflow::{Meter, Overflow, RelationOverflow};
pub use problem::{Kind, Problem, both, whole_seconds};
pub use relation::{Counterpart, Description, Items, Owners, Readers, Relation, View};
pub use report::{Report, ReportTarget};
pub use search::Search;
pub use session::{SessionId, SignIn, SignIns};
pub use tag::Tag;
pub use text::{Bio, CommentText, DisplayName, Password, PostText, ReportText};
pub use timestamp::Timestamp;
pub use topic::Topic;
