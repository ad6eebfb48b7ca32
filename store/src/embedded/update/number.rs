//! Adding numbers of different types as `$inc` does.

use bson::RawBsonRef;

use crate::embedded::compare::type_name;
use crate::error::{Error, Result};

/// The sum, in the wider type of the two: 32-bit integers grow into 64-bit ones, a double makes a double, and a
/// 64-bit integer that would overflow is refused.
pub(super) fn add(
    path: &str,
    current: RawBsonRef<'_>,
    amount: RawBsonRef<'_>,
) -> Result<RawBsonRef<'static>> {
    use RawBsonRef as B;
    let long = |a: i64, b: i64| {
        a.checked_add(b).map(RawBsonRef::Int64).ok_or_else(|| {
            Error::refused(
                2,
                format!("Failed to apply $inc operations to current value ({a}) of the field '{path}'"),
            )
        })
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer added to a double rounds, as in MongoDB"
    )]
    let double = |integer: i64| integer as f64;
    match (current, amount) {
        (B::Int32(a), B::Int32(b)) => Ok(a
            .checked_add(b)
            .map_or(B::Int64(i64::from(a) + i64::from(b)), B::Int32)),
        (B::Int32(a), B::Int64(b)) => long(i64::from(a), b),
        (B::Int64(a), B::Int32(b)) => long(a, i64::from(b)),
        (B::Int64(a), B::Int64(b)) => long(a, b),
        (B::Double(a), B::Double(b)) => Ok(B::Double(a + b)),
        (B::Double(a), B::Int32(b)) | (B::Int32(b), B::Double(a)) => Ok(B::Double(a + f64::from(b))),
        (B::Double(a), B::Int64(b)) | (B::Int64(b), B::Double(a)) => Ok(B::Double(a + double(b))),
        _ => Err(Error::refused(
            14,
            format!(
                "Cannot apply $inc to a value of non-numeric type. The field '{path}' has non-numeric type {}",
                type_name(current)
            ),
        )),
    }
}
