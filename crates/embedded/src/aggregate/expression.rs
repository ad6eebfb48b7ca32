//! Expressions: values computed from the fields of a document.
//!
//! An expression is compiled once. Most operators compute all their arguments first and are a line in the table of
//! `functions.rs`; those that do not, or that bind variables, are variants of [`Expression`].

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::arrays;
use super::functions::Function;
use super::value::Value;
use crate::sort::Order;
use document::Result;

/// A compiled expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    /// A constant.
    Literal(RawBson),
    /// `$$REMOVE`: no value at all.
    Missing,
    /// A path from the document or from a variable.
    Path(Start, Vec<String>),
    /// A document of expressions; a field whose value is missing is left out.
    Document(Vec<(String, Expression)>),
    /// An array of expressions; a missing value becomes null.
    Array(Vec<Expression>),
    /// An operator over its arguments.
    Call(&'static Function, Vec<Expression>),
    /// `$and`, or `$or`: computes only as many operands as it needs.
    Logic { all: bool, parts: Vec<Expression> },
    /// `$ifNull`: the first that is neither null nor missing, or the last.
    IfNull(Vec<Expression>),
    /// `$cond`: condition, then, else.
    Condition(Box<[Expression; 3]>),
    /// `$let`: values in the slots from this one on, and the expression that uses them.
    Let {
        slot: usize,
        values: Vec<Expression>,
        within: Box<Expression>,
    },
    /// `$map`
    Map {
        input: Box<Expression>,
        slot: usize,
        each: Box<Expression>,
    },
    /// `$filter`
    Filter {
        input: Box<Expression>,
        slot: usize,
        condition: Box<Expression>,
    },
    /// `$reduce`: `$$value` is in the slot after `$$this`.
    Reduce {
        input: Box<Expression>,
        slot: usize,
        initial: Box<Expression>,
        each: Box<Expression>,
    },
    /// The lower boundary of the bucket that a value falls into.
    Bucket(Box<Expression>, Vec<RawBson>, Option<RawBson>),
    /// `$sortArray`
    SortArray(Box<Expression>, SortBy),
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the document.
    Root,
    /// At a variable, by its slot.
    Variable(usize),
}

/// How `$sortArray` sorts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SortBy {
    /// By the elements themselves.
    Whole { descending: bool },
    /// By fields of the elements.
    Fields(Order),
}

/// The values that an expression can refer to.
pub(crate) struct Scope<'a> {
    root: &'a RawDocument,
    variables: Vec<Value<'a>>,
}

impl<'a> Scope<'a> {
    /// A document, and no variables yet.
    pub(crate) fn of(root: &'a RawDocument) -> Self {
        Self {
            root,
            variables: Vec::new(),
        }
    }

    /// Computes an expression with one more variable.
    fn with(&mut self, value: Value<'a>, slot: usize, expression: &'a Expression) -> Result<Value<'a>> {
        self.variables.truncate(slot);
        self.variables.push(value);
        let outcome = expression.evaluate(self);
        self.variables.truncate(slot);
        outcome
    }
}

impl Expression {
    /// Whether it is true of a document.
    pub(crate) fn holds(&self, document: &RawDocument) -> Result<bool> {
        Ok(self.evaluate(&mut Scope::of(document))?.is_true())
    }

    /// The value for a document on its own; a missing one is null.
    pub(super) fn compute(&self, document: &RawDocument) -> Result<RawBson> {
        self.evaluate(&mut Scope::of(document))?.to_raw()
    }

    /// Computes the value for a document.
    pub(crate) fn evaluate<'a>(&'a self, scope: &mut Scope<'a>) -> Result<Value<'a>> {
        match self {
            Self::Literal(value) => Ok(Value::Encoded(value.as_raw_bson_ref())),
            Self::Missing => Ok(Value::Missing),
            Self::Path(start, path) => {
                let start = match start {
                    Start::Root => Value::Encoded(RawBsonRef::Document(scope.root)),
                    Start::Variable(slot) => scope.variables.get(*slot).cloned().unwrap_or(Value::Missing),
                };
                start.follow(path)
            }
            Self::Document(fields) => {
                let mut computed = Vec::with_capacity(fields.len());
                for (name, field) in fields {
                    match field.evaluate(scope)? {
                        Value::Missing => {}
                        value => computed.push((Cow::Borrowed(name.as_str()), value)),
                    }
                }
                Ok(Value::Document(computed))
            }
            Self::Array(items) => {
                let values = items.iter().map(|item| match item.evaluate(scope)? {
                    Value::Missing => Ok(Value::NULL),
                    value => Ok(value),
                });
                Ok(Value::Array(values.collect::<Result<_>>()?))
            }
            Self::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.evaluate(scope));
                let values = values.collect::<Result<_>>()?;
                (function.apply)(function.name, values)
            }
            Self::Logic { all, parts } => {
                for part in parts {
                    if part.evaluate(scope)?.is_true() != *all {
                        return Ok(Value::boolean(!all));
                    }
                }
                Ok(Value::boolean(*all))
            }
            Self::IfNull(choices) => {
                let mut value = Value::Missing;
                for choice in choices {
                    value = choice.evaluate(scope)?;
                    if !value.is_nullish() {
                        break;
                    }
                }
                Ok(value)
            }
            Self::Condition(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                if condition.evaluate(scope)?.is_true() {
                    then.evaluate(scope)
                } else {
                    otherwise.evaluate(scope)
                }
            }
            Self::Let { slot, values, within } => {
                let values = values.iter().map(|value| value.evaluate(scope));
                let values = values.collect::<Result<Vec<_>>>()?;
                scope.variables.truncate(*slot);
                scope.variables.extend(values);
                let outcome = within.evaluate(scope);
                scope.variables.truncate(*slot);
                outcome
            }
            Self::Bucket(by, boundaries, default) => {
                super::bucket::find(&by.evaluate(scope)?, boundaries, default.as_ref())
            }
            Self::SortArray(input, by) => arrays::sort(input.evaluate(scope)?, by),
            Self::Map { .. } | Self::Filter { .. } | Self::Reduce { .. } => self.evaluate_each(scope),
        }
    }

    /// The operators that compute something for every element of an array.
    fn evaluate_each<'a>(&'a self, scope: &mut Scope<'a>) -> Result<Value<'a>> {
        let (Self::Map { input, .. } | Self::Filter { input, .. } | Self::Reduce { input, .. }) = self else {
            return Ok(Value::Missing);
        };
        let input = input.evaluate(scope)?;
        if input.is_nullish() {
            return Ok(Value::NULL);
        }
        let elements = match input.into_elements()? {
            Ok(elements) => elements,
            Err(other) => return Err(self.not_an_array(&other)),
        };
        match self {
            Self::Map { slot, each, .. } => {
                let values = elements.into_iter().map(|element| {
                    Ok(match scope.with(element, *slot, each)? {
                        Value::Missing => Value::NULL,
                        value => value,
                    })
                });
                Ok(Value::Array(values.collect::<Result<_>>()?))
            }
            Self::Filter { slot, condition, .. } => {
                let mut kept = Vec::new();
                for element in elements {
                    if scope.with(element.clone(), *slot, condition)?.is_true() {
                        kept.push(element);
                    }
                }
                Ok(Value::Array(kept))
            }
            Self::Reduce {
                slot, initial, each, ..
            } => {
                let mut value = initial.evaluate(scope)?;
                for element in elements {
                    scope.variables.truncate(*slot);
                    scope.variables.push(element);
                    value = scope.with(value, slot + 1, each)?;
                }
                scope.variables.truncate(*slot);
                Ok(value)
            }
            _ => Ok(Value::Missing),
        }
    }

    fn not_an_array(&self, found: &Value<'_>) -> document::Error {
        let found = found.type_name();
        let (code, message) = match self {
            Self::Map { .. } => (16883, format!("input to $map must be an array not {found}")),
            Self::Filter { .. } => (28651, format!("input to $filter must be an array not {found}")),
            _ => (
                40080,
                format!("$reduce requires that 'input' be an array, found: {found}"),
            ),
        };
        document::Error::refused(code, message)
    }
}
