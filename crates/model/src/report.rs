use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Handle, ItemId, PostId, Problem, ReportText, Timestamp};

/// What a report is about: `user:{handle}`, `post:{id}` or `comment:{id of the post}:{id}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ReportTarget {
    /// A person.
    User(Handle),
    /// A post.
    Post(PostId),
    /// A comment, and the post that it is on.
    Comment(PostId, ItemId),
}

impl ReportTarget {
    /// What it is, as people call it.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::User(_) => "person",
            Self::Post(_) => "post",
            Self::Comment(..) => "comment",
        }
    }

    /// The path of the page that shows it.
    pub fn page(&self) -> String {
        match self {
            Self::User(handle) => format!("/@{handle}"),
            Self::Post(post) => format!("/post/{post}"),
            Self::Comment(post, comment) => format!("/post/{post}#comment-{comment}"),
        }
    }
}

impl FromStr for ReportTarget {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let target = match input.split_once(':') {
            Some(("user", handle)) => handle.parse().ok().map(Self::User),
            Some(("post", id)) => id.parse().ok().map(Self::Post),
            Some(("comment", ids)) => ids
                .split_once(':')
                .and_then(|(post, id)| Some(Self::Comment(post.parse().ok()?, id.parse().ok()?))),
            _ => None,
        };
        target.ok_or_else(|| {
            Problem::invalid(
                "target",
                "A report is about user:{handle}, post:{id} or comment:{id of the post}:{id}.",
            )
        })
    }
}

impl TryFrom<String> for ReportTarget {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<ReportTarget> for String {
    fn from(target: ReportTarget) -> Self {
        target.to_string()
    }
}

impl fmt::Display for ReportTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(handle) => write!(f, "user:{handle}"),
            Self::Post(id) => write!(f, "post:{id}"),
            Self::Comment(post, id) => write!(f, "comment:{post}:{id}"),
        }
    }
}

/// What somebody reported to the people who run the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Report {
    /// What it is about: `user:{handle}`, `post:{id}` or `comment:{id of the post}:{id}`.
    #[cfg_attr(feature = "openapi", schema(value_type = String, examples("post:0198c0de-7000-8000-a1b2-c3d4e5f60718")))]
    pub target: ReportTarget,
    /// What is wrong with it.
    pub text: ReportText,
    /// When it was sent.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_written_as_it_is_read() {
        let id = "0198c0de-7000-8000-a1b2-c3d4e5f60718";
        for written in [
            "user:ada".to_owned(),
            format!("post:{id}"),
            format!("comment:{id}:{id}"),
        ] {
            assert_eq!(written.parse::<ReportTarget>().unwrap().to_string(), written);
        }
        for other in [
            "",
            "ada",
            "user:",
            "post:ada",
            "tag:weir",
            "comment:",
            &format!("comment:{id}"),
        ] {
            assert_eq!(
                other.parse::<ReportTarget>().unwrap_err().field.as_deref(),
                Some("target"),
                "{other}"
            );
        }
    }
}
