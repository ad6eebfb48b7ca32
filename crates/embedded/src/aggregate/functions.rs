//! The operators that compute all their arguments first.

use std::cmp::Ordering;
use std::fmt;

use super::value::Value;
use super::{arithmetic, arrays, objects, text};
use document::{Error, Result};

/// Computes a value from the values of the arguments; the first parameter is the operator's name.
type Apply = for<'a> fn(&'static str, Vec<Value<'a>>) -> Result<Value<'a>>;

/// An operator.
pub(crate) struct Function {
    /// With its dollar sign.
    pub(super) name: &'static str,
    /// How many arguments it takes at least and at most.
    arity: (usize, usize),
    pub(super) apply: Apply,
}

const ANY: (usize, usize) = (0, usize::MAX);

static FUNCTIONS: &[Function] = &[
    of("$eq", (2, 2), |_, values| comparison(&values, Ordering::is_eq)),
    of("$ne", (2, 2), |_, values| comparison(&values, Ordering::is_ne)),
    of("$gt", (2, 2), |_, values| comparison(&values, Ordering::is_gt)),
    of("$gte", (2, 2), |_, values| comparison(&values, Ordering::is_ge)),
    of("$lt", (2, 2), |_, values| comparison(&values, Ordering::is_lt)),
    of("$lte", (2, 2), |_, values| comparison(&values, Ordering::is_le)),
    of("$not", (1, 1), |_, values| {
        Ok(Value::boolean(!values[0].is_true()))
    }),
    of("$add", ANY, arithmetic::add),
    of("$subtract", (2, 2), arithmetic::subtract),
    of("$multiply", ANY, arithmetic::multiply),
    of("$divide", (2, 2), arithmetic::divide),
    of("$sum", ANY, |_, values| {
        Ok(arithmetic::sum(&arrays::listed(values)?))
    }),
    of("$avg", ANY, |_, values| {
        Ok(arithmetic::average(&arrays::listed(values)?))
    }),
    of("$min", ANY, |_, values| {
        arrays::extreme(arrays::listed(values)?, Ordering::Less)
    }),
    of("$max", ANY, |_, values| {
        arrays::extreme(arrays::listed(values)?, Ordering::Greater)
    }),
    of("$size", (1, 1), arrays::size),
    of("$isArray", (1, 1), |_, values| {
        Ok(Value::boolean(values[0].is_array()))
    }),
    of("$slice", (2, 3), arrays::slice),
    of("$arrayElemAt", (2, 2), arrays::element_at),
    of("$first", (1, 1), arrays::first),
    of("$last", (1, 1), arrays::last),
    of("$reverseArray", (1, 1), arrays::reverse),
    of("$concatArrays", ANY, arrays::concat),
    of("$bsonSize", (1, 1), objects::bson_size),
    of("$mergeObjects", ANY, objects::merge),
    of("$objectToArray", (1, 1), objects::to_array),
    of("$type", (1, 1), |_, values| {
        Ok(Value::Text(values[0].type_name().to_owned()))
    }),
    of("$concat", ANY, text::concat),
    of("$toString", (1, 1), text::to_string),
];

const fn of(name: &'static str, arity: (usize, usize), apply: Apply) -> Function {
    Function { name, arity, apply }
}

impl Function {
    /// The operator of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Refuses a wrong number of arguments.
    pub(super) fn check_arity(&self, given: usize) -> Result<()> {
        let (name, (least, most)) = (self.name, self.arity);
        if (least..=most).contains(&given) {
            return Ok(());
        }
        Err(if least == most {
            let message =
                format!("Expression {name} takes exactly {least} arguments. {given} were passed in.");
            Error::refused(16020, message)
        } else {
            let message = format!(
                "Expression {name} takes at least {least} arguments, and at most {most}, but {given} were passed in."
            );
            Error::refused(28667, message)
        })
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn comparison<'a>(values: &[Value<'a>], holds: fn(Ordering) -> bool) -> Result<Value<'a>> {
    Ok(Value::boolean(holds(values[0].compare(&values[1])?)))
}
