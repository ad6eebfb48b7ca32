//! A line as it is read, character by character.

use crate::error::{Error, Result};

/// How deep values may be nested: as deep as the server takes.
const DEEPEST: usize = 100;

/// A place in a line.
pub(crate) struct Text {
    letters: Vec<char>,
    at: usize,
    depth: usize,
}

impl Text {
    pub(crate) fn new(line: &str) -> Self {
        Self {
            letters: line.chars().collect(),
            at: 0,
            depth: 0,
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next character, comments included.
    pub(crate) fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn follows(&self, word: &str) -> bool {
        word.chars()
            .enumerate()
            .all(|(place, letter)| self.letters.get(self.at + place) == Some(&letter))
    }

    /// Skips white space and comments.
    pub(crate) fn skip(&mut self) -> Result<()> {
        loop {
            while self
                .peek()
                .is_some_and(|letter| letter.is_whitespace() || letter == '\u{feff}')
            {
                self.at += 1;
            }
            if self.follows("//") {
                while self.peek().is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            } else if self.follows("/*") {
                let begun = self.at;
                self.at += 2;
                while !self.follows("*/") {
                    if self.next().is_none() {
                        return Err(Error::syntax(begun, "This comment has no end: */ is missing."));
                    }
                }
                self.at += 2;
            } else {
                return Ok(());
            }
        }
    }

    /// The next character after white space.
    pub(crate) fn ahead(&mut self) -> Result<Option<char>> {
        self.skip()?;
        Ok(self.peek())
    }

    /// Reads this character if it comes next.
    pub(crate) fn takes(&mut self, letter: char) -> Result<bool> {
        let comes = self.ahead()? == Some(letter);
        if comes {
            self.at += 1;
        }
        Ok(comes)
    }

    /// Reads this character; anything else is an error.
    pub(crate) fn expect(&mut self, letter: char) -> Result<()> {
        if self.takes(letter)? {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{letter}`")))
    }

    /// The error for what comes next instead of something else.
    pub(crate) fn unexpected(&self, instead_of: &str) -> Error {
        let message = match self.peek() {
            Some(found) => format!("Unexpected `{found}` where {instead_of} was expected."),
            None => format!("The line ends where {instead_of} was expected."),
        };
        Error::syntax(self.at, message)
    }

    /// A JavaScript name that comes next: letters, digits, `_` and `$`.
    pub(crate) fn name(&mut self) -> Result<Option<String>> {
        let begins = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
        if !self.ahead()?.is_some_and(begins) {
            return Ok(None);
        }
        let mut name = String::new();
        while let Some(letter) = self
            .peek()
            .filter(|letter| begins(*letter) || letter.is_numeric())
        {
            name.push(letter);
            self.at += 1;
        }
        Ok(Some(name))
    }

    /// The characters up to the next white space or `;`.
    pub(crate) fn word(&mut self) -> Result<String> {
        self.skip()?;
        let mut word = String::new();
        while let Some(letter) = self
            .peek()
            .filter(|letter| !letter.is_whitespace() && *letter != ';')
        {
            word.push(letter);
            self.at += 1;
        }
        Ok(word)
    }

    /// Reads something nested, unless it is too deep.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            let message = format!("Documents and arrays are nested at most {DEEPEST} deep.");
            return Err(Error::syntax(self.at, message));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
