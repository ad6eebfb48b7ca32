//! Documents as MongoDB's shell writes them, long arrays cut.

use std::fmt::Write as _;

use bson::Bson;

/// How many elements of an array are written out.
const SHOWN: usize = 2;

/// A value in the shell's notation, indented.
pub fn written(value: &Bson) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text
}

fn write_value(text: &mut String, value: &Bson, depth: usize) {
    match value {
        Bson::Document(document) if document.is_empty() => text.push_str("{}"),
        Bson::Document(document) => {
            text.push('{');
            for (place, (field, value)) in document.iter().enumerate() {
                begin_line(text, place, depth + 1);
                text.push_str(field);
                text.push_str(": ");
                write_value(text, value, depth + 1);
            }
            new_line(text, depth);
            text.push('}');
        }
        Bson::Array(values) if values.is_empty() => text.push_str("[]"),
        Bson::Array(values) => {
            text.push('[');
            for (place, value) in values.iter().take(SHOWN).enumerate() {
                begin_line(text, place, depth + 1);
                write_value(text, value, depth + 1);
            }
            if let more @ 1.. = values.len().saturating_sub(SHOWN) {
                begin_line(text, SHOWN, depth + 1);
                append(text, format_args!("… {more} more"));
            }
            new_line(text, depth);
            text.push(']');
        }
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

fn begin_line(text: &mut String, place: usize, depth: usize) {
    if place > 0 {
        text.push(',');
    }
    new_line(text, depth);
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
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
    fn a_long_array_is_cut_and_says_so() {
        let value = bson!({
            "_id": "ada",
            "at": DateTime::from_millis(0),
            "likes": { "count": 3_i64, "head": [1, 2, 3], "pending": [] },
        });
        let expected = "{
  _id: \"ada\",
  at: ISODate('1970-01-01T00:00:00Z'),
  likes: {
    count: Long('3'),
    head: [
      1,
      2,
      … 1 more
    ],
    pending: []
  }
}";
        assert_eq!(written(&value), expected);
    }
}
