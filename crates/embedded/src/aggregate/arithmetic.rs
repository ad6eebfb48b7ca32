//! Numbers: results take the widest type of the operands, and grow further instead of overflowing.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every operator is called in the same way"
)]

use bson::{DateTime, RawBsonRef};

use super::value::Value;
use document::{Error, Result};

/// A number of one of BSON's three binary types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i32),
    Long(i64),
    Double(f64),
}

impl Number {
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Encoded(value) => Self::of_encoded(*value),
            _ => None,
        }
    }

    pub(super) fn of_encoded(value: RawBsonRef<'_>) -> Option<Self> {
        match value {
            RawBsonRef::Int32(integer) => Some(Self::Int(integer)),
            RawBsonRef::Int64(integer) => Some(Self::Long(integer)),
            RawBsonRef::Double(double) => Some(Self::Double(double)),
            _ => None,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Int(integer) => f64::from(integer),
            Self::Long(integer) => nearest(i128::from(integer)),
            Self::Double(double) => double,
        }
    }

    fn as_integer(self) -> Option<i64> {
        match self {
            Self::Int(integer) => Some(i64::from(integer)),
            Self::Long(integer) => Some(integer),
            Self::Double(_) => None,
        }
    }

    /// Combines two numbers: integers exactly, and as doubles if one is a double or the result fits no integer.
    fn combine(self, other: Self, exact: fn(i128, i128) -> i128, rounded: fn(f64, f64) -> f64) -> Self {
        match (self.as_integer(), other.as_integer()) {
            (Some(a), Some(b)) => {
                let long = matches!(self, Self::Long(_)) || matches!(other, Self::Long(_));
                Self::from_exact(exact(i128::from(a), i128::from(b)), long)
            }
            _ => Self::Double(rounded(self.as_f64(), other.as_f64())),
        }
    }

    fn from_exact(integer: i128, long: bool) -> Self {
        match (i32::try_from(integer), i64::try_from(integer)) {
            (Ok(integer), _) if !long => Self::Int(integer),
            (_, Ok(integer)) => Self::Long(integer),
            _ => Self::Double(nearest(integer)),
        }
    }

    pub(super) fn encoded(self) -> RawBsonRef<'static> {
        match self {
            Self::Int(integer) => RawBsonRef::Int32(integer),
            Self::Long(integer) => RawBsonRef::Int64(integer),
            Self::Double(double) => RawBsonRef::Double(double),
        }
    }

    fn value<'a>(self) -> Value<'a> {
        Value::Encoded(self.encoded())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an integer that becomes a double rounds, as in MongoDB"
)]
fn nearest(integer: i128) -> f64 {
    integer as f64
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
        .filter_map(Number::of)
        .for_each(|number| total.add(number));
    total
}

pub(super) fn sum<'a>(values: &[Value<'_>]) -> Value<'a> {
    total(values).sum().value()
}

pub(super) fn average<'a>(values: &[Value<'_>]) -> Value<'a> {
    total(values).average().map_or(Value::NULL, Number::value)
}

pub(super) fn add<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut date = None;
    let mut sum = Number::Int(0);
    for value in values {
        match (Number::of(&value), &value) {
            (Some(number), _) => sum = sum.combine(number, |a, b| a + b, |a, b| a + b),
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
        None => Ok(sum.value()),
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
    if let (Some(from), Some(by)) = (Number::of(from), Number::of(by)) {
        return Ok(from.combine(by, |a, b| a - b, |a, b| a - b).value());
    }
    if from.is_nullish() || by.is_nullish() {
        return Ok(Value::NULL);
    }
    match (from, by, Number::of(by)) {
        (Value::Encoded(RawBsonRef::DateTime(from)), Value::Encoded(RawBsonRef::DateTime(by)), _) => {
            let distance = i128::from(from.timestamp_millis()) - i128::from(by.timestamp_millis());
            Ok(Number::from_exact(distance, true).value())
        }
        (Value::Encoded(RawBsonRef::DateTime(from)), _, Some(by)) => {
            moved(*from, Number::Int(0).combine(by, |a, b| a - b, |a, b| a - b))
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
        match Number::of(&value) {
            Some(number) => product = product.combine(number, |a, b| a * b, |a, b| a * b),
            None if value.is_nullish() => return Ok(Value::NULL),
            None => {
                let message = format!("{name} only supports numeric types, not {}", value.type_name());
                return Err(Error::refused(14, message));
            }
        }
    }
    Ok(product.value())
}

pub(super) fn divide<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    match (Number::of(&values[0]), Number::of(&values[1])) {
        (Some(_), Some(by)) if by.as_f64() == 0.0 => Err(Error::refused(2, format!("can't {name} by zero"))),
        (Some(number), Some(by)) => Ok(Number::Double(number.as_f64() / by.as_f64()).value()),
        _ if values.iter().any(Value::is_nullish) => Ok(Value::NULL),
        _ => {
            let (number, by) = (values[0].type_name(), values[1].type_name());
            let message = format!("{name} only supports numeric types, not {number} and {by}");
            Err(Error::refused(14, message))
        }
    }
}
