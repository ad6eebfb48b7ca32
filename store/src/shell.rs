//! Values as one would type them into `MongoDB`'s shell, for people to read.

use std::fmt::Write as _;

use bson::{Bson, Document};

/// Arrays with more elements than this are cut.
const MOST_ELEMENTS: usize = 6;

/// A value on one line.
pub fn inline(value: &Bson) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// A document on one line.
pub fn line(document: &Document) -> String {
    let mut text = String::new();
    write_document(&mut text, document);
    text
}

/// A field's name, in quotes where the shell wants them.
pub fn field(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$';
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

fn write_document(text: &mut String, document: &Document) {
    if document.is_empty() {
        text.push_str("{}");
        return;
    }
    for (place, (name, value)) in document.iter().enumerate() {
        text.push_str(if place == 0 { "{ " } else { ", " });
        text.push_str(&field(name));
        text.push_str(": ");
        write_value(text, value);
    }
    text.push_str(" }");
}

/// Of a long array the first two elements and the last, and how many are between.
fn write_array(text: &mut String, values: &[Bson]) {
    let cut = values.len() > MOST_ELEMENTS;
    text.push('[');
    for (place, value) in values.iter().enumerate() {
        let between = cut && (2..values.len() - 1).contains(&place);
        if between && place > 2 {
            continue;
        }
        if place > 0 {
            text.push_str(", ");
        }
        if between {
            append(text, format_args!("… {} more", values.len() - 3));
        } else {
            write_value(text, value);
        }
    }
    text.push(']');
}

fn write_value(text: &mut String, value: &Bson) {
    match value {
        Bson::Document(document) => write_document(text, document),
        Bson::Array(values) => write_array(text, values),
        Bson::String(string) => append(text, format_args!("{string:?}")),
        Bson::Int64(number) => append(text, format_args!("Long('{number}')")),
        Bson::DateTime(moment) => {
            let moment = moment.try_to_rfc3339_string();
            append(text, format_args!("ISODate('{}')", moment.unwrap_or_default()));
        }
        Bson::Binary(binary) => match binary.to_uuid() {
            Ok(uuid) => append(text, format_args!("UUID('{uuid}')")),
            Err(_) => append(text, format_args!("Binary({} bytes)", binary.bytes.len())),
        },
        other => append(text, format_args!("{other}")),
    }
}

fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    if text.write_fmt(arguments).is_err() {
        unreachable!("a string takes whatever is written to it");
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson};

    use super::*;

    #[test]
    fn a_value_is_written_as_the_shell_reads_it() {
        let value = bson!({
            "_id": "ada",
            "at": DateTime::from_millis(0),
            "likes.head": { "$size": 3 },
            "count": 3_i64,
            "none": [],
            "pair": [1, true],
        });
        let expected = "{ _id: \"ada\", at: ISODate('1970-01-01T00:00:00Z'), \"likes.head\": { $size: 3 }, \
                        count: Long('3'), none: [], pair: [1, true] }";
        assert_eq!(inline(&value), expected);
        assert_eq!(line(&Document::new()), "{}");
        assert_eq!(inline(&bson!([1, 2, 3, 4, 5, 6])), "[1, 2, 3, 4, 5, 6]");
        assert_eq!(inline(&bson!([1, 2, 3, 4, 5, 6, 7])), "[1, 2, … 4 more, 7]");
    }
}
