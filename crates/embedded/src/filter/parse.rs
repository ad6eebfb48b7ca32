//! From MongoDB's query language to a [`Filter`].

use bson::{Bson, Document, RawBson, RawBsonRef};

use super::pattern::Pattern;
use super::types::types;
use super::{Comparison, Filter, Test};
use crate::aggregate::Expression;
use crate::compare::{check, compare, flag};
use crate::path::Path;
use crate::unsupported;
use document::{Error, Result, shown};

impl Filter {
    /// Compiles a filter; refuses by name what it does not know.
    pub(crate) fn parse(document: &Document) -> Result<Self> {
        let mut all = Vec::with_capacity(document.len());
        for (name, value) in document {
            match name.as_str() {
                "$and" => all.extend(branches(name, value)?),
                "$or" => all.push(Self::Or(branches(name, value)?)),
                "$expr" => all.push(Self::Computed(Expression::parse(value)?)),
                "$nor" => all.push(Self::Nor(branches(name, value)?)),
                _ if name.starts_with('$') => {
                    return Err(unsupported::refused(
                        2,
                        name,
                        format!(
                            "unknown top level operator: {name}. If you have a field name that starts with a '$' symbol, \
                             consider using $getField or $setField."
                        ),
                    ));
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
    pub(crate) fn is_logic(document: &Document) -> bool {
        let first = document.keys().next().map(String::as_str);
        matches!(first, Some("$and" | "$or" | "$nor"))
    }

    /// Compiles a filter for the elements of an array, in which `$expr` is not allowed.
    pub(crate) fn parse_for_elements(document: &Document) -> Result<Self> {
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
    pub(crate) fn is_operators(document: &Document) -> bool {
        document.keys().next().is_some_and(|name| name.starts_with('$'))
    }

    /// The tests that `{$gte: 1, $lt: 5}` represents; all must pass.
    pub(crate) fn parse(operators: &Document) -> Result<Vec<Self>> {
        let mut tests = Vec::with_capacity(operators.len());
        for (name, operand) in operators {
            match name.as_str() {
                "$regex" => tests.push(regex(operand, operators.get("$options"))?),
                "$options" if operators.contains_key("$regex") => {}
                "$options" => return Err(Error::refused(2, "$options needs a $regex")),
                _ => tests.push(operator(name, operand)?),
            }
        }
        Ok(tests)
    }
}

/// A value that the engine can compare.
pub(crate) fn operand(value: &Bson) -> Result<RawBson> {
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
        Bson::RegularExpression(regex) => pattern(regex),
        _ => Ok(Test::Equal(operand(value)?)),
    }
}

/// A regular expression, which matches the strings in which it is found.
pub(crate) fn pattern(regex: &bson::Regex) -> Result<Test> {
    let pattern = Pattern::parse(regex.pattern.as_str(), regex.options.as_str())?;
    Ok(Test::Matches(pattern))
}

/// `{$regex: "…", $options: "…"}`
fn regex(pattern: &Bson, options: Option<&Bson>) -> Result<Test> {
    let options = match options {
        None => None,
        Some(Bson::String(options)) => Some(options.as_str()),
        Some(_) => return Err(Error::refused(2, "$options has to be a string")),
    };
    let (source, options) = match pattern {
        Bson::String(source) => (source.as_str(), options.unwrap_or_default()),
        Bson::RegularExpression(regex) => match (regex.options.as_str(), options) {
            (own, None) => (regex.pattern.as_str(), own),
            ("", Some(options)) => (regex.pattern.as_str(), options),
            _ => return Err(Error::refused(51075, "options set in both $regex and $options")),
        },
        _ => return Err(Error::refused(2, "$regex has to be a string")),
    };
    Ok(Test::Matches(Pattern::parse(source, options)?))
}

fn operator(name: &str, value: &Bson) -> Result<Test> {
    match name {
        "$eq" => Ok(Test::Equal(operand(value)?)),
        "$ne" if matches!(value, Bson::RegularExpression(_)) => {
            Err(Error::refused(2, "Can't have regex as arg to $ne."))
        }
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
        _ => Err(unsupported::refused(2, name, format!("unknown operator: {name}"))),
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
    let mut patterns = Vec::new();
    for item in items {
        match item {
            Bson::Document(document) if Test::is_operators(document) => {
                return Err(Error::refused(2, format!("cannot nest $ under {name}")));
            }
            Bson::RegularExpression(regex) => patterns.push(pattern(regex)?),
            _ => operands.push(operand(item)?),
        }
    }
    if !patterns.is_empty() {
        if !operands.is_empty() {
            patterns.push(values(operands));
        }
        return Ok(match patterns.len() {
            1 => patterns.remove(0),
            _ => Test::Any(patterns),
        });
    }
    Ok(values(operands))
}

/// Equal to one of some values.
fn values(mut operands: Vec<RawBson>) -> Test {
    if operands.len() == 1 {
        // As in MongoDB, where it makes a difference: an upsert uses equalities.
        return Test::Equal(operands.remove(0));
    }
    operands.sort_by(|a, b| compare(a.as_raw_bson_ref(), b.as_raw_bson_ref()));
    Test::OneOf(operands)
}

/// MongoDB's notion of true: anything but false, zero, null and undefined.
fn truthy(value: &Bson) -> bool {
    flag(value).unwrap_or(!matches!(value, Bson::Null | Bson::Undefined))
}

fn not(value: &Bson) -> Result<Test> {
    match value {
        Bson::RegularExpression(regex) => Ok(Test::Not(Box::new(pattern(regex)?))),
        Bson::Document(document) if document.is_empty() => Err(Error::refused(2, "$not cannot be empty")),
        Bson::Document(document) => Ok(Test::Not(Box::new(Test::Every(Test::parse(document)?)))),
        _ => Err(Error::refused(2, "$not needs a regex or a document")),
    }
}

fn size(value: &Bson) -> Result<Test> {
    let size = whole_number(operand(value)?.as_raw_bson_ref()).filter(|size| *size >= 0);
    let refused = || Error::refused(2, format!("Failed to parse $size. {}", no_count("$size", value)));
    Ok(Test::Size(size.ok_or_else(refused)?))
}

/// Why a value is no number of items.
pub(crate) fn no_count(name: &str, value: &Bson) -> String {
    let expected = match value {
        Bson::Double(_) if whole(value).is_none() => "an integer",
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => "a non-negative number in",
        _ => "a number in",
    };
    format!("Expected {expected}: {name}: {}", shown(value))
}

/// The integer that a number of any type stands for, if it stands for one.
pub(crate) fn whole_number(value: RawBsonRef<'_>) -> Option<i64> {
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

/// The same for a value that is not encoded.
pub(crate) fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(integer) => Some((*integer).into()),
        Bson::Int64(integer) => Some(*integer),
        Bson::Double(double) => whole_number(RawBsonRef::Double(*double)),
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
