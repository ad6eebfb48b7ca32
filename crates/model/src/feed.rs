use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::{CommentText, DisplayName, Handle, ItemId, Meter, PostId, PostText, Problem, Timestamp};

/// Somebody, as shown beside what they did.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Person {
    /// Their unique name.
    pub handle: Handle,
    /// The name that others see.
    pub name: DisplayName,
}

/// Somebody whom a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundPerson {
    /// Their unique name.
    pub handle: Handle,
    /// The name that others see.
    pub name: DisplayName,
    /// A line about themselves; possibly empty.
    pub bio: String,
    /// How many people follow them.
    pub followers: u64,
}

/// A post as one reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Post {
    /// Its identity.
    pub id: PostId,
    /// Who wrote it.
    pub author: Person,
    /// What it says.
    pub text: PostText,
    /// Those whom it mentions by `@handle` and who have an account, in order; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Handle>,
    /// When it was written.
    pub at: Timestamp,
    /// When its text was last changed; left out if it never was.
    #[serde(rename = "editedAt", default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// How many people like it.
    pub likes: u64,
    /// How many comments it has.
    pub comments: u64,
    /// How many people shared it.
    pub shares: u64,
    /// Whether the reader likes it.
    pub liked: bool,
    /// Whether the reader shared it.
    pub shared: bool,
    /// The post that it quotes; left out if it quotes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// Whose share puts it into this list; left out where it stands as its author's.
    #[serde(rename = "sharedBy", default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Person>,
    /// When they shared it; left out where it stands as its author's.
    #[serde(rename = "sharedAt", default, skip_serializing_if = "Option::is_none")]
    pub shared_at: Option<Timestamp>,
}

/// A post that another one quotes. If it is gone, or the reader does not see its author, there is only the id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quote {
    /// Its identity.
    pub id: PostId,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Person>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<PostText>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// When it was last edited, if it was.
    #[serde(rename = "editedAt", default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// Those whom it mentions by `@handle` and who have an account, in order; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Handle>,
}

/// A post with the meter of its likes, as the pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PostCard {
    /// The post.
    #[serde(flatten)]
    pub post: Post,
    /// How its likes are stored.
    pub meter: Meter,
}

/// An entry of likes, shares, followers or following.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Member {
    /// The entry's identity.
    pub id: ItemId,
    /// Who it is.
    pub user: Person,
    /// When they joined the list.
    pub at: Timestamp,
}

/// A comment on a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comment {
    /// Its identity.
    pub id: ItemId,
    /// Who wrote it.
    pub user: Person,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub text: CommentText,
    /// Those whom it mentions by `@handle` and who have an account, in order; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Handle>,
    /// When its text was last changed; left out if it never was.
    #[serde(rename = "editedAt", default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// The comment that it answers, which may be gone; left out if it answers the post.
    #[serde(rename = "replyTo", default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<ItemId>,
    /// Who wrote the comment that it answers; left out if that is gone, or the reader does not see them.
    #[serde(rename = "replyToUser", default, skip_serializing_if = "Option::is_none")]
    pub reply_to_user: Option<Person>,
}

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ActivityKind {
    /// Wrote a post.
    Post,
    /// Liked a post.
    Like,
    /// Commented on a post.
    Comment,
    /// Shared a post.
    Share,
    /// Followed somebody.
    Follow,
}

impl ActivityKind {
    /// The word for it, as stored and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Like => "like",
            Self::Comment => "comment",
            Self::Share => "share",
            Self::Follow => "follow",
        }
    }
}

impl std::str::FromStr for ActivityKind {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let kind: StrDeserializer<'_, Error> = input.into_deserializer();
        Self::deserialize(kind)
            .map_err(|_| Problem::invalid("kind", "An activity is a post, like, comment, share or follow."))
    }
}

/// An entry of somebody's activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Activity {
    /// The same id as the like, comment, share, follow or post that it records.
    pub id: ItemId,
    /// What was done.
    pub kind: ActivityKind,
    /// When.
    pub at: Timestamp,
    /// The post it was done to; absent for a follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<PostId>,
    /// The person who was followed; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Handle>,
}

/// A part of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Listing<T> {
    /// The items.
    pub items: Vec<T>,
    /// The `cursor` of the next part; null at the end.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub next: Option<String>,
    /// Where the reader crossed from the head into a page, or from page to page.
    pub seams: Vec<Seam>,
    /// How many items the whole list has; for a long home feed and for a search, a lower bound.
    pub total: u64,
}

/// A boundary that a reader scrolled over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Seam {
    /// The last item before the boundary; the last one of the previous part when the boundary comes first.
    pub after: String,
    /// The page document that the following items were read from, counted from 0.
    pub page: u32,
    /// How many page documents the list has.
    pub pages: u32,
    /// What was read to get here; the pages show it, the API does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub cost: Option<SeamCost>,
}

/// What it takes to read the first items beyond a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeamCost {
    /// How many documents are read: the owner before and after the page, and the page.
    pub documents: u64,
    /// Their sizes together, in bytes of BSON.
    pub bytes: u64,
    /// How large the one document would be that held all items in one array, in bytes of BSON.
    pub unbounded: u64,
}

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Account {
    /// Their unique name.
    pub handle: Handle,
    /// The name that others see.
    pub name: DisplayName,
    /// A line about themselves.
    pub bio: String,
}

/// A person's page, as one reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is true or not whatever the others are"
)]
pub struct Profile {
    /// Their unique name.
    pub handle: Handle,
    /// The name that others see.
    pub name: DisplayName,
    /// A line about themselves.
    pub bio: String,
    /// When they joined.
    pub at: Timestamp,
    /// How many people follow them.
    pub followers: u64,
    /// How many people they follow.
    pub following: u64,
    /// How many activities they have.
    pub activities: u64,
    /// Whether the reader follows them.
    pub followed: bool,
    /// Whether the reader mutes them.
    pub muted: bool,
    /// Whether the reader blocks them.
    pub blocked: bool,
    /// Whether they block the reader.
    pub blocked_by: bool,
    /// The post that they pinned, which may be gone.
    pub pinned: Option<PostId>,
    /// How their followers are stored.
    pub meter: Meter,
}

/// The answer to a like, share or follow: whether it is active now, and the new count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReactionState {
    /// Whether the reader's like, share or follow is there now.
    pub active: bool,
    /// How many there are.
    pub count: u64,
}
