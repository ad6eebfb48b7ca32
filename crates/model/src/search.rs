//! The words by which posts and people are found.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use unicode_ident::is_xid_continue;

use crate::{DisplayName, Handle, Mark, Problem, Tag, marks};

/// How many characters of a word count.
const LONGEST: usize = 50;

/// The words of a text as search compares them, each with its place in the text: runs of letters, digits, marks and
/// `_`, in lower case.
pub fn words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut end = 0;
    text.split_inclusive(|c| !is_xid_continue(c))
        .filter_map(move |piece| {
            let start = end;
            end += piece.len();
            let word = piece.trim_end_matches(|c| !is_xid_continue(c));
            let folded = word.to_lowercase().chars().take(LONGEST).collect();
            let is_word = word.chars().any(char::is_alphanumeric);
            is_word.then(|| (start..start + word.len(), folded))
        })
}

/// The different words that a post is found by, the tags first, with their `#`.
pub fn words_of_a_post(text: &str) -> Vec<String> {
    different(tags_and_words(text))
}

fn tags_and_words(text: &str) -> impl Iterator<Item = String> {
    let tags = Tag::all_of(text).into_iter().map(|tag| format!("#{tag}"));
    tags.chain(words(text).map(|(_, word)| word))
}

/// The different words that a person is found by the beginning of: the handle, its parts, and those of the name.
pub fn words_of_a_person(handle: &Handle, name: &DisplayName) -> Vec<String> {
    let parts = words(handle.as_str()).chain(words(name.as_str()));
    different(std::iter::once(handle.to_string()).chain(parts.map(|(_, word)| word)))
}

fn different(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.filter(|word| seen.insert(word.clone())).collect()
}

/// What somebody searches for: up to 100 characters, of which the first eight different words count. A word that
/// begins with `#` is a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    text: String,
    words: Vec<String>,
}

impl Search {
    /// The longest text, in characters.
    pub const MAX: usize = 100;
    /// How many words count.
    pub const MOST_WORDS: usize = 8;

    /// The words that all have to be found. There may be none in the text.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The longest word.
    pub fn longest(&self) -> Option<&str> {
        let longest = self.words.iter().rev().max_by_key(|word| word.chars().count());
        longest.map(String::as_str)
    }

    /// Whether a post has all the words.
    pub fn finds_post(&self, text: &str) -> bool {
        let mut missing: Vec<&String> = self.words.iter().collect();
        missing.is_empty()
            || tags_and_words(text).any(|word| {
                missing.retain(|wanted| **wanted != word);
                missing.is_empty()
            })
    }

    /// Whether each word is the beginning of one of a person's.
    pub fn finds_person(&self, handle: &Handle, name: &DisplayName) -> bool {
        let words = words_of_a_person(handle, name);
        let begins = |part: &str| words.iter().any(|word| word.starts_with(part));
        self.words.iter().all(|word| begins(word.trim_start_matches('#')))
    }
}

impl FromStr for Search {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text.is_empty() || text.chars().count() > Self::MAX {
            let most = Self::MAX;
            return Err(Problem::invalid(
                "q",
                format!("Search for a word, a #tag or a name, with at most {most} characters."),
            ));
        }
        let (mut found, mut rest) = (Vec::new(), 0);
        let plain = |part: &str| words(part).map(|(_, word)| word).collect::<Vec<_>>();
        for (place, mark) in marks(text) {
            if let Mark::Tag(tag) = mark {
                found.extend(plain(&text[rest..place.start]));
                found.push(format!("#{tag}"));
                rest = place.end;
            }
        }
        found.extend(plain(&text[rest..]));
        let mut words = different(found.into_iter());
        words.truncate(Self::MOST_WORDS);
        Ok(Self {
            text: text.to_owned(),
            words,
        })
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(text: &str) -> Search {
        text.parse().unwrap()
    }

    #[test]
    fn words_are_folded_and_have_their_places() {
        let text = "Ünder the #Weir, 2 ferry-geese… नमस्ते!";
        let found: Vec<_> = words(text).map(|(place, word)| (&text[place], word)).collect();
        let expected = [
            ("Ünder", "ünder"),
            ("the", "the"),
            ("Weir", "weir"),
            ("2", "2"),
            ("ferry", "ferry"),
            ("geese", "geese"),
            ("नमस्ते", "नमस्ते"),
        ];
        assert_eq!(found, expected.map(|(typed, word)| (typed, word.to_owned())));
        assert_eq!(words("_ … \u{200b}").count(), 0);
        assert_eq!(words(&"é".repeat(60)).next().unwrap().1, "é".repeat(50));
    }

    #[test]
    fn a_post_is_found_by_all_of_its_words_and_tags() {
        let text = "The #weir is open, says the keeper";
        assert_eq!(
            words_of_a_post(text),
            ["#weir", "the", "weir", "is", "open", "says", "keeper"]
        );
        for (typed, found) in [
            ("weir", true),
            ("#Weir", true),
            ("OPEN, the", true),
            ("#open", false),
            ("the river", false),
            ("kee", false),
        ] {
            assert_eq!(search(typed).finds_post(text), found, "{typed}");
        }
    }

    #[test]
    fn a_person_is_found_by_beginnings_of_handle_and_name() {
        let (handle, name) = (
            "the-weir_keeper".parse().unwrap(),
            "Ada Lovelace".parse().unwrap(),
        );
        for (typed, found) in [
            ("@the-weir", true),
            ("weir", true),
            ("love ad", true),
            ("keeper", false),
            ("lace", false),
            ("ada bob", false),
        ] {
            assert_eq!(search(typed).finds_person(&handle, &name), found, "{typed}");
        }
    }

    #[test]
    fn a_search_has_a_few_words() {
        assert_eq!(search("the ferry goose").longest(), Some("ferry"));
        assert_eq!(search("#?! …").longest(), None);
        assert_eq!(search("1 2 3 4 5 6 7 8 9").words().len(), 8);
        for unusable in ["", &"x".repeat(101)] {
            let problem = unusable.parse::<Search>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("q"));
        }
    }
}
