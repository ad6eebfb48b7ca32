//! Literals of JavaScript that are values of a document.

use bson::{Bson, Document, Regex};

use crate::error::{Error, Result};
use crate::text::Text;
use crate::wrappers;

/// The next value.
pub(crate) fn value(text: &mut Text) -> Result<Bson> {
    match text.ahead()? {
        Some('{') => text.nested(document).map(Bson::Document),
        Some('[') => text.nested(array).map(Bson::Array),
        Some('"' | '\'') => string(text).map(Bson::String),
        Some('`') => Err(Error::syntax(
            text.at(),
            "Templates in `…` are not evaluated here. Write a text in \"…\".",
        )),
        Some('/') => regex(text).map(Bson::RegularExpression),
        Some(letter) if letter.is_ascii_digit() || letter == '.' || letter == '-' || letter == '+' => {
            number(text)
        }
        _ => match text.name()? {
            Some(word) => named(text, &word),
            None => Err(text.unexpected("a value")),
        },
    }
}

/// Values between parentheses, the first of which has been read.
pub(crate) fn arguments(text: &mut Text) -> Result<Vec<Bson>> {
    let mut arguments = Vec::new();
    while !text.takes(')')? {
        arguments.push(text.nested(value)?);
        if !text.takes(',')? {
            text.expect(')')?;
            break;
        }
    }
    Ok(arguments)
}

fn named(text: &mut Text, word: &str) -> Result<Bson> {
    let begun = text.at();
    Ok(match word {
        "true" => Bson::Boolean(true),
        "false" => Bson::Boolean(false),
        // Drivers send null for `undefined`.
        "null" | "undefined" => Bson::Null,
        "NaN" => Bson::Double(f64::NAN),
        "Infinity" => Bson::Double(f64::INFINITY),
        "new" => {
            let Some(word) = text.name()? else {
                return Err(text.unexpected("the name of a type, as in new Date()"));
            };
            return wrappers::wrapped(text, &word);
        }
        "function" | "async" => {
            return Err(Error::syntax(
                begun,
                "Functions are JavaScript, which is not evaluated here.",
            ));
        }
        "Date" => {
            return Err(Error::syntax(
                begun,
                "Date without `new` is a text in JavaScript. Write new Date() or ISODate().",
            ));
        }
        word => return wrappers::wrapped(text, word),
    })
}

fn document(text: &mut Text) -> Result<Document> {
    text.expect('{')?;
    let mut document = Document::new();
    while !text.takes('}')? {
        let name = match text.ahead()? {
            Some('"' | '\'') => string(text)?,
            Some(letter) if letter.is_ascii_digit() => match number(text)? {
                Bson::Int32(number) => number.to_string(),
                number => number.to_string(),
            },
            _ => match text.name()? {
                Some(name) => name,
                None => return Err(text.unexpected("the name of a field")),
            },
        };
        if !text.takes(':')? {
            let message = format!("the value of `{name}`, as in {{ {name}: 1 }}");
            return Err(text.unexpected(&message));
        }
        let value = value(text)?;
        // As in JavaScript, the last one counts, in the place of the first.
        document.insert(name, value);
        if !text.takes(',')? {
            text.expect('}')?;
            break;
        }
    }
    Ok(in_order_of_javascript(document))
}

/// An object's fields as JavaScript orders them: whole numbers first, from the smallest, then the others as written.
pub(crate) fn in_order_of_javascript(document: Document) -> Document {
    let number = |name: &str| {
        let number: u32 = name.parse().ok()?;
        (number != u32::MAX && number.to_string() == name).then_some(number)
    };
    if document.keys().all(|name| number(name).is_none()) {
        return document;
    }
    let mut fields: Vec<(String, Bson)> = document.into_iter().collect();
    fields.sort_by_key(|(name, _)| number(name).map_or(u64::MAX, u64::from));
    fields.into_iter().collect()
}

fn array(text: &mut Text) -> Result<Vec<Bson>> {
    text.expect('[')?;
    let mut array = Vec::new();
    while !text.takes(']')? {
        array.push(value(text)?);
        if !text.takes(',')? {
            text.expect(']')?;
            break;
        }
    }
    Ok(array)
}

/// A text in single or double quotes.
pub(crate) fn string(text: &mut Text) -> Result<String> {
    let begun = text.at();
    let open = || Error::syntax(begun, "This text has no end: its closing quote is missing.");
    let Some(quote) = text.next() else {
        return Err(open());
    };
    let mut string = String::new();
    loop {
        match text.next().ok_or_else(open)? {
            letter if letter == quote => return Ok(string),
            '\n' => return Err(open()),
            '\\' => escaped(text, &mut string)?,
            letter => string.push(letter),
        }
    }
}

fn escaped(text: &mut Text, string: &mut String) -> Result<()> {
    let begun = text.at();
    let wrong = || {
        Error::syntax(
            begun,
            "This escape is none of \\n, \\t, \\\\, \\\", \\u00e9 and \\u{1f986}.",
        )
    };
    match text.next().ok_or_else(wrong)? {
        'n' => string.push('\n'),
        't' => string.push('\t'),
        'r' => string.push('\r'),
        'b' => string.push('\u{8}'),
        'f' => string.push('\u{c}'),
        'v' => string.push('\u{b}'),
        '0' => string.push('\0'),
        '\n' => {}
        'x' => string.push(char::from_u32(hexadecimal(text, 2).ok_or_else(wrong)?).ok_or_else(wrong)?),
        'u' if text.peek() == Some('{') => {
            text.next();
            let mut digits = String::new();
            while let Some(digit) = text.next().filter(|letter| *letter != '}') {
                digits.push(digit);
            }
            let code = u32::from_str_radix(&digits, 16).ok();
            string.push(code.and_then(char::from_u32).ok_or_else(wrong)?);
        }
        'u' => {
            let first = hexadecimal(text, 4).ok_or_else(wrong)?;
            let code = if (0xd800..0xdc00).contains(&first) {
                let follows = text.next() == Some('\\') && text.next() == Some('u');
                let second =
                    hexadecimal(text, 4).filter(|second| follows && (0xdc00..0xe000).contains(second));
                0x1_0000 + ((first - 0xd800) << 10) + (second.ok_or_else(wrong)? - 0xdc00)
            } else {
                first
            };
            string.push(char::from_u32(code).ok_or_else(wrong)?);
        }
        letter => string.push(letter),
    }
    Ok(())
}

fn hexadecimal(text: &mut Text, digits: usize) -> Option<u32> {
    let digits: Option<String> = (0..digits).map(|_| text.next()).collect();
    u32::from_str_radix(&digits?, 16).ok()
}

/// A number. As the shell sends it, a whole one that fits is an int, and any other is a double.
fn number(text: &mut Text) -> Result<Bson> {
    let begun = text.at();
    let negative = match text.peek() {
        Some('-') => text.next().is_some(),
        Some('+') => text.next().is_none(),
        _ => false,
    };
    text.skip()?;
    if text.peek().is_some_and(char::is_alphabetic) {
        let word = text.name()?.unwrap_or_default();
        let number = match word.as_str() {
            "Infinity" => f64::INFINITY,
            "NaN" => f64::NAN,
            _ => return Err(Error::syntax(begun, "Only numbers have a sign.")),
        };
        return Ok(Bson::Double(if negative { -number } else { number }));
    }
    let mut digits = String::new();
    while let Some(letter) = text.peek() {
        let exponent = digits.ends_with(['e', 'E']) && !digits.starts_with("0x");
        let is_part = letter.is_ascii_alphanumeric()
            || letter == '.'
            || letter == '_'
            || (exponent && (letter == '-' || letter == '+'));
        if !is_part {
            break;
        }
        digits.push(letter);
        text.next();
    }
    let wrong = || Error::syntax(begun, format!("`{digits}` is not a number."));
    let plain = digits.replace('_', "");
    let lower = plain.to_ascii_lowercase();
    let of_base = |prefix: &str, base| {
        let digits = lower.strip_prefix(prefix)?;
        let number = u64::from_str_radix(digits, base).ok()?;
        #[expect(clippy::cast_precision_loss, reason = "as in JavaScript")]
        Some(number as f64)
    };
    if lower.len() > 1 && lower.starts_with('0') && lower.bytes().all(|digit| digit.is_ascii_digit()) {
        let message =
            format!("`{digits}` begins with 0, which JavaScript reads with base 8. Leave out the 0.");
        return Err(Error::syntax(begun, message));
    }
    let number = of_base("0x", 16).or(of_base("0b", 2)).or(of_base("0o", 8));
    let number = match number {
        Some(number) => number,
        None if plain
            .chars()
            .all(|letter| letter.is_ascii_digit() || ".eE+-".contains(letter)) =>
        {
            plain.parse().map_err(|_| wrong())?
        }
        None => return Err(wrong()),
    };
    Ok(of_javascript(if negative { -number } else { number }))
}

/// A JavaScript number as the shell sends it.
pub(crate) fn of_javascript(number: f64) -> Bson {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    let whole = number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
    if !whole || is_negative_zero {
        return Bson::Double(number);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole and within the bounds"
    )]
    Bson::Int32(number as i32)
}

/// A regular expression between slashes, and its flags.
fn regex(text: &mut Text) -> Result<Regex> {
    let begun = text.at();
    let open = || {
        Error::syntax(
            begun,
            "This regular expression has no end: its closing `/` is missing.",
        )
    };
    text.next();
    let (mut pattern, mut in_class) = (String::new(), false);
    loop {
        match text.next().ok_or_else(open)? {
            '\n' => return Err(open()),
            '/' if !in_class => break,
            '\\' => {
                let escaped = text.next().ok_or_else(open)?;
                if escaped != '/' {
                    pattern.push('\\');
                }
                pattern.push(escaped);
            }
            letter => {
                in_class = letter == '[' || (in_class && letter != ']');
                pattern.push(letter);
            }
        }
    }
    let mut flags = String::new();
    while let Some(flag) = text.peek().filter(char::is_ascii_alphabetic) {
        flags.push(flag);
        text.next();
    }
    regular_expression(begun, &pattern, &flags)
}

/// A regular expression with flags of the server.
pub(crate) fn regular_expression(at: usize, pattern: &str, flags: &str) -> Result<Regex> {
    if let Some(flag) = flags.chars().find(|flag| !"imsx".contains(*flag)) {
        let message = format!("The flag `{flag}` is none of i, m, s and x, which the server knows.");
        return Err(Error::syntax(at, message));
    }
    let mut flags: Vec<char> = flags.chars().collect();
    flags.sort_unstable();
    flags.dedup();
    let flags: String = flags.into_iter().collect();
    let of_text = |text: &str| text.try_into();
    let parts = of_text(pattern).and_then(|pattern| {
        Ok(Regex {
            pattern,
            options: of_text(&flags)?,
        })
    });
    parts.map_err(|error: bson::error::Error| Error::syntax(at, format!("{error}.")))
}
