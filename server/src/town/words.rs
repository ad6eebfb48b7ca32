//! The town's words, and the small grammar that makes more of them.
//!
//! A word file holds one text per line under headings `== name`. In a text, `[a|b]` stands for one of the
//! alternatives, `{street}` for one of the words of that slot
//! (the same throughout the text; `{other street}` for another), and `{at}` for the mention of somebody. Nothing else
//! is special; alternatives may hold slots but not alternatives.

use std::collections::BTreeMap;

use super::dice::Dice;

/// A word file: texts by heading, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Book {
    sections: Vec<(&'static str, Vec<&'static str>)>,
}

impl Book {
    pub(super) fn parse(file: &'static str) -> Self {
        let mut book = Self::default();
        for line in file.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(heading) = line.strip_prefix("== ") {
                book.sections.push((heading, Vec::new()));
            } else if let Some((_, texts)) = book.sections.last_mut() {
                texts.push(line);
            }
        }
        book
    }

    /// The texts under a heading; none under one that is not there.
    pub(super) fn section(&self, heading: &str) -> &[&'static str] {
        self.sections
            .iter()
            .find(|(name, _)| *name == heading)
            .map_or(&[], |(_, texts)| texts)
    }

    /// All headings and their texts.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&'static str, &[&'static str])> {
        self.sections
            .iter()
            .map(|(heading, texts)| (*heading, texts.as_slice()))
    }
}

/// The words that fill slots.
pub(super) struct Slots(BTreeMap<&'static str, Vec<&'static str>>);

impl Slots {
    /// The town's slots, and `{first}`: anybody's first name.
    pub(super) fn new(first_names: Vec<&'static str>) -> Self {
        let lines = include_str!("words/slots.txt").lines();
        let mut slots: BTreeMap<_, _> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, words)| (name, words.split('|').map(str::trim).collect()))
            .collect();
        slots.insert("first", first_names);
        Self(slots)
    }

    /// One of the texts that a template stands for. `mention` is the handle for `{at}`.
    pub(super) fn fill(&self, template: &str, mention: &str, dice: &mut Dice) -> String {
        let mut text = String::with_capacity(template.len());
        self.expand(template, mention, dice, &mut BTreeMap::new(), &mut text);
        capitalise(&with_their_plurals(text))
    }

    fn expand(
        &self,
        template: &str,
        mention: &str,
        dice: &mut Dice,
        said: &mut BTreeMap<&'static str, &'static str>,
        text: &mut String,
    ) {
        let mut rest = template;
        while let Some(start) = rest.find(['[', '{']) {
            text.push_str(&rest[..start]);
            let bracketed = &rest[start + 1..];
            let (close, alternatives) = if rest[start..].starts_with('[') {
                (']', true)
            } else {
                ('}', false)
            };
            let (inside, after) = bracketed.split_once(close).unwrap_or((bracketed, ""));
            if alternatives {
                let options: Vec<&str> = inside.split('|').collect();
                if let Some(option) = dice.pick(&options) {
                    self.expand(option, mention, dice, said, text);
                }
            } else if inside == "at" {
                text.push('@');
                text.push_str(mention);
            } else {
                append_word(text, self.word(inside, dice, said));
            }
            rest = after;
        }
        text.push_str(rest);
    }
}

impl Slots {
    /// A slot keeps its word throughout a text; `{other street}` is a different word.
    fn word(
        &self,
        slot: &str,
        dice: &mut Dice,
        said: &mut BTreeMap<&'static str, &'static str>,
    ) -> &'static str {
        let (slot, other) = slot
            .strip_prefix("other ")
            .map_or((slot, false), |slot| (slot, true));
        let Some((name, words)) = self.0.get_key_value(slot) else {
            return "";
        };
        match said.get(name).copied() {
            Some(word) if !other => word,
            Some(word) => {
                let others: Vec<&'static str> =
                    words.iter().copied().filter(|other| *other != word).collect();
                dice.word(&others)
            }
            None => {
                let word = dice.word(words);
                said.insert(name, word);
                word
            }
        }
    }
}

/// Words that fill a slot before an `s` and have an irregular plural.
const PLURALS: [(&str, &str); 4] = [
    ("father-in-laws", "fathers-in-law"),
    ("landladys", "landladies"),
    ("loafs", "loaves"),
    ("tabbys", "tabbies"),
];

fn with_their_plurals(text: String) -> String {
    PLURALS
        .iter()
        .fold(text, |text, (wrong, right)| text.replace(wrong, right))
}

/// Adds a word, making "a" before a vowel "an".
fn append_word(text: &mut String, word: &str) {
    let article =
        ["a ", "A "].into_iter().any(|a| text == a) || text.ends_with(" a ") || text.ends_with(" A ");
    if article && word.starts_with(['a', 'e', 'i', 'o', 'u']) {
        text.pop();
        text.push_str("n ");
    }
    text.push_str(word);
}

/// Begins every sentence with a capital letter; a handle keeps its own.
fn capitalise(text: &str) -> String {
    let mut begins = true;
    let mut ended = false;
    text.chars()
        .map(|letter| {
            if ended && letter == ' ' {
                begins = true;
            }
            ended = matches!(letter, '.' | '?' | '!') || (ended && letter == '"');
            if letter.is_whitespace() || (letter == '"' && begins) {
                return letter;
            }
            let first = std::mem::take(&mut begins);
            if first {
                letter.to_uppercase().next().unwrap_or(letter)
            } else {
                letter
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::town::dice::Stream;

    fn fill(template: &str) -> String {
        let slots = Slots(BTreeMap::from([
            ("cake", vec!["apple turnover"]),
            ("water", vec!["loud at the weir"]),
        ]));
        slots.fill(template, "win", &mut Dice::new(1, Stream::Posts))
    }

    #[test]
    fn slots_alternatives_and_mentions_are_filled() {
        assert_eq!(
            fill("[The {cake}|The {cake}] is back, {at}."),
            "The apple turnover is back, @win."
        );
    }

    #[test]
    fn a_vowel_makes_the_article_an() {
        assert_eq!(fill("Bought a {cake}."), "Bought an apple turnover.");
        assert_eq!(
            fill("A {cake}, today's {cake}."),
            "An apple turnover, today's apple turnover."
        );
    }

    #[test]
    fn every_word_that_stands_in_the_plural_has_one() {
        let files = [
            include_str!("words/posts.txt"),
            include_str!("words/comments.txt"),
            include_str!("words/grammar.txt"),
            include_str!("words/viral.txt"),
            include_str!("words/bios.txt"),
        ];
        let slots = Slots::new(Vec::new());
        let mut plurals = Vec::new();
        for (name, words) in &slots.0 {
            let slot = format!("{{{name}}}s");
            let in_the_plural = files.iter().flat_map(|file| file.match_indices(&slot)).count();
            if in_the_plural > 0 {
                plurals.extend(words.iter().map(|word| with_their_plurals(format!("{word}s"))));
            }
        }
        assert!(plurals.iter().any(|word| word == "fathers-in-law"), "{plurals:?}");
        let wrong = |word: &&String| {
            ["laws", "dys", "bys", "fs", "ss", "xs"]
                .iter()
                .any(|end| word.ends_with(end))
        };
        assert_eq!(plurals.iter().find(wrong), None);
    }

    #[test]
    fn a_slot_keeps_its_word_and_another_one_differs() {
        let slots = Slots(BTreeMap::from([("pet", vec!["collie", "lurcher", "tabby"])]));
        let mut dice = Dice::new(1, Stream::Posts);
        for _ in 0..50 {
            let text = slots
                .fill("{pet} {pet} {other pet}", "win", &mut dice)
                .to_lowercase();
            let words: Vec<&str> = text.split(' ').collect();
            assert!(words[0] == words[1] && words[1] != words[2], "{text}");
        }
    }

    #[test]
    fn sentences_begin_with_a_capital_but_handles_stay() {
        assert_eq!(
            fill("{water}. {at} sings. {water}!"),
            "Loud at the weir. @win sings. Loud at the weir!"
        );
    }

    #[test]
    fn a_book_keeps_its_texts_under_their_headings() {
        let book = Book::parse("== one\na\n\n== two\nb\nc\n");
        assert_eq!(book.section("two"), ["b", "c"]);
        assert!(book.section("three").is_empty());
    }
}
