//! The orders that drivers take, as the document that a server takes: `{ at: -1 }`, `"at"`, `["at", "desc"]`,
//! `[["at", -1], ["_id", 1]]`.

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};

/// An order; `None` if it orders nothing.
pub(crate) fn order(sort: &Bson, direction: Option<&Bson>) -> Result<Option<Document>> {
    let order = match sort {
        Bson::Null | Bson::Undefined => Document::new(),
        Bson::String(field) => doc! { field: directed(direction.unwrap_or(&Bson::Int32(1)))? },
        Bson::Document(fields) => {
            let each = fields
                .iter()
                .map(|(field, direction)| Ok((field.clone(), directed(direction)?)));
            each.collect::<Result<_>>()?
        }
        Bson::Array(parts) => of_array(parts)?,
        other => {
            return Err(Error::of_driver(format!(
                "Invalid sort format: {other} Sort must be a valid object"
            )));
        }
    };
    Ok(Some(order).filter(|order| !order.is_empty()))
}

/// Pairs of a field and a direction, one such pair, or fields.
fn of_array(parts: &[Bson]) -> Result<Document> {
    match parts {
        [Bson::Array(_), ..] => {
            let pairs = parts.iter().map(|pair| match pair {
                Bson::Array(pair) => match pair.as_slice() {
                    [Bson::String(field)] => Ok((field.clone(), Bson::Int32(1))),
                    [Bson::String(field), direction, ..] => Ok((field.clone(), directed(direction)?)),
                    _ => Err(not_a_field(&Bson::Array(pair.clone()))),
                },
                other => Err(not_a_field(other)),
            });
            pairs.collect()
        }
        [Bson::String(field), direction] if directed(direction).is_ok() => {
            Ok(doc! { field: directed(direction)? })
        }
        fields => {
            let fields = fields.iter().map(|field| match field {
                Bson::String(field) => Ok((field.clone(), Bson::Int32(1))),
                other => Err(not_a_field(other)),
            });
            fields.collect()
        }
    }
}

fn not_a_field(found: &Bson) -> Error {
    Error::of_driver(format!(
        "Invalid sort format: {found} is not the name of a field, or such a name with a direction."
    ))
}

/// 1 or -1; `{ $meta: … }` goes to the server as it is.
fn directed(direction: &Bson) -> Result<Bson> {
    if matches!(direction, Bson::Document(fields) if fields.contains_key("$meta")) {
        return Ok(direction.clone());
    }
    let word = match direction {
        Bson::String(word) => word.to_ascii_lowercase(),
        Bson::Int64(number) => number.to_string(),
        other => other.to_string(),
    };
    match word.as_str() {
        "1" | "asc" | "ascending" => Ok(Bson::Int32(1)),
        "-1" | "desc" | "descending" => Ok(Bson::Int32(-1)),
        _ => Err(Error::of_driver(format!("Invalid sort direction: {direction}"))),
    }
}
