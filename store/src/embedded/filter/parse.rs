//! From MongoDB's query language to a [`Filter`].

use bson::{Bson, Document, RawBson, RawBsonRef};

use super::types::types;
use super::{Comparison, Filter, Test};
use crate::embedded::aggregate::Expression;
use crate::embedded::compare::{check, compare};
use crate::embedded::path::Path;
use crate::error::{Error, Result};

impl Filter {
    /// Compiles a filter; refuses by name what it does not know.
    pub(in crate::embedded) fn parse(document: &Document) -> Result<Self> {
        let mut all = Vec::with_capacity(document.len());
        for (name, value) in document {
            match name.as_str() {
                "$and" => all.extend(branches(name, value)?),
                "$or" => all.push(Self::Or(branches(name, value)?)),
                "$expr" => all.push(Self::Computed(Expression::parse(value)?)),
                "$nor" => all.push(Self::Nor(branches(name, value)?)),
                _ if name.starts_with('$') => {
                    return Err(Error::refused(2, format!("unknown top level operator: {name}")));
                }
                _ => {
                    let tests = field(value)?;
                    all.extend(tests.into_iter().map(|test| Self::Field(Path::new(name), test)));
                }
            }
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Self::And(all),
        })
    }
}

impl Filter {
    /// Whether a document begins with an operator over filters, such as `{$or: […]}`.
    pub(in crate::embedded) fn is_logic(document: &Document) -> bool {
        let first = document.keys().next().map(String::as_str);
        matches!(first, Some("$and" | "$or" | "$nor"))
    }

    /// Compiles a filter for the elements of an array, in which `$expr` cannot stand.
    pub(in crate::embedded) fn parse_for_elements(document: &Document) -> Result<Self> {
        let filter = Self::parse(document)?;
        if filter.computes() {
            let message = "$expr can only be applied to the top-level document";
            return Err(Error::refused(224, message));
        }
        Ok(filter)
    }
}

impl Test {
    /// Whether a document is made of operators, such as `{$in: […]}`.
    pub(in crate::embedded) fn is_operators(document: &Document) -> bool {
        document.keys().next().is_some_and(|name| name.starts_with('$'))
    }

    /// The tests that `{$gte: 1, $lt: 5}` stands for; all must pass.
    pub(in crate::embedded) fn parse(operators: &Document) -> Result<Vec<Self>> {
        operators
            .iter()
            .try_fold(Vec::new(), |mut tests, (name, operand)| {
                tests.push(operator(name, operand)?);
                Ok(tests)
            })
    }
}

/// A value that the engine can compare.
pub(in crate::embedded) fn operand(value: &Bson) -> Result<RawBson> {
    let value = RawBson::try_from(value.clone())?;
    check(value.as_raw_bson_ref())?;
    Ok(value)
}

fn branches(name: &str, value: &Bson) -> Result<Vec<Filter>> {
    let Bson::Array(items) = value else {
        return Err(Error::refused(2, format!("{name} must be an array")));
    };
    if items.is_empty() {
        return Err(Error::refused(2, "$and/$or/$nor must be a nonempty array"));
    }
    items
        .iter()
        .map(|item| match item {
            Bson::Document(filter) => Filter::parse(filter),
            _ => Err(Error::refused(2, "$or/$and/$nor entries need to be full objects")),
        })
        .collect()
}

fn field(value: &Bson) -> Result<Vec<Test>> {
    match value {
        Bson::Document(document) if Test::is_operators(document) => Test::parse(document),
        _ => Ok(vec![equal(value)?]),
    }
}

fn equal(value: &Bson) -> Result<Test> {
    match value {
        Bson::RegularExpression(_) => Err(Error::refused(
            2,
            "matching a regular expression is not supported",
        )),
        _ => Ok(Test::Equal(operand(value)?)),
    }
}

fn operator(name: &str, value: &Bson) -> Result<Test> {
    match name {
        "$eq" => Ok(Test::Equal(operand(value)?)),
        "$ne" => Ok(Test::Not(Box::new(Test::Equal(operand(value)?)))),
        "$gt" => comparison(Comparison::Greater, value),
        "$gte" => comparison(Comparison::GreaterOrEqual, value),
        "$lt" => comparison(Comparison::Less, value),
        "$lte" => comparison(Comparison::LessOrEqual, value),
        "$in" => one_of(name, value),
        "$nin" => Ok(Test::Not(Box::new(one_of(name, value)?))),
        "$exists" if truthy(value) => Ok(Test::Exists),
        "$exists" => Ok(Test::Not(Box::new(Test::Exists))),
        "$not" => not(value),
        "$size" => size(value),
        "$type" => Ok(Test::Type(types(value)?)),
        "$elemMatch" => elem_match(value),
        "$all" => all(value),
        _ => Err(Error::refused(2, format!("unknown operator: {name}"))),
    }
}

fn comparison(comparison: Comparison, value: &Bson) -> Result<Test> {
    match value {
        Bson::RegularExpression(_) => Err(Error::refused(
            2,
            "Can't have RegEx as arg to predicate over field",
        )),
        _ => Ok(Test::Compare(comparison, operand(value)?)),
    }
}

fn one_of(name: &str, value: &Bson) -> Result<Test> {
    let Bson::Array(items) = value else {
        return Err(Error::refused(2, format!("{name} needs an array")));
    };
    let mut operands = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Bson::Document(document) if Test::is_operators(document) => {
                return Err(Error::refused(2, format!("cannot nest $ under {name}")));
            }
            Bson::RegularExpression(_) => {
                return Err(Error::refused(
                    2,
                    "matching a regular expression is not supported",
                ));
            }
            _ => operands.push(operand(item)?),
        }
    }
    if operands.len() == 1 {
        // As in MongoDB, also where it matters: an upsert takes equalities over.
        return Ok(Test::Equal(operands.remove(0)));
    }
    operands.sort_by(|a, b| compare(a.as_raw_bson_ref(), b.as_raw_bson_ref()));
    Ok(Test::OneOf(operands))
}

/// MongoDB's idea of true: anything but false, zero, null and undefined.
fn truthy(value: &Bson) -> bool {
    match value {
        Bson::Boolean(flag) => *flag,
        Bson::Int32(integer) => *integer != 0,
        Bson::Int64(integer) => *integer != 0,
        Bson::Double(double) => *double != 0.0,
        Bson::Null | Bson::Undefined => false,
        _ => true,
    }
}

fn not(value: &Bson) -> Result<Test> {
    match value {
        Bson::Document(document) if document.is_empty() => Err(Error::refused(2, "$not cannot be empty")),
        Bson::Document(document) => Ok(Test::Not(Box::new(Test::Every(Test::parse(document)?)))),
        _ => Err(Error::refused(2, "$not needs a regex or a document")),
    }
}

fn size(value: &Bson) -> Result<Test> {
    let size = whole_number(operand(value)?.as_raw_bson_ref()).ok_or_else(|| {
        Error::refused(
            2,
            format!("Failed to parse $size. Expected an integer, but found: {value}"),
        )
    })?;
    if size < 0 {
        return Err(Error::refused(
            2,
            format!("Failed to parse $size. Expected a non-negative number in: {size}"),
        ));
    }
    Ok(Test::Size(size))
}

/// The integer that a number of any type stands for, if it stands for one.
pub(in crate::embedded) fn whole_number(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(integer) => Some(i64::from(integer)),
        RawBsonRef::Int64(integer) => Some(integer),
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        RawBsonRef::Double(double) if double.fract() == 0.0 && double.abs() < 9_007_199_254_740_992.0 => {
            Some(double as i64)
        }
        _ => None,
    }
}

fn elem_match(value: &Bson) -> Result<Test> {
    let Bson::Document(document) = value else {
        return Err(Error::refused(2, "$elemMatch needs an Object"));
    };
    let logical = |name: &String| matches!(name.as_str(), "$and" | "$or" | "$nor");
    if Test::is_operators(document) && !document.keys().any(logical) {
        Ok(Test::AnyElement(Test::parse(document)?))
    } else {
        Ok(Test::AnyDocument(Box::new(Filter::parse_for_elements(document)?)))
    }
}

fn all(value: &Bson) -> Result<Test> {
    let Bson::Array(items) = value else {
        return Err(Error::refused(2, "$all needs an array"));
    };
    if items.is_empty() {
        return Ok(Test::OneOf(Vec::new()));
    }
    let tests = items.iter().map(|item| match item {
        Bson::Document(document) if Test::is_operators(document) => match document.get("$elemMatch") {
            Some(nested) if document.len() == 1 => elem_match(nested),
            _ => Err(Error::refused(2, "no $ expressions in $all")),
        },
        _ => equal(item),
    });
    Ok(Test::Every(tests.collect::<Result<_>>()?))
}
