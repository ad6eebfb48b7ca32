use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Problem;

/// Control characters that a text of several lines may hold.
const LINES: [char; 3] = ['\n', '\r', '\t'];
/// Control characters that a single line may hold.
const ONE_LINE: [char; 0] = [];

/// Whether a character is visible: a text of white space and invisible marks alone counts as empty.
fn is_visible(c: char) -> bool {
    let is_mark = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !is_mark && !c.is_whitespace() && !c.is_control()
}

// The pattern expresses for programs what `from_str` checks, except for the length: the allowed control
// characters, and that something is visible.
macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $field:literal, $what:literal, $min:tt to $max:tt, $allowed:expr, $pattern:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[cfg_attr(
            feature = "openapi",
            schema(value_type = String, min_length = $min, max_length = $max, pattern = $pattern, examples($example))
        )]
        pub struct $name(String);

        impl $name {
            /// The longest text, in characters.
            pub const MAX: usize = $max;

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Problem;

            fn from_str(input: &str) -> Result<Self, Problem> {
                let text = input.trim();
                let length = text.chars().count();
                if $min > 0 && !text.chars().any(is_visible) {
                    return Err(Problem::invalid($field, concat!($what, " is empty: write something first.")));
                }
                if length > $max {
                    return Err(Problem::invalid(
                        $field,
                        format!(
                            concat!($what, " has at most {} characters; this one has {}."),
                            $max, length
                        ),
                    ));
                }
                if input.chars().any(|c| c.is_control() && !$allowed.contains(&c)) {
                    return Err(Problem::invalid(
                        $field,
                        concat!($what, " cannot contain control characters, such as NUL."),
                    ));
                }
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Problem;

            fn try_from(input: String) -> Result<Self, Problem> {
                input.parse()
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

bounded_text!(
    /// What a post says: 1 to 500 characters, surrounding white space dropped.
    PostText, "text", "A post", 1 to 500, LINES,
    r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$",
    "The weir is open. #hochwasser"
);
bounded_text!(
    /// What a comment says: 1 to 500 characters, surrounding white space dropped.
    CommentText, "text", "A comment", 1 to 500, LINES,
    r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$",
    "Since when?"
);
bounded_text!(
    /// What somebody reports: 1 to 500 characters, surrounding white space dropped.
    ReportText, "text", "A report", 1 to 500, LINES,
    r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$",
    "It is an advertisement."
);
bounded_text!(
    /// The name a person shows: 1 to 50 characters.
    DisplayName, "name", "A name", 1 to 50, ONE_LINE,
    r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff][^\x00-\x1f\x7f-\x9f]*$",
    "Ada Lovelace"
);
bounded_text!(
    /// A line about oneself: at most 160 characters, possibly none.
    Bio, "bio", "A bio", 0 to 160, ONE_LINE,
    r"^[^\x00-\x1f\x7f-\x9f]*$",
    "Numbers, mostly."
);

/// A password as typed: 8 to 200 characters, kept as it is. It has no `Display`, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The shortest password, in characters.
    pub const MIN: usize = 8;
    /// The longest password, in characters: bounds the work of hashing it.
    pub const MAX: usize = 200;

    /// The password itself, for hashing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Password {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let length = input.chars().count();
        if !(Self::MIN..=Self::MAX).contains(&length) {
            return Err(Problem::invalid(
                "password",
                format!(
                    "A password has {} to {} characters; this one has {length}.",
                    Self::MIN,
                    Self::MAX
                ),
            ));
        }
        Ok(Self(input.to_owned()))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_trimmed_and_counted_in_characters() {
        assert_eq!("  é \n".parse::<PostText>().unwrap().as_str(), "é");
        assert!("é".repeat(500).parse::<PostText>().is_ok());
        let problem = "é".repeat(501).parse::<PostText>().unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("text"));
        assert!(problem.message.contains("at most 500"), "{}", problem.message);
    }

    #[test]
    fn white_space_alone_is_an_empty_post() {
        for empty in [" \t\n", "\u{200b}", "\u{202e} \u{feff}"] {
            assert!(
                empty.parse::<PostText>().unwrap_err().message.contains("empty"),
                "{empty:?}"
            );
        }
    }

    #[test]
    fn lines_belong_into_posts_and_not_into_names() {
        assert!("one\ntwo".parse::<PostText>().is_ok());
        assert_eq!(
            "one\ntwo".parse::<DisplayName>().unwrap_err().field.as_deref(),
            Some("name")
        );
        for bad in ["nul\0", "\u{b}before", "after\u{85}"] {
            assert!(
                bad.parse::<PostText>().unwrap_err().message.contains("NUL"),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_password_does_not_leak_through_debug() {
        let password: Password = "correct horse".parse().unwrap();
        assert_eq!(format!("{password:?}"), "Password(…)");
    }
}
