//! Operators over arrays.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every operator is called in the same way"
)]

use std::cmp::Ordering;

use bson::RawBsonRef;

use super::value::Value;
use crate::compare::equal;
use crate::filter::{any, whole_number};
use crate::raw::from_either_end;
use crate::sort::ElementOrder;
use document::{Error, Result};

/// The operands of `$sum` and similar operators: the elements of a single array, or else the arguments.
pub(super) fn listed(mut values: Vec<Value<'_>>) -> Result<Vec<Value<'_>>> {
    match (values.len(), values.pop()) {
        (1, Some(only)) => Ok(only.into_elements()?.unwrap_or_else(|only| vec![only])),
        (_, last) => {
            values.extend(last);
            Ok(values)
        }
    }
}

/// The smallest or largest value that is neither null nor missing.
pub(super) fn extreme<'a>(values: Vec<Value<'a>>, wanted: Ordering) -> Result<Value<'a>> {
    let mut best: Option<Value<'a>> = None;
    for value in values.into_iter().filter(|value| !value.is_nullish()) {
        if best.as_ref().map_or(Ok(wanted), |best| value.compare(best))? == wanted {
            best = Some(value);
        }
    }
    Ok(best.unwrap_or(Value::NULL))
}

pub(super) fn size<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let Some(len) = values[0].array_len() else {
        let found = values[0].type_name();
        let message = format!("The argument to {name} must be an array, but was of type: {found}");
        return Err(Error::refused(17124, message));
    };
    Ok(Value::Encoded(RawBsonRef::Int32(
        i32::try_from(len).unwrap_or(i32::MAX),
    )))
}

pub(super) fn slice<'a>(name: &'static str, mut values: Vec<Value<'a>>) -> Result<Value<'a>> {
    if values.iter().any(Value::is_nullish) {
        return Ok(Value::NULL);
    }
    let numbers = values.split_off(1);
    let mut items = values.remove(0).into_array(28724, |found| {
        format!("First argument to {name} must be an array, but is of type: {found}")
    })?;
    let number = |at: usize, which: &str, code: i32| {
        integer(
            &numbers[at],
            code,
            || {
                format!(
                    "{which} argument to {name} must be a numeric value, but is of type: {}",
                    numbers[at].type_name()
                )
            },
            || format!("{which} argument to {name} can't be represented as a 32-bit integer"),
        )
    };
    let first = number(0, "Second", 28725)?;
    let (start, take) = match numbers.len() {
        1 if first < 0 => (from_either_end(first.into(), items.len()), items.len()),
        1 => (0, usize::try_from(first).unwrap_or(usize::MAX)),
        _ => match usize::try_from(number(1, "Third", 28727)?) {
            Ok(take @ 1..) => (from_either_end(first.into(), items.len()), take),
            _ => {
                return Err(Error::refused(
                    28729,
                    format!("Third argument to {name} must be positive"),
                ));
            }
        },
    };
    items.drain(..start);
    items.truncate(take);
    Ok(Value::Array(items))
}

/// A 32-bit integer; values that are not numbers are refused with `code`, and other numbers with the code after it.
fn integer(
    value: &Value<'_>,
    code: i32,
    not_a_number: impl Fn() -> String,
    not_an_integer: impl Fn() -> String,
) -> Result<i32> {
    let Value::Encoded(number @ (RawBsonRef::Int32(_) | RawBsonRef::Int64(_) | RawBsonRef::Double(_))) =
        value
    else {
        return Err(Error::refused(code, not_a_number()));
    };
    whole_number(*number)
        .and_then(|number| i32::try_from(number).ok())
        .ok_or_else(|| Error::refused(code + 1, not_an_integer()))
}

pub(super) fn element_at<'a>(name: &'static str, mut values: Vec<Value<'a>>) -> Result<Value<'a>> {
    if values.iter().any(Value::is_nullish) {
        return Ok(Value::NULL);
    }
    let index = values.pop().unwrap_or(Value::NULL);
    let mut items = array(values.remove(0), name, "'s first argument")?;
    let index = integer(
        &index,
        28690,
        || {
            format!(
                "{name}'s second argument must be a numeric value, but is {}",
                index.type_name()
            )
        },
        || format!("{name}'s second argument must be representable as a 32-bit integer"),
    )?;
    let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let position = if index < 0 {
        items.len().checked_sub(distance)
    } else {
        Some(distance)
    };
    Ok(match position {
        Some(position) if position < items.len() => items.swap_remove(position),
        _ => Value::Missing,
    })
}

fn array<'a>(value: Value<'a>, name: &str, which: &str) -> Result<Vec<Value<'a>>> {
    value.into_array(28689, |found| {
        format!("{name}{which} must be an array, but is {found}")
    })
}

pub(super) fn first<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    end(name, values, |items| items.into_iter().next())
}

pub(super) fn last<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    end(name, values, |mut items| items.pop())
}

fn end<'a>(
    name: &'static str,
    mut values: Vec<Value<'a>>,
    pick: fn(Vec<Value<'a>>) -> Option<Value<'a>>,
) -> Result<Value<'a>> {
    match values.pop() {
        Some(value) if !value.is_nullish() => {
            Ok(pick(array(value, name, "'s argument")?).unwrap_or(Value::Missing))
        }
        _ => Ok(Value::NULL),
    }
}

pub(super) fn reverse<'a>(name: &'static str, mut values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let input = values.remove(0);
    if input.is_nullish() {
        return Ok(Value::NULL);
    }
    let mut items = input.into_array(34435, |found| {
        format!("The argument to {name} must be an array, but was of type: {found}")
    })?;
    items.reverse();
    Ok(Value::Array(items))
}

pub(super) fn concat<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut all = Vec::new();
    for value in values {
        if value.is_nullish() {
            return Ok(Value::NULL);
        }
        all.extend(value.into_array(28664, |found| format!("{name} only supports arrays, not {found}"))?);
    }
    Ok(Value::Array(all))
}

pub(super) fn contains(wanted: &Value<'_>, array: Value<'_>) -> Result<bool> {
    let items = array.into_array(40081, |found| {
        format!("$in requires an array as a second argument, found: {found}")
    })?;
    wanted.with_encoded(|wanted| any(&items, |item| item.with_encoded(|item| Ok(equal(item, wanted)))))
}

/// Sorts an array; elements that are equal stay in their order.
pub(super) fn sort<'a>(input: Value<'a>, by: &ElementOrder) -> Result<Value<'a>> {
    if input.is_nullish() {
        return Ok(Value::NULL);
    }
    let items = input.into_array(2_942_504, |found| {
        format!("The input argument to $sortArray must be an array, but was of type: {found}")
    })?;
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        keyed.push((item.with_encoded(|item| by.key(item))?, item));
    }
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Value::Array(keyed.into_iter().map(|(_, item)| item).collect()))
}
