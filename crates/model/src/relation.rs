use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Problem;

/// One list that an owner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Relation {
    /// What a person did, newest first.
    Activities,
    /// Who follows a person.
    Followers,
    /// Whom a person follows.
    Following,
    /// Who likes a post.
    Likes,
    /// What people said about a post.
    Comments,
    /// Who shared a post.
    Shares,
}

impl Relation {
    /// All six, users' first.
    pub const ALL: [Self; 6] = [
        Self::Activities,
        Self::Followers,
        Self::Following,
        Self::Likes,
        Self::Comments,
        Self::Shares,
    ];
    /// The lists of a user document.
    pub const OF_A_USER: [Self; 3] = [Self::Activities, Self::Followers, Self::Following];
    /// The lists of a post document.
    pub const OF_A_POST: [Self; 3] = [Self::Likes, Self::Comments, Self::Shares];

    /// The field of the owner document, which is also the `relation` of a page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Activities => "activities",
            Self::Followers => "followers",
            Self::Following => "following",
            Self::Likes => "likes",
            Self::Comments => "comments",
            Self::Shares => "shares",
        }
    }

    /// Whether an actor may appear only once (a like, a share, a follow); otherwise an item is told by its id.
    pub const fn once_per_actor(self) -> bool {
        !matches!(self, Self::Activities | Self::Comments)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Relation {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        Self::ALL
            .into_iter()
            .find(|relation| relation.as_str() == input)
            .ok_or_else(|| {
                Problem::invalid(
                    "relation",
                    "A relation is one of activities, followers, following, likes, comments, shares.",
                )
            })
    }
}
