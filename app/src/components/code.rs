use leptos::prelude::*;

/// Text in the shell's notation, its strings, numbers and operators told apart by colour.
#[component]
pub fn Code(
    /// The text.
    text: String,
) -> impl IntoView {
    let pieces = pieces(&text).into_iter().map(|(class, piece)| {
        let piece = piece.to_owned();
        match class {
            None => piece.into_any(),
            Some(class) => view! { <span class=class>{piece}</span> }.into_any(),
        }
    });
    view! { <code>{pieces.collect_view()}</code> }
}

type Piece<'a> = (Option<&'static str>, &'a str);

/// The text in pieces, those with a class to be coloured.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (class, length) = match first {
            '"' | '\'' => (Some("code-text"), quoted(rest, first)),
            '$' => (Some("code-operator"), word(rest)),
            '0'..='9' => (Some("code-number"), word(rest)),
            letter if letter.is_alphabetic() || letter == '_' => {
                let length = word(rest);
                let is_field = rest[length..].starts_with(':');
                (is_field.then_some("code-field"), length)
            }
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

/// How long a word at the beginning is.
fn word(text: &str) -> usize {
    let inside = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    text.find(|letter| !inside(letter)).unwrap_or(text.len())
}

/// How long a string at the beginning is, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return place + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_taken_apart_and_nothing_of_it_lost() {
        let text = r#"db.users.updateOne({ "a.b": "say \"é\"" }, { $inc: { count: Long('1'), n: 12 } })"#;
        let pieces = pieces(text);
        let whole: String = pieces.iter().map(|(_, piece)| *piece).collect();
        assert_eq!(whole, text);
        let coloured: Vec<&str> = pieces
            .iter()
            .filter(|(class, _)| class.is_some())
            .map(|(_, piece)| *piece)
            .collect();
        assert_eq!(
            coloured,
            ["\"a.b\"", r#""say \"é\"""#, "$inc", "count", "'1'", "n", "12"]
        );
    }
}
