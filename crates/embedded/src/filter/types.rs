//! The types that `$type` asks for.

use bson::{Bson, RawBsonRef};

use super::{operand, whole_number};
use document::{Error, Result};

/// The types by number and by name; those that the engine never stores are known too, and never match.
const TYPES: [(i64, &str); 21] = [
    (1, "double"),
    (2, "string"),
    (3, "object"),
    (4, "array"),
    (5, "binData"),
    (6, "undefined"),
    (7, "objectId"),
    (8, "bool"),
    (9, "date"),
    (10, "null"),
    (11, "regex"),
    (12, "dbPointer"),
    (13, "javascript"),
    (14, "symbol"),
    (15, "javascriptWithScope"),
    (16, "int"),
    (17, "timestamp"),
    (18, "long"),
    (19, "decimal"),
    (-1, "minKey"),
    (127, "maxKey"),
];

/// The names of the types in an operand of `$type`: one, or several in an array.
pub(super) fn types(value: &Bson) -> Result<Vec<&'static str>> {
    let mut names = Vec::new();
    match value {
        Bson::Array(items) if items.is_empty() => {
            return Err(Error::refused(9, "a $type must match at least one type"));
        }
        Bson::Array(items) => {
            for item in items {
                add(item, &mut names)?;
            }
        }
        _ => add(value, &mut names)?,
    }
    Ok(names)
}

fn add(value: &Bson, names: &mut Vec<&'static str>) -> Result<()> {
    if let Bson::String(name) = value {
        if name == "number" {
            names.extend(["double", "int", "long", "decimal"]);
            return Ok(());
        }
        let known = TYPES.iter().find(|(_, known)| known == name);
        names.push(
            known
                .map(|(_, known)| *known)
                .ok_or_else(|| Error::refused(2, format!("Unknown type name alias: {name}")))?,
        );
        return Ok(());
    }
    let number = operand(value)?;
    if !matches!(
        number.as_raw_bson_ref(),
        RawBsonRef::Int32(_) | RawBsonRef::Int64(_) | RawBsonRef::Double(_)
    ) {
        return Err(Error::refused(
            14,
            "type must be represented as a number or a string",
        ));
    }
    let code = whole_number(number.as_raw_bson_ref());
    let known = TYPES.iter().find(|(known, _)| Some(*known) == code);
    names.push(
        known
            .map(|(_, known)| *known)
            .ok_or_else(|| Error::refused(2, format!("Invalid numerical type code: {value}")))?,
    );
    Ok(())
}
