//! Arithmetic with numbers of different types, as `$inc` and `$mul` do it.

use bson::RawBsonRef;

use crate::compare::type_name;
use document::{Error, Result};

/// What is done to two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// `$inc`
    Add,
    /// `$mul`
    Multiply,
}

impl Arithmetic {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "$inc",
            Self::Multiply => "$mul",
        }
    }

    fn of_integers(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Multiply => a.checked_mul(b),
        }
    }

    fn of_doubles(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Multiply => a * b,
        }
    }
}

/// The result in the wider type of the two: 32-bit integers grow into 64-bit ones, a double makes a double, and a
/// 64-bit integer that would overflow is refused.
pub(super) fn calculate(
    arithmetic: Arithmetic,
    path: &str,
    current: RawBsonRef<'_>,
    amount: RawBsonRef<'_>,
) -> Result<RawBsonRef<'static>> {
    use RawBsonRef as B;
    let operator = arithmetic.name();
    let long = |a: i64, b: i64| {
        let result = arithmetic.of_integers(a, b).map(RawBsonRef::Int64);
        result.ok_or_else(|| {
            Error::refused(
                2,
                format!("Failed to apply {operator} operations to current value ({a}) of the field '{path}'"),
            )
        })
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer added to a double rounds, as in MongoDB"
    )]
    let double = |integer: i64| integer as f64;
    match (current, amount) {
        (B::Int32(a), B::Int32(b)) => {
            let result = long(i64::from(a), i64::from(b))?;
            Ok(match result {
                B::Int64(long) => i32::try_from(long).map_or(result, B::Int32),
                other => other,
            })
        }
        (B::Int32(a), B::Int64(b)) => long(i64::from(a), b),
        (B::Int64(a), B::Int32(b)) => long(a, i64::from(b)),
        (B::Int64(a), B::Int64(b)) => long(a, b),
        (B::Double(a), B::Double(b)) => Ok(B::Double(arithmetic.of_doubles(a, b))),
        (B::Double(a), B::Int32(b)) | (B::Int32(b), B::Double(a)) => {
            Ok(B::Double(arithmetic.of_doubles(a, f64::from(b))))
        }
        (B::Double(a), B::Int64(b)) | (B::Int64(b), B::Double(a)) => {
            Ok(B::Double(arithmetic.of_doubles(a, double(b))))
        }
        _ => Err(Error::refused(
            14,
            format!(
                "Cannot apply {operator} to a value of non-numeric type. The field '{path}' has non-numeric type {}",
                type_name(current)
            ),
        )),
    }
}
