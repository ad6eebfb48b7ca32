use leptos::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

/// A command, or a piece of a document in Extended JSON. Fields, values and operators have different colours.
/// Notes about the text, for example that an array is cut, are not copied with it.
#[component]
pub fn Code(
    /// The text, as `document::extjson` writes it.
    text: String,
) -> impl IntoView {
    let pieces = pieces(&text).into_iter().map(|(class, piece)| {
        let piece = piece.to_owned();
        match class {
            None => piece.into_any(),
            Some(class) => {
                let short = short(&piece);
                view! {
                    <span class=class data-short=short>
                        {piece}
                    </span>
                }
                .into_any()
            }
        }
    });
    view! { <code>{pieces.collect_view()}</code> }
}

type Piece<'a> = (Option<&'static str>, &'a str);

/// The text in pieces; those to be coloured have a class.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (class, length) = match first {
            '{' if rest.starts_with("{\"$") => (Some("code-literal"), value(rest)),
            '"' => {
                let length = value(rest);
                let class = match (rest[length..].starts_with(':'), rest.starts_with("\"$")) {
                    (true, true) => "code-operator",
                    (true, false) => "code-field",
                    (false, _) => "code-text",
                };
                (Some(class), length)
            }
            '-' | '0'..='9' => (Some("code-number"), number(rest)),
            '…' => (Some("code-rest"), note(rest)),
            // A name in a command: its digits are not numbers.
            letter if letter.is_alphabetic() => (None, word(rest)),
            other => (None, other.len_utf8()),
        };
        let (piece, after) = rest.split_at(length);
        match pieces.last_mut() {
            Some((None, plain)) if class.is_none() => {
                let begin = text.len() - rest.len() - plain.len();
                *plain = &text[begin..text.len() - after.len()];
            }
            _ => pieces.push((class, piece)),
        }
        rest = after;
    }
    pieces
}

/// What is shown of a piece on a projector: no wrapper around a value, and of an id only its end.
fn short(piece: &str) -> Option<String> {
    let value: Value = serde_json::from_str(piece).ok()?;
    let short = match &value {
        Value::Object(wrapper) => {
            let (kind, value) = wrapper.iter().next()?;
            match (kind.as_str(), value.as_str()) {
                ("$date", Some(moment)) => moment.trim_end_matches('Z').replacen('T', " ", 1),
                (_, Some(value)) => shortened(value),
                _ => return None,
            }
        }
        Value::String(text) => format!("\"{}\"", shortened(text)),
        _ => return None,
    };
    (short != piece).then_some(short)
}

/// A text in which each id, which is 20 or more hexadecimal digits with dashes, is only its last four.
fn shortened(text: &str) -> String {
    let parts = text.split('/').map(|part| {
        let is_id = part.len() >= 20 && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        match part.get(part.len().saturating_sub(4)..) {
            Some(end) if is_id => format!("…{end}"),
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The length of a string or object at the beginning.
fn value(text: &str) -> usize {
    let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => values.byte_offset(),
        _ => text.len(),
    }
}

/// The length of a number at the beginning.
fn number(text: &str) -> usize {
    let inside = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E');
    text.find(|letter| !inside(letter)).unwrap_or(text.len())
}

/// The length of a note at the beginning that stands for elements of an array, with the comma after them.
fn note(text: &str) -> usize {
    text.find(',').map_or(text.len(), |comma| comma + 1)
}

/// The length of a word at the beginning.
fn word(text: &str) -> usize {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.find(|letter| !inside(letter)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_without_losing_anything() {
        let text = r#"db.users2.updateOne({ "a.b": "say \"é\"" }, { "$inc": { "count": -1, "n": 1.5 }, "x": true })"#;
        let pieces = pieces(text);
        let whole: String = pieces.iter().map(|(_, piece)| *piece).collect();
        assert_eq!(whole, text);
        let coloured: Vec<Piece<'_>> = pieces.into_iter().filter(|(class, _)| class.is_some()).collect();
        assert_eq!(
            coloured,
            [
                (Some("code-field"), r#""a.b""#),
                (Some("code-text"), r#""say \"é\"""#),
                (Some("code-operator"), r#""$inc""#),
                (Some("code-field"), r#""count""#),
                (Some("code-number"), "-1"),
                (Some("code-field"), r#""n""#),
                (Some("code-number"), "1.5"),
                (Some("code-field"), r#""x""#),
            ]
        );
    }

    #[test]
    fn on_a_projector_ids_are_short_and_values_have_no_wrapper() {
        for (piece, expected) in [
            (
                r#"{"$uuid": "00000000-0000-0000-0000-00000000abcd"}"#,
                Some("…abcd"),
            ),
            (
                r#"{"$date": "2026-01-01T00:05:00Z"}"#,
                Some("2026-01-01 00:05:00"),
            ),
            (
                r#""00000000-0000-0000-0000-000000000001/likes/0/00000000000000000000000000000003""#,
                Some("\"…0001/likes/0/…0003\""),
            ),
            (r#""The weir is open.""#, None),
            ("12", None),
        ] {
            assert_eq!(short(piece).as_deref(), expected, "{piece}");
        }
    }

    #[test]
    fn a_wrapper_is_one_piece_and_a_note_includes_its_comma() {
        let text = r#"[{"$binary": {"base64": "}=", "subType": "00"}}, {"$date": "x"}, … 4 more, 7]"#;
        assert_eq!(
            pieces(text),
            [
                (None, "["),
                (
                    Some("code-literal"),
                    r#"{"$binary": {"base64": "}=", "subType": "00"}}"#
                ),
                (None, ", "),
                (Some("code-literal"), r#"{"$date": "x"}"#),
                (None, ", "),
                (Some("code-rest"), "… 4 more,"),
                (None, " "),
                (Some("code-number"), "7"),
                (None, "]"),
            ]
        );
    }
}
