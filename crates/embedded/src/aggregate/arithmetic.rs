//! Operators over numbers.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every operator is called in the same way"
)]

use bson::{DateTime, RawBsonRef};

use super::value::Value;
use crate::number::{ADD, MULTIPLY, Number, SUBTRACT, nearest};
use document::{Error, Result};

pub(super) fn number_of(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Encoded(value) => Number::of(*value),
        _ => None,
    }
}

fn value<'a>(number: Number) -> Value<'a> {
    Value::Encoded(number.encoded())
}

/// The sum and count of the numbers among any values, as `$sum` and `$avg` need them. The order of the values does not
/// matter for integers, and hardly for doubles, whose rounding errors are compensated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Total {
    exact: i128,
    rounded: f64,
    lost: f64,
    count: u32,
    long: bool,
    double: bool,
}

impl Total {
    pub(super) fn add(&mut self, number: Number) {
        self.count = self.count.saturating_add(1);
        match number {
            Number::Int(integer) => self.exact += i128::from(integer),
            Number::Long(integer) => {
                self.long = true;
                self.exact += i128::from(integer);
            }
            Number::Double(double) => {
                self.double = true;
                self.add_double(double);
            }
        }
    }

    fn add_double(&mut self, double: f64) {
        let sum = self.rounded + double;
        if sum.is_finite() {
            let part = sum - self.rounded;
            self.lost += (self.rounded - (sum - part)) + (double - part);
        } else {
            self.lost = 0.0;
        }
        self.rounded = sum;
    }

    fn as_f64(mut self) -> f64 {
        if self.double {
            self.add_double(nearest(self.exact));
            self.rounded + self.lost
        } else {
            nearest(self.exact)
        }
    }

    pub(super) fn sum(self) -> Number {
        if self.double {
            Number::Double(self.as_f64())
        } else {
            Number::from_exact(self.exact, self.long)
        }
    }

    /// `None` without numbers.
    pub(super) fn average(self) -> Option<Number> {
        (self.count > 0).then(|| Number::Double(self.as_f64() / f64::from(self.count)))
    }
}

fn total(values: &[Value<'_>]) -> Total {
    let mut total = Total::default();
    values
        .iter()
        .filter_map(number_of)
        .for_each(|number| total.add(number));
    total
}

pub(super) fn sum<'a>(values: &[Value<'_>]) -> Value<'a> {
    value(total(values).sum())
}

pub(super) fn average<'a>(values: &[Value<'_>]) -> Value<'a> {
    total(values).average().map_or(Value::NULL, value)
}

pub(super) fn add<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut date = None;
    let mut sum = Number::Int(0);
    for value in values {
        match (number_of(&value), &value) {
            (Some(number), _) => sum = sum.combine(ADD, number),
            (None, Value::Encoded(RawBsonRef::DateTime(at))) => {
                if date.replace(*at).is_some() {
                    return Err(Error::refused(
                        16612,
                        "only one date allowed in an $add expression",
                    ));
                }
            }
            (None, value) if value.is_nullish() => return Ok(Value::NULL),
            (None, value) => {
                let message = format!(
                    "{name} only supports numeric or date types, not {}",
                    value.type_name()
                );
                return Err(Error::refused(14, message));
            }
        }
    }
    match date {
        Some(date) => moved(date, sum),
        None => Ok(value(sum)),
    }
}

/// A date this many milliseconds later.
fn moved<'a>(date: DateTime, by: Number) -> Result<Value<'a>> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and is then refused as an overflow"
    )]
    let by = by.as_integer().unwrap_or_else(|| by.as_f64().round() as i64);
    let moved = date.timestamp_millis().checked_add(by);
    moved
        .map(|millis| Value::Encoded(RawBsonRef::DateTime(DateTime::from_millis(millis))))
        .ok_or_else(|| Error::refused(15, "date overflow in $add"))
}

pub(super) fn subtract<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let [from, by] = [&values[0], &values[1]];
    if let (Some(from), Some(by)) = (number_of(from), number_of(by)) {
        return Ok(value(from.combine(SUBTRACT, by)));
    }
    if from.is_nullish() || by.is_nullish() {
        return Ok(Value::NULL);
    }
    match (from, by, number_of(by)) {
        (Value::Encoded(RawBsonRef::DateTime(from)), Value::Encoded(RawBsonRef::DateTime(by)), _) => {
            let distance = i128::from(from.timestamp_millis()) - i128::from(by.timestamp_millis());
            Ok(value(Number::from_exact(distance, true)))
        }
        (Value::Encoded(RawBsonRef::DateTime(from)), _, Some(by)) => {
            moved(*from, Number::Int(0).combine(SUBTRACT, by))
        }
        _ => {
            let message = format!("can't {name} {} from {}", by.type_name(), from.type_name());
            Err(Error::refused(14, message))
        }
    }
}

pub(super) fn multiply<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut product = Number::Int(1);
    for value in values {
        match number_of(&value) {
            Some(number) => product = product.combine(MULTIPLY, number),
            None if value.is_nullish() => return Ok(Value::NULL),
            None => {
                let message = format!("{name} only supports numeric types, not {}", value.type_name());
                return Err(Error::refused(14, message));
            }
        }
    }
    Ok(value(product))
}

pub(super) fn divide<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    match (number_of(&values[0]), number_of(&values[1])) {
        (Some(_), Some(by)) if by.as_f64() == 0.0 => Err(Error::refused(2, format!("can't {name} by zero"))),
        (Some(number), Some(by)) => Ok(value(Number::Double(number.as_f64() / by.as_f64()))),
        _ if values.iter().any(Value::is_nullish) => Ok(Value::NULL),
        _ => {
            let (number, by) = (values[0].type_name(), values[1].type_name());
            let message = format!("{name} only supports numeric types, not {number} and {by}");
            Err(Error::refused(14, message))
        }
    }
}
