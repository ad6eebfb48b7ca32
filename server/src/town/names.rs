//! People's names and handles.

use std::collections::HashSet;

use super::dice::Dice;
use super::words::Book;

/// Assigns names and handles, each handle once.
pub(super) struct Register {
    families: Vec<Family>,
    first_names: Vec<&'static str>,
    surnames: Vec<&'static str>,
    words: Vec<&'static str>,
    names: HashSet<String>,
    handles: HashSet<String>,
}

/// Names that often go together.
struct Family {
    first_names: Vec<&'static str>,
    surnames: Vec<&'static str>,
}

/// How many names or handles to consider before choosing a plainer one.
const TRIES: usize = 12;

impl Register {
    pub(super) fn new() -> Self {
        let book = Book::parse(include_str!("words/names.txt"));
        let families: Vec<Family> = book
            .sections()
            .map(|(_, lines)| {
                let line = |number: usize| lines.get(number).map_or("", |line| *line);
                Family {
                    first_names: line(0).split_whitespace().collect(),
                    surnames: line(1).split_whitespace().collect(),
                }
            })
            .collect();
        Self {
            first_names: families
                .iter()
                .flat_map(|family| family.first_names.clone())
                .collect(),
            surnames: families
                .iter()
                .flat_map(|family| family.surnames.clone())
                .collect(),
            families,
            words: include_str!("words/nicknames.txt").split_whitespace().collect(),
            names: HashSet::new(),
            handles: HashSet::new(),
        }
    }

    /// All first names.
    pub(super) fn first_names(&self) -> &[&'static str] {
        &self.first_names
    }

    /// Reserves a handle.
    pub(super) fn reserve(&mut self, name: &str, handle: &str) {
        self.names.insert(name.to_owned());
        self.handles.insert(handle.to_owned());
    }

    /// A name and a handle for a new person. Most names come from one part of the world; sometimes they combine
    /// two. Nobody shares a name until the names run out.
    pub(super) fn somebody(&mut self, dice: &mut Dice) -> (String, String) {
        let (mut first, mut last) = self.name(dice);
        for _ in 0..TRIES {
            if !self.names.contains(&format!("{first} {last}")) {
                break;
            }
            (first, last) = (dice.word(&self.first_names), dice.word(&self.surnames));
        }
        let name = format!("{first} {last}");
        self.names.insert(name.clone());
        (name, self.handle(first, last, dice))
    }

    fn name(&self, dice: &mut Dice) -> (&'static str, &'static str) {
        let family = dice.pick(&self.families).filter(|_| dice.percent(65));
        match family {
            Some(family) => (dice.word(&family.first_names), dice.word(&family.surnames)),
            None => (dice.word(&self.first_names), dice.word(&self.surnames)),
        }
    }

    fn handle(&mut self, first: &str, last: &str, dice: &mut Dice) -> String {
        let (first, last) = (plain(first), plain(last));
        for attempt in 0.. {
            let (word, other) = (dice.word(&self.words), dice.word(&self.words));
            let handle = if attempt < TRIES {
                invent(&first, &last, word, dice)
            } else if attempt < 2 * TRIES {
                format!("{first}-{word}-{other}")
            } else {
                format!("{word}-{other}-{}", letters(self.handles.len()))
            };
            if handle.len() <= model::Handle::MAX && self.handles.insert(handle.clone()) {
                return handle;
            }
        }
        first
    }
}

/// One of the ways in which people turn their name into a handle.
fn invent(first: &str, last: &str, word: &str, dice: &mut Dice) -> String {
    let initial = |name: &str| name.get(..1).unwrap_or_default().to_owned();
    match dice.below(16) {
        0 => first.to_owned(),
        1 | 2 => format!("{first}_{last}"),
        3 | 4 => format!("{first}{last}"),
        5 => format!("{first}-{last}"),
        6 => format!("{}{last}", initial(first)),
        7 => format!("{first}_{}", initial(last)),
        8 => format!("{last}_{first}"),
        9 | 10 => format!("{first}_{word}"),
        11 => format!("{word}{first}"),
        12 => format!("{word}_{last}"),
        13 => format!("{first}-of-the-{word}"),
        14 => format!("{}_{last}", initial(first)),
        _ => format!("{first}and{word}"),
    }
}

/// A number in letters: never a digit, so that nobody looks like a row of a table.
fn letters(mut number: usize) -> String {
    let mut text = String::new();
    while number > 0 || text.is_empty() {
        text.push(char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()));
        number /= 26;
    }
    text
}

/// A name in the letters of a handle.
fn plain(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .filter_map(|letter| match letter {
            'a'..='z' => Some(letter),
            'á' | 'à' | 'ã' | 'ä' | 'å' | 'ą' => Some('a'),
            'ç' | 'č' | 'ć' => Some('c'),
            'é' | 'è' | 'ë' | 'ę' | 'æ' => Some('e'),
            'ğ' => Some('g'),
            'í' | 'ı' | 'î' => Some('i'),
            'ł' => Some('l'),
            'ñ' | 'ń' => Some('n'),
            'ó' | 'ò' | 'ö' | 'ø' | 'ő' | 'ô' => Some('o'),
            'ř' => Some('r'),
            'ş' | 'š' | 'ś' => Some('s'),
            'ú' | 'ü' | 'ű' | 'û' => Some('u'),
            'ý' => Some('y'),
            'ž' | 'ż' | 'ź' => Some('z'),
            'đ' => Some('d'),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::town::dice::Stream;

    #[test]
    fn every_letter_of_a_name_finds_its_way_into_the_handle() {
        let register = Register::new();
        for name in register.first_names.iter().chain(&register.surnames) {
            let letters = name.chars().filter(|letter| letter.is_alphabetic()).count();
            assert_eq!(plain(name).len(), letters, "{name}");
        }
    }

    #[test]
    fn many_cultures_have_both_kinds_of_names_and_none_twice() {
        let register = Register::new();
        assert!(register.families.len() >= 12);
        for list in [&register.first_names, &register.surnames] {
            assert!(list.len() >= 120);
            assert_eq!(list.iter().collect::<HashSet<_>>().len(), list.len());
        }
    }

    #[test]
    fn a_hundred_thousand_people_get_a_handle_each() {
        let mut register = Register::new();
        let mut dice = Dice::new(1, Stream::People);
        for _ in 0..100_000 {
            let (_, handle) = register.somebody(&mut dice);
            assert!(handle.parse::<model::Handle>().is_ok(), "{handle}");
            assert!(!handle.contains(|c: char| c.is_ascii_digit()), "{handle}");
        }
        assert_eq!(register.handles.len(), 100_000);
    }
}
