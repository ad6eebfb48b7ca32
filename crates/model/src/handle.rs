use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Mark, Problem, marks};

/// A person's unique name, as in `/@ada`: 2 to 30 characters of `a–z`, `0–9`, `_` and `-`, starting with a letter
/// or digit. Upper case is folded, so `Ada` and `ada` are one person. It never changes and doubles as the identity
/// of the user document, which keeps every list readable to somebody who opens the database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[a-z0-9][a-z0-9_-]{1,29}$", examples("ada")))]
pub struct Handle(String);

impl Handle {
    /// The shortest handle, in characters.
    pub const MIN: usize = 2;
    /// The longest handle, in characters.
    pub const MAX: usize = 30;

    /// How many people one text tells that it mentions them.
    pub const MOST_MENTIONED: usize = 10;

    /// The handle without the `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The different people whom a text mentions, in order, up to the limit.
    pub fn mentioned_in(text: &str) -> Vec<Self> {
        let mut handles = Vec::new();
        // Few texts mention anybody, and every text of a page is looked at.
        if !text.contains('@') {
            return handles;
        }
        for (_, mark) in marks(text) {
            match mark {
                Mark::Mention(handle) if !handles.contains(&handle) => handles.push(handle),
                Mark::Mention(_) | Mark::Tag(_) | Mark::Address => {}
            }
        }
        handles.truncate(Self::MOST_MENTIONED);
        handles
    }
}

impl FromStr for Handle {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        // As they are stored.
        if is_handle(input) {
            return Ok(Self(input.to_owned()));
        }
        let handle = input.trim().trim_start_matches('@').to_ascii_lowercase();
        if is_handle(&handle) {
            return Ok(Self(handle));
        }
        let length = handle.chars().count();
        if (Self::MIN..=Self::MAX).contains(&length) {
            return Err(Problem::invalid(
                "handle",
                "A handle starts with a letter or digit and holds only letters a–z, digits, _ and -.",
            ));
        }
        Err(Problem::invalid(
            "handle",
            format!(
                "A handle has {} to {} characters; this one has {length}.",
                Self::MIN,
                Self::MAX
            ),
        ))
    }
}

fn is_handle(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (Handle::MIN..=Handle::MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| plain(byte) || byte == b'_' || byte == b'-')
        && text.bytes().next().is_some_and(plain)
}

impl TryFrom<String> for Handle {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<Handle> for String {
    fn from(handle: Handle) -> Self {
        handle.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_and_drops_the_at_sign() {
        assert_eq!("@Ada_L".parse::<Handle>().unwrap().as_str(), "ada_l");
    }

    #[test]
    fn a_text_mentions_people_once_each_and_ten_at_most() {
        let mentioned = |text: &str| {
            let handles = Handle::mentioned_in(text);
            handles.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(mentioned("@ada, see @Bob. and @ada's ada@cleo @"), ["ada", "bob"]);
        let many: Vec<String> = (10..30).map(|number| format!("@fan{number}")).collect();
        assert_eq!(mentioned(&many.join(" ")).len(), Handle::MOST_MENTIONED);
    }

    #[test]
    fn refuses_what_a_link_or_a_reader_would_stumble_over() {
        for bad in ["", "a", "_ada", "ada l", "ada/l", "äda", "a".repeat(31).as_str()] {
            let problem = bad.parse::<Handle>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("handle"), "{bad:?}");
        }
    }
}
