use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_ident::is_xid_continue;

use crate::{Mark, Problem, marks};

/// The topic of a post, as in `#weir`: 1 to 50 letters, digits, marks and `_` of any script, at least one of them
/// a letter. Case is folded, so `#Weir` and `#weir` are one tag. These are the hashtags of Unicode's annex 31
/// without emoji.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

impl Tag {
    /// The longest tag, in characters.
    pub const MAX: usize = 50;
    /// How many tags of one post count. Further ones are ordinary text.
    pub const MOST: usize = 8;

    /// The tag without the `#`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The different tags of a text, in order, up to the limit.
    pub fn all_of(text: &str) -> Vec<Self> {
        let mut tags = Vec::new();
        for (_, mark) in marks(text) {
            match mark {
                Mark::Tag(tag) if !tags.contains(&tag) => tags.push(tag),
                Mark::Mention(_) | Mark::Tag(_) | Mark::Address => {}
            }
        }
        tags.truncate(Self::MOST);
        tags
    }
}

impl FromStr for Tag {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let tag = input.trim_start_matches('#').to_lowercase();
        let fits = (1..=Self::MAX).contains(&tag.chars().count())
            && tag.chars().all(is_xid_continue)
            && tag.chars().any(char::is_alphabetic);
        if fits {
            Ok(Self(tag))
        } else {
            Err(Problem::invalid(
                "tag",
                format!(
                    "A tag has 1 to {} letters, digits and _, and at least one letter.",
                    Self::MAX
                ),
            ))
        }
    }
}

impl TryFrom<String> for Tag {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Vec<String> {
        Tag::all_of(text).into_iter().map(String::from).collect()
    }

    #[test]
    fn tags_are_of_any_script_folded_and_told_once() {
        assert_eq!(
            tags("At the #Weir, with #weir\n#Hochwasser! #नमस्ते #水位_2"),
            ["weir", "hochwasser", "नमस्ते", "水位_2"]
        );
    }

    #[test]
    fn numbers_and_signs_alone_are_no_tags() {
        assert_eq!(tags("#1 # ## #- a#b C# #!"), [""; 0]);
        assert!(tags(&format!("#{}", "x".repeat(51))).is_empty());
        assert_eq!(tags(&format!("#{}", "x".repeat(50))).len(), 1);
    }

    #[test]
    fn eight_tags_of_a_post_count() {
        let text: Vec<String> = (0..12).map(|number| format!("#tag{number}")).collect();
        assert_eq!(tags(&text.join(" ")).len(), 8);
    }
}
