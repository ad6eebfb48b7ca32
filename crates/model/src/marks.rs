//! The parts of a text that mean something: mentions, tags and web addresses.

use std::ops::Range;

use unicode_ident::is_xid_continue;

use crate::{Handle, Tag};

/// What a part of a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// `@ada`, whether or not somebody has this handle.
    Mention(Handle),
    /// `#weir`.
    Tag(Tag),
    /// An address that begins with `http://` or `https://`.
    Address,
}

/// The marks of a text with their places, in order. A mention or a tag begins the text or follows a sign or white space,
/// so `ada@example.org` is neither; nor is the handle of another server, as in `@ada@example.org`, or a part of an address.
pub fn marks(text: &str) -> Vec<(Range<usize>, Mark)> {
    let mut marks = Vec::new();
    let (mut before, mut end) = (None, 0);
    for (start, c) in text.char_indices() {
        let may_begin = start >= end && before.is_none_or(may_precede);
        if may_begin && let Some((length, mark)) = mark(&text[start..]) {
            end = start + length;
            marks.push((start..end, mark));
        }
        before = Some(c);
    }
    marks
}

fn may_precede(c: char) -> bool {
    // Emoji end in some of these.
    let is_selector = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{200c}' | '\u{200d}');
    is_selector || !is_xid_continue(c) && !"@#/&=".contains(c)
}

/// The mark that a text begins with, and its length in bytes.
fn mark(text: &str) -> Option<(usize, Mark)> {
    if let Some(name) = text.strip_prefix('@') {
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        let (name, rest) = name.split_at(end.unwrap_or(name.len()));
        let is_local = !rest.starts_with('@');
        return is_local.then_some((1 + name.len(), Mark::Mention(name.parse().ok()?)));
    }
    if let Some(name) = text.strip_prefix('#') {
        let end = name.find(|c| !is_xid_continue(c)).unwrap_or(name.len());
        return Some((1 + end, Mark::Tag(name[..end].parse().ok()?)));
    }
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))?;
    if !host.starts_with(char::is_alphanumeric) {
        return None;
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let address = text[..end].trim_end_matches(|c| ".,;:!?)'\"".contains(c));
    Some((address.len(), Mark::Address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<&str> {
        marks(text).into_iter().map(|(place, _)| &text[place]).collect()
    }

    #[test]
    fn a_mark_may_follow_any_sign_but_no_letter() {
        for text in [
            "@ada",
            "(@ada)",
            "\"@ada\"",
            "“@ada”",
            ".@ada",
            "hi,@ada",
            "-@ada",
            "hi\n@ada's",
            "¿@ada?",
            "❤\u{fe0f}@ada",
            "🎉@ada",
        ] {
            assert_eq!(marked(text), ["@ada"], "{text}");
        }
        assert_eq!(marked("(#Weir, \"#नमस्ते\")"), ["#Weir", "#नमस्ते"]);
        assert_eq!(
            marked("(https://example.org/a?b=c)."),
            ["https://example.org/a?b=c"]
        );
    }

    #[test]
    fn addresses_of_mail_and_of_other_servers_are_no_marks() {
        for text in [
            "ada@example.org",
            "@ada@example.org",
            "@@ada",
            "a#weir",
            "&#x27;",
            "example.org/@ada",
            "ä@ada",
            "@",
        ] {
            assert_eq!(marked(text), [""; 0], "{text}");
        }
        assert_eq!(
            marked("https://example.org/(@ada)#weir @bob"),
            ["https://example.org/(@ada)#weir", "@bob"]
        );
    }
}
