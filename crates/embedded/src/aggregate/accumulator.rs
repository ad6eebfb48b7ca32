//! Accumulators: the values that `$group` computes from the documents of a group.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bson::{Bson, Document, RawArrayBuf, RawBson, RawBsonRef, RawDocument};

use super::arithmetic::{Total, number_of};
use super::expression::{Expression, Scope};
use super::value::Value;
use crate::compare::compare;
use crate::key;
use crate::number::Number;
use crate::unsupported;
use document::{Error, Result};

/// A field that a group computes from its documents.
#[derive(Debug, Clone)]
pub(super) struct Accumulator {
    kind: Kind,
    argument: Expression,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Sum,
    Average,
    /// `$min` or `$max`
    Extreme(Ordering),
    First,
    Last,
    Push,
    AddToSet,
}

/// The state of an accumulator.
#[derive(Debug)]
pub(super) enum State {
    Total(Total),
    Single(Option<RawBson>),
    List(RawArrayBuf),
    Set(BTreeMap<Vec<u8>, RawBson>),
}

impl Accumulator {
    /// Compiles `{$sum: …}`; `field` is the name it is given.
    pub(super) fn parse(field: &str, value: &Bson) -> Result<Self> {
        let Bson::Document(spec) = value else {
            let message = format!("The field '{field}' must be an accumulator object");
            return Err(Error::refused(40234, message));
        };
        let mut entries = spec.iter();
        let (Some((name, argument)), None) = (entries.next(), entries.next()) else {
            let message = format!("The field '{field}' must specify one accumulator");
            return Err(Error::refused(40238, message));
        };
        let kind = match name.as_str() {
            "$sum" => Kind::Sum,
            "$avg" => Kind::Average,
            "$min" => Kind::Extreme(Ordering::Less),
            "$max" => Kind::Extreme(Ordering::Greater),
            "$first" => Kind::First,
            "$last" => Kind::Last,
            "$push" => Kind::Push,
            "$addToSet" => Kind::AddToSet,
            "$count" if argument.as_document().is_some_and(Document::is_empty) => return Ok(Self::count()),
            "$count" => return Err(Error::refused(9, "$count takes no arguments, i.e. $count:{}")),
            _ => {
                return Err(unsupported::refused(
                    15952,
                    name,
                    format!("unknown group operator '{name}'"),
                ));
            }
        };
        let argument = match argument {
            Bson::Array(items) => match items.as_slice() {
                [only] => only,
                _ => {
                    return Err(Error::refused(
                        40237,
                        format!("The {name} accumulator is a unary operator"),
                    ));
                }
            },
            single => single,
        };
        Ok(Self {
            kind,
            argument: Expression::parse(argument)?,
        })
    }

    /// How many documents there are: `{$sum: 1}`.
    pub(super) fn count() -> Self {
        Self {
            kind: Kind::Sum,
            argument: Expression::Literal(RawBson::Int32(1)),
        }
    }

    /// Before the first document.
    pub(super) fn start(&self) -> State {
        match self.kind {
            Kind::Sum | Kind::Average => State::Total(Total::default()),
            Kind::Extreme(_) | Kind::First | Kind::Last => State::Single(None),
            Kind::Push => State::List(RawArrayBuf::new()),
            Kind::AddToSet => State::Set(BTreeMap::new()),
        }
    }

    /// Adds a document. Returns how many more bytes it holds now.
    pub(super) fn add(&self, state: &mut State, document: &RawDocument) -> Result<usize> {
        let value = self.argument.evaluate(&mut Scope::of(document))?;
        match (state, self.kind) {
            (State::Total(total), _) => {
                if let Some(number) = number_of(&value) {
                    total.add(number);
                }
            }
            (State::Single(best), Kind::Extreme(wanted)) if !value.is_nullish() => {
                let better = value.with_encoded(|value| {
                    Ok(best
                        .as_ref()
                        .is_none_or(|best| compare(value, best.as_raw_bson_ref()) == wanted))
                })?;
                if better {
                    *best = Some(value.to_raw()?);
                }
            }
            (State::Single(first @ None), Kind::First) => *first = Some(value.to_raw()?),
            (State::Single(last), Kind::Last) => *last = Some(value.to_raw()?),
            (State::List(list), _) if !matches!(value, Value::Missing) => {
                let before = list.as_bytes().len();
                list.push(value.to_raw()?);
                return Ok(list.as_bytes().len() - before);
            }
            (State::Set(set), _) if !matches!(value, Value::Missing) => {
                let key = value.with_encoded(key::of)?;
                let bytes = 2 * key.len();
                if let std::collections::btree_map::Entry::Vacant(entry) = set.entry(key) {
                    entry.insert(value.to_raw()?);
                    return Ok(bytes);
                }
            }
            _ => {}
        }
        Ok(0)
    }

    /// The result.
    pub(super) fn finish(&self, state: State) -> RawBson {
        match state {
            State::Total(total) => {
                let number = match self.kind {
                    Kind::Average => total.average(),
                    _ => Some(total.sum()),
                };
                RawBson::from(number.map_or(RawBsonRef::Null, Number::encoded))
            }
            State::Single(value) => value.unwrap_or(RawBson::Null),
            State::List(list) => RawBson::Array(list),
            State::Set(set) => {
                let mut list = RawArrayBuf::new();
                for value in set.into_values() {
                    list.push(value);
                }
                RawBson::Array(list)
            }
        }
    }
}
