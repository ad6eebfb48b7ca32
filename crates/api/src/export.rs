//! The shape of `/me/export`. `crates/feed/src/export.rs` writes it piece by piece, so that it may be of any length;
//! here it is a whole, for the description.

use model::{
    CommentText, DisplayName, Handle, ItemId, NotificationKind, PostId, PostText, Report, Timestamp,
};
use utoipa::ToSchema;

/// Everything that the store has of a person.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is never in memory as a whole")]
pub struct Export {
    /// Who they are.
    profile: ExportedProfile,
    /// Where they are signed in.
    sessions: Vec<ExportedSession>,
    /// What they wrote, newest first.
    posts: Vec<ExportedPost>,
    /// What they reported and the people who run the site have not decided about.
    reports: Vec<Report>,
    /// What they said about posts, newest first.
    comments: Vec<ExportedComment>,
    /// What they like, the latest first.
    likes: Vec<ExportedReaction>,
    /// What they shared, the latest first.
    shares: Vec<ExportedReaction>,
    /// The posts that they keep, the latest first.
    bookmarks: Vec<ExportedBookmark>,
    /// What they were told of, the latest first.
    notifications: Vec<ExportedNotification>,
    /// Whom they follow, the latest first.
    following: Vec<ExportedPerson>,
    /// Who follows them, the latest first.
    followers: Vec<ExportedPerson>,
    /// The posts that they hide, the latest first.
    hidden: Vec<ExportedBookmark>,
    /// Whom they mute, the latest first.
    mutes: Vec<ExportedPerson>,
    /// Whom they block, the latest first.
    blocks: Vec<ExportedPerson>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedProfile {
    handle: Handle,
    name: DisplayName,
    bio: String,
    /// When they joined.
    at: Timestamp,
    /// The post that they pinned.
    #[schema(required)]
    pinned: Option<PostId>,
    /// How many recovery codes they have left.
    #[schema(rename = "recoveryCodesLeft", minimum = 0, maximum = 8)]
    recovery_codes_left: usize,
    /// Of what they are told.
    told: Vec<NotificationKind>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedSession {
    /// The browser, as far as it was recognized.
    #[schema(required)]
    device: Option<String>,
    /// When they signed in.
    at: Timestamp,
    /// When the last use was recorded.
    used: Timestamp,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedPost {
    id: PostId,
    at: Timestamp,
    /// When its text was last changed; left out if it never was.
    #[schema(rename = "editedAt")]
    edited_at: Option<Timestamp>,
    /// The post that it quotes; left out if it quotes none.
    quote: Option<PostId>,
    text: PostText,
    likes: u64,
    comments: u64,
    shares: u64,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedComment {
    id: ItemId,
    /// The post that it is about.
    #[schema(required)]
    post: Option<PostId>,
    at: Timestamp,
    /// What it says; null when the post is gone.
    #[schema(required)]
    text: Option<CommentText>,
    /// When its text was last changed; left out if it never was.
    #[schema(rename = "editedAt")]
    edited_at: Option<Timestamp>,
    /// The comment that it answers; left out if it answers none.
    #[schema(rename = "replyTo")]
    reply_to: Option<ItemId>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedReaction {
    id: ItemId,
    #[schema(required)]
    post: Option<PostId>,
    at: Timestamp,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedBookmark {
    post: PostId,
    at: Timestamp,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedNotification {
    id: ItemId,
    kind: NotificationKind,
    at: Timestamp,
    /// The post that it is about.
    #[schema(required)]
    post: Option<PostId>,
    /// The comment that it is about; left out if it is about none.
    comment: Option<ItemId>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "see above")]
struct ExportedPerson {
    handle: Handle,
    at: Timestamp,
}
