use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::{ItemId, Person, PostId, Problem, Seam, Timestamp};

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NotificationKind {
    /// Others like the reader's post.
    Like,
    /// Others commented on the reader's post.
    Comment,
    /// Others shared the reader's post.
    Share,
    /// Others follow the reader.
    Follow,
    /// A post or a comment mentions the reader.
    Mention,
    /// A comment answers one of the reader's comments.
    Reply,
    /// A post quotes one of the reader's posts.
    Quote,
}

impl NotificationKind {
    /// Every kind, in the order in which people choose among them.
    pub const ALL: [Self; 7] = [
        Self::Like,
        Self::Comment,
        Self::Reply,
        Self::Share,
        Self::Quote,
        Self::Follow,
        Self::Mention,
    ];

    /// The word for it, as stored and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Like => "like",
            Self::Comment => "comment",
            Self::Share => "share",
            Self::Follow => "follow",
            Self::Mention => "mention",
            Self::Reply => "reply",
            Self::Quote => "quote",
        }
    }
}

impl std::str::FromStr for NotificationKind {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let kind: StrDeserializer<'_, Error> = input.into_deserializer();
        Self::deserialize(kind).map_err(|_| {
            let message = "A notification is about a like, comment, share, follow, mention, reply or quote.";
            Problem::invalid("kind", message)
        })
    }
}

/// Of what a person wants to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotificationSettings {
    /// The kinds of notifications that are added to their list. What was added before stays.
    pub told: Vec<NotificationKind>,
}

/// A notification, as its reader sees it now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notification {
    /// Its identity.
    pub id: ItemId,
    /// What it is about.
    pub kind: NotificationKind,
    /// When it was added.
    pub at: Timestamp,
    /// The latest person who did it.
    pub by: Person,
    /// How many others did the same; with comments, how many other people are among the latest.
    pub others: u64,
    /// The post; absent for a follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<PostId>,
    /// The comment that mentions the reader or answers them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<ItemId>,
    /// The text that it is about: the latest comment, the reply, the comment or post with the mention, or else the post;
    /// absent for a follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it was added after what the reader marked as read.
    pub unread: bool,
}

/// A stretch of the reader's notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notifications {
    /// The notifications, the latest first, one for each post and kind; those about what is gone are left out.
    pub items: Vec<Notification>,
    /// The `cursor` of the next part; null at the end.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub next: Option<String>,
    /// Where the reader crossed from the head into a page, or from page to page.
    pub seams: Vec<Seam>,
    /// How many notifications the person has.
    pub total: u64,
    /// The time up to which to mark them as read: that of the latest in this part, which may be left out of `items`. Null if
    /// the part is empty.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub until: Option<Timestamp>,
    /// How many were added since the reader marked them as read.
    pub unread: u64,
}
