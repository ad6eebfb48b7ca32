//! The types that `$type` asks for.

use bson::Bson;
use bson::spec::ElementType;

use super::{operand, whole_number};
use crate::compare::TYPES;
use crate::number::Number;
use document::{Error, Result};

/// The types in an operand of `$type`: one, or several in an array.
pub(super) fn types(value: &Bson) -> Result<Vec<ElementType>> {
    let mut types = Vec::new();
    match value {
        Bson::Array(items) if items.is_empty() => {
            return Err(Error::refused(9, "a $type must match at least one type"));
        }
        Bson::Array(items) => items.iter().try_for_each(|item| add(item, &mut types))?,
        _ => add(value, &mut types)?,
    }
    Ok(types)
}

fn add(value: &Bson, types: &mut Vec<ElementType>) -> Result<()> {
    use ElementType as T;
    if let Bson::String(name) = value {
        if name == "number" {
            types.extend([T::Double, T::Int32, T::Int64, T::Decimal128]);
            return Ok(());
        }
        let known = TYPES.iter().find(|(_, known)| known == name);
        let refused = || Error::refused(2, format!("Unknown type name alias: {name}"));
        types.push(known.ok_or_else(refused)?.0);
        return Ok(());
    }
    let number = operand(value)?;
    if Number::of(number.as_raw_bson_ref()).is_none() {
        return Err(Error::refused(
            14,
            "type must be represented as a number or a string",
        ));
    }
    let code = whole_number(number.as_raw_bson_ref());
    // The type of the smallest key is 255, which MongoDB writes as -1.
    let known = TYPES
        .iter()
        .find(|(known, _)| Some(i64::from((*known as u8).cast_signed())) == code);
    let refused = || Error::refused(2, format!("Invalid numerical type code: {value}"));
    types.push(known.ok_or_else(refused)?.0);
    Ok(())
}
