use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Handle, PostId, Problem, Relation};

/// An owner whose changes can be watched: `post:{id}` or `user:{handle}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Topic {
    /// A post and its likes, comments and shares.
    Post(PostId),
    /// A person and their activities, followers and following.
    User(Handle),
}

impl Topic {
    /// The lists that it has.
    pub const fn relations(&self) -> &'static [Relation] {
        match self {
            Self::Post(_) => &Relation::OF_A_POST,
            Self::User(_) => &Relation::OF_A_USER,
        }
    }
}

impl FromStr for Topic {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let topic = match input.split_once(':') {
            Some(("post", id)) => id.parse().ok().map(Self::Post),
            Some(("user", handle)) => handle.parse().ok().map(Self::User),
            _ => None,
        };
        topic.ok_or_else(|| Problem::invalid("topic", "A topic is post:{id} or user:{handle}."))
    }
}

impl TryFrom<String> for Topic {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<Topic> for String {
    fn from(topic: Topic) -> Self {
        topic.to_string()
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Post(id) => write!(f, "post:{id}"),
            Self::User(handle) => write!(f, "user:{handle}"),
        }
    }
}
