//! Regular expressions, as MongoDB's filters have them.
//!
//! MongoDB uses PCRE's syntax. The regex crate takes linear time for every pattern, and so has no look-around and no
//! back-references. A pattern is translated, so that everything it accepts means what it means to MongoDB: `\d`, `\w`,
//! `\s` and `\b` are about ASCII, `$` also matches before a last line break, and a bracket in a class is literal. What
//! cannot be translated is refused by name.

use std::iter::Peekable;
use std::str::Chars;

use bson::RawBsonRef;
use regex::bytes::{Regex, RegexBuilder};

use document::{Error, Result};

/// The longest pattern, in bytes, as in MongoDB.
const LONGEST: usize = 32_764;

const DIGITS: &str = "0-9";
const WORDS: &str = "0-9A-Za-z_";
const SPACES: &str = r"\t\n\x0B\x0C\r\x20";
/// The translation of `$` and `\Z` outside multi-line mode.
const END: &str = r"(?:\n?\z)";

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: String,
    options: String,
    compiled: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.options == other.options
    }
}

impl Pattern {
    /// Compiles a pattern with the options `i`, `m`, `s` and `x`.
    pub(super) fn parse(source: &str, options: &str) -> Result<Self> {
        if let Some(unknown) = options.chars().find(|option| !"imsxu".contains(*option)) {
            let message = format!("invalid flag in regex options: {unknown}");
            return Err(Error::refused(51108, message));
        }
        if source.contains('\0') {
            let message = "Regular expression cannot contain an embedded null byte";
            return Err(Error::refused(51109, message));
        }
        if source.len() > LONGEST {
            let message = "Regular expression is invalid: regular expression is too large";
            return Err(Error::refused(51091, message));
        }
        let has = |option| options.contains(option);
        let translation = Translation {
            rest: source.chars().peekable(),
            pattern: String::with_capacity(source.len() + 8),
            lines: has('m'),
            spaced: has('x'),
        };
        let compiled = RegexBuilder::new(&translation.run()?)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .build()
            .map_err(|error| Error::refused(51091, format!("Regular expression is invalid: {error}")))?;
        Ok(Self {
            source: source.to_owned(),
            options: options.to_owned(),
            compiled,
        })
    }

    /// Whether a value is a string in which the pattern is found, or the same regular expression.
    pub(super) fn accepts(&self, value: RawBsonRef<'_>) -> bool {
        match value {
            RawBsonRef::String(text) => self.compiled.is_match(text.as_bytes()),
            RawBsonRef::RegularExpression(regex) => {
                regex.pattern.as_str() == self.source && regex.options.as_str() == self.options
            }
            _ => false,
        }
    }
}

/// A pattern that is being translated into the regex crate's syntax.
struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    pattern: String,
    /// Whether `$` also matches at the end of every line.
    lines: bool,
    /// Whether white space and comments are ignored outside of classes.
    spaced: bool,
}

fn unsupported(what: &str) -> Error {
    Error::refused(
        2,
        format!("{what} in a regular expression: not supported by this engine"),
    )
}

impl Translation<'_> {
    fn run(mut self) -> Result<String> {
        while let Some(next) = self.rest.next() {
            match next {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '$' if self.lines => self.pattern.push('$'),
                '$' => self.end("$")?,
                '*' | '+' | '?' => self.quantifier(&next.to_string())?,
                '{' => match self.count() {
                    Some(count) => self.quantifier(&count)?,
                    None => self.pattern.push_str(r"\{"),
                },
                '#' if self.spaced => while self.rest.next().is_some_and(|skipped| skipped != '\n') {},
                space if self.spaced && space.is_ascii_whitespace() => {}
                '}' | ']' => self.literal(next),
                _ => self.pattern.push(next),
            }
        }
        Ok(self.pattern)
    }

    fn literal(&mut self, letter: char) {
        self.pattern
            .push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
    }

    /// The end, before which there may be a line break. Only another branch of the pattern can follow.
    fn end(&mut self, what: &str) -> Result<()> {
        if !matches!(self.rest.peek(), None | Some('|' | ')')) {
            return Err(unsupported(&format!("more after {what}")));
        }
        self.pattern.push_str(END);
        Ok(())
    }

    /// `{n}`, `{n,}` or `{n,m}` after its bracket; anything else is not a quantifier.
    fn count(&mut self) -> Option<String> {
        let mut ahead = self.rest.clone();
        let inside: String = ahead.by_ref().take_while(|letter| *letter != '}').collect();
        let closed = self.rest.clone().nth(inside.chars().count()) == Some('}');
        let (least, most) = inside.split_once(',').unwrap_or((&inside, "0"));
        let number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let valid = closed && !least.is_empty() && number(least) && number(most);
        valid.then(|| {
            self.rest = ahead;
            format!("{{{inside}}}")
        })
    }

    fn quantifier(&mut self, quantifier: &str) -> Result<()> {
        self.pattern.push_str(quantifier);
        if self.rest.peek() == Some(&'?') {
            self.rest.next();
            self.pattern.push('?');
        }
        match self.rest.peek() {
            Some('+') => Err(unsupported("a possessive quantifier")),
            Some('*' | '?') => Err(Error::refused(
                51091,
                "Regular expression is invalid: quantifier does not follow a repeatable item",
            )),
            _ => Ok(()),
        }
    }

    /// What follows `(`.
    fn group(&mut self) -> Result<()> {
        self.pattern.push('(');
        match self.rest.peek() {
            Some('*') => return Err(unsupported("a verb such as (*UCP)")),
            Some('?') => self.rest.next(),
            _ => return Ok(()),
        };
        self.pattern.push('?');
        let rest: String = self.rest.clone().take(2).collect();
        if ["=", "!", "<=", "<!"].iter().any(|look| rest.starts_with(look)) {
            return Err(unsupported("look-around"));
        }
        if rest.starts_with(':') || rest.starts_with('<') || rest == "P<" {
            return Ok(());
        }
        // Options for the rest of the group, or for a group of their own.
        for option in self.rest.by_ref() {
            match option {
                'i' | 's' | '-' => self.pattern.push(option),
                ')' | ':' => {
                    self.pattern.push(option);
                    return Ok(());
                }
                'm' | 'x' => return Err(unsupported(&format!("(?{option}), which $options can say,"))),
                other => return Err(unsupported(&format!("a group that begins with (?{other}"))),
            }
        }
        Ok(())
    }

    /// What follows a backslash outside of a class.
    fn escape(&mut self) -> Result<()> {
        match self.rest.next() {
            Some('b') => self.pattern.push_str(r"(?-u:\b)"),
            Some('B') => self.pattern.push_str(r"(?-u:\B)"),
            Some('A') => self.pattern.push_str(r"\A"),
            Some('z') => self.pattern.push_str(r"\z"),
            Some('Z') => self.end(r"\Z")?,
            Some(letter @ ('d' | 'D' | 'w' | 'W' | 's' | 'S')) => {
                let (letters, outside) = kind(letter);
                self.pattern.push_str(if outside { "[^" } else { "[" });
                self.pattern.push_str(letters);
                self.pattern.push(']');
            }
            Some(letter) => self.letter(letter)?,
            None => {
                return Err(Error::refused(
                    51091,
                    "Regular expression is invalid: \\ at end of pattern",
                ));
            }
        }
        Ok(())
    }

    /// An escaped letter that means the same inside and outside of a class.
    fn letter(&mut self, letter: char) -> Result<()> {
        match letter {
            't' | 'n' | 'r' | 'f' | 'a' | 'x' | 'p' | 'P' => {
                self.pattern.push('\\');
                self.pattern.push(letter);
                // Its braces are not a quantifier.
                if self.rest.peek() == Some(&'{') {
                    for inside in self.rest.by_ref() {
                        self.pattern.push(inside);
                        if inside == '}' {
                            break;
                        }
                    }
                }
            }
            'e' => self.pattern.push_str(r"\x1B"),
            '0' => return Err(unsupported("an octal number")),
            '1'..='9' | 'k' | 'g' => return Err(unsupported("a back-reference")),
            other if other.is_ascii_alphanumeric() => {
                return Err(unsupported(&format!("the escape \\{other}")));
            }
            other => self.literal(other),
        }
        Ok(())
    }

    /// What follows `[`, up to its end.
    fn class(&mut self) -> Result<()> {
        self.pattern.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.pattern.push('^');
        }
        let mut first = true;
        // Whether a hyphen here would be literal, and not between two ends of a range.
        let mut ended = true;
        while let Some(next) = self.rest.next() {
            let between = next == '-' && !ended && self.rest.peek() != Some(&']');
            ended = between;
            match next {
                ']' if !first => {
                    self.pattern.push(']');
                    return Ok(());
                }
                '[' if self.rest.peek() == Some(&':') => {
                    self.named_class();
                    ended = true;
                }
                '\\' => match self.rest.next() {
                    Some('b') => self.pattern.push_str(r"\x08"),
                    Some(letter @ ('d' | 'D' | 'w' | 'W' | 's' | 'S')) => {
                        let (letters, outside) = kind(letter);
                        let class = if outside {
                            format!("[^{letters}]")
                        } else {
                            letters.to_owned()
                        };
                        self.pattern.push_str(&class);
                        ended = true;
                    }
                    Some(letter) => self.letter(letter)?,
                    None => break,
                },
                '-' if between => self.pattern.push('-'),
                _ => self.literal(next),
            }
            first = false;
        }
        Err(Error::refused(
            51091,
            "Regular expression is invalid: missing terminating ] for character class",
        ))
    }

    /// `[:alpha:]` and similar, which mean the same; the regex crate reports unknown names.
    fn named_class(&mut self) {
        self.pattern.push('[');
        for next in self.rest.by_ref() {
            self.pattern.push(next);
            if next == ']' {
                break;
            }
        }
    }
}

/// The characters of a class such as `d`, and whether it is negated.
fn kind(letter: char) -> (&'static str, bool) {
    let letters = match letter.to_ascii_lowercase() {
        'd' => DIGITS,
        'w' => WORDS,
        _ => SPACES,
    };
    (letters, letter.is_ascii_uppercase())
}

#[cfg(test)]
mod tests;
