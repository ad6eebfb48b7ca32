//! Expressions: values computed from the fields of a document.
//!
//! An expression is compiled once. Most operators compute all their arguments first and are a line in the table of
//! `functions.rs`; those that do not, or that bind variables, are variants of [`Expression`].

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::arrays;
use super::functions::Function;
use super::value::Value;
use crate::effort;
use crate::filter::any;
use crate::raw::{field, items};
use crate::sort::ElementOrder;
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
    /// `$in`: whether an array has a value.
    In(Box<[Expression; 2]>),
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
    /// `$map`, `$filter` or `$reduce`
    Each(Box<Each>),
    /// The lower boundary of the bucket that a value falls into.
    Bucket(Box<Expression>, Vec<RawBson>, Option<RawBson>),
    /// `$sortArray`
    SortArray(Box<Expression>, ElementOrder),
}

/// An operator that computes something for every element of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Each {
    pub(super) kind: Kind,
    pub(super) input: Expression,
    /// Where the element is.
    pub(super) slot: usize,
    /// What is computed for it.
    pub(super) value: Expression,
}

/// What becomes of the values that are computed for the elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// `$map`: they replace the elements.
    Map,
    /// `$filter`: the elements whose value is true are kept.
    Filter,
    /// `$reduce` from this value: each can use the one before, which is in the next slot.
    Reduce(Expression),
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the document.
    Root,
    /// At a variable, by its slot.
    Variable(usize),
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
        let value = self.value(scope)?;
        effort::spend(value.weight())?;
        Ok(value)
    }

    /// Whether the array at a path of the document has this value; its elements are compared in place. `None` if the
    /// expression is no such path, or if no array is there. Of `$ifNull`, an array is always the choice.
    fn holds_in_place(&self, root: &RawDocument, wanted: &Value<'_>) -> Result<Option<bool>> {
        let path = match self {
            Self::Path(Start::Root, path) => path,
            Self::IfNull(choices) => match choices.first() {
                Some(first) => return first.holds_in_place(root, wanted),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        effort::spend(root.as_bytes().len())?;
        let (mut document, mut rest) = (root, path.as_slice());
        while let Some((name, inner)) = rest.split_first() {
            rest = inner;
            match field(document, name)? {
                Some(RawBsonRef::Document(within)) => document = within,
                Some(RawBsonRef::Array(array)) => {
                    return wanted
                        .with_encoded(|wanted| any(items(array), |item| Value::is_at(item?, rest, wanted)))
                        .map(Some);
                }
                _ => break,
            }
        }
        Ok(None)
    }

    fn value<'a>(&'a self, scope: &mut Scope<'a>) -> Result<Value<'a>> {
        match self {
            Self::Literal(value) => Ok(Value::Encoded(value.as_raw_bson_ref())),
            Self::Missing => Ok(Value::Missing),
            Self::Path(start, path) => {
                let start = match start {
                    Start::Root => {
                        effort::spend(scope.root.as_bytes().len())?;
                        Value::Encoded(RawBsonRef::Document(scope.root))
                    }
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
            Self::In(operands) => {
                let [wanted, array] = operands.as_ref();
                let wanted = wanted.evaluate(scope)?;
                let holds = match array.holds_in_place(scope.root, &wanted)? {
                    Some(holds) => holds,
                    None => arrays::contains(&wanted, array.evaluate(scope)?)?,
                };
                Ok(Value::boolean(holds))
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
            Self::Each(each) => each.evaluate(scope),
        }
    }
}

impl Each {
    fn evaluate<'a>(&'a self, scope: &mut Scope<'a>) -> Result<Value<'a>> {
        let input = self.input.evaluate(scope)?;
        if input.is_nullish() {
            return Ok(Value::NULL);
        }
        let (code, refusal) = match self.kind {
            Kind::Map => (16883, "input to $map must be an array not "),
            Kind::Filter => (28651, "input to $filter must be an array not "),
            Kind::Reduce(_) => (40080, "$reduce requires that 'input' be an array, found: "),
        };
        let elements = input.into_array(code, |found| format!("{refusal}{found}"))?;
        match &self.kind {
            Kind::Map => {
                let values = elements.into_iter().map(|element| {
                    Ok(match scope.with(element, self.slot, &self.value)? {
                        Value::Missing => Value::NULL,
                        value => value,
                    })
                });
                Ok(Value::Array(values.collect::<Result<_>>()?))
            }
            Kind::Filter => {
                let mut kept = Vec::new();
                for element in elements {
                    if scope.with(element.clone(), self.slot, &self.value)?.is_true() {
                        kept.push(element);
                    }
                }
                Ok(Value::Array(kept))
            }
            Kind::Reduce(initial) => {
                let mut value = initial.evaluate(scope)?;
                for element in elements {
                    scope.variables.truncate(self.slot);
                    scope.variables.push(element);
                    value = scope.with(value, self.slot + 1, &self.value)?;
                    value.check_depth()?;
                }
                scope.variables.truncate(self.slot);
                Ok(value)
            }
        }
    }
}
