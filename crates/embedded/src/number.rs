//! Numbers: results take the widest type of the operands, and grow further instead of overflowing.

use bson::RawBsonRef;

/// An operation, exact for integers and rounded for doubles.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    exact: fn(i128, i128) -> i128,
    rounded: fn(f64, f64) -> f64,
}

pub(super) const ADD: Operation = Operation {
    exact: |a, b| a + b,
    rounded: |a, b| a + b,
};

pub(super) const SUBTRACT: Operation = Operation {
    exact: |a, b| a - b,
    rounded: |a, b| a - b,
};

pub(super) const MULTIPLY: Operation = Operation {
    exact: |a, b| a * b,
    rounded: |a, b| a * b,
};

/// A number of one of BSON's three binary types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i32),
    Long(i64),
    Double(f64),
}

impl Number {
    pub(super) fn of(value: RawBsonRef<'_>) -> Option<Self> {
        match value {
            RawBsonRef::Int32(integer) => Some(Self::Int(integer)),
            RawBsonRef::Int64(integer) => Some(Self::Long(integer)),
            RawBsonRef::Double(double) => Some(Self::Double(double)),
            _ => None,
        }
    }

    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Int(integer) => f64::from(integer),
            Self::Long(integer) => nearest(i128::from(integer)),
            Self::Double(double) => double,
        }
    }

    pub(super) fn as_integer(self) -> Option<i64> {
        match self {
            Self::Int(integer) => Some(i64::from(integer)),
            Self::Long(integer) => Some(integer),
            Self::Double(_) => None,
        }
    }

    /// Combines two numbers: integers exactly, and as doubles if one is a double or the result fits no integer.
    pub(super) fn combine(self, Operation { exact, rounded }: Operation, other: Self) -> Self {
        match (self.as_integer(), other.as_integer()) {
            (Some(a), Some(b)) => {
                let long = matches!(self, Self::Long(_)) || matches!(other, Self::Long(_));
                Self::from_exact(exact(i128::from(a), i128::from(b)), long)
            }
            _ => Self::Double(rounded(self.as_f64(), other.as_f64())),
        }
    }

    pub(super) fn from_exact(integer: i128, long: bool) -> Self {
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
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an integer that becomes a double rounds, as in MongoDB"
)]
pub(super) fn nearest(integer: i128) -> f64 {
    integer as f64
}
