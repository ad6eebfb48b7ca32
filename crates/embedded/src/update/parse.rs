//! From MongoDB's update documents to [`Changes`].

use std::cmp::Ordering;

use bson::{Bson, Document, RawBson};

use super::elements::{ElementFilters, check_mixed, identifier};
use super::{Action, Change, Changes, Pull, Push};
use crate::compare::type_name;
use crate::filter::{Filter, Test, no_count, operand, pattern, whole_number};
use crate::number::Number;
use crate::path::{Part, Path};
use crate::sort::ElementOrder;
use crate::unsupported;
use document::{Error, Result, shown};

impl Changes {
    /// Compiles an update; refuses by name what it does not know, and paths that conflict.
    pub(crate) fn parse(update: &Document, array_filters: &[Document]) -> Result<Self> {
        if update.keys().next().is_none_or(|name| !name.starts_with('$')) {
            return Err(Error::refused(
                9,
                "the update document must consist of update operators such as $set; replacing a whole document is \
                 not supported",
            ));
        }
        let mut changes = Vec::new();
        for (operator, fields) in update {
            let parse = action(operator)?;
            let Bson::Document(fields) = fields else {
                let found = type_name(RawBson::try_from(fields.clone())?.as_raw_bson_ref());
                return Err(Error::refused(
                    9,
                    format!(
                        "Modifiers operate on fields but we found type {found} instead. For example: {{$mod: \
                         {{<field>: ...}}}} not {{{operator}: {}}}",
                        shown(fields)
                    ),
                ));
            };
            for (path, operand) in fields {
                changes.push(Change {
                    path: update_path(path)?,
                    action: parse(path, operand)?,
                });
            }
        }
        in_order(&mut changes)?;
        let paths: Vec<&Path> = changes.iter().map(|change| &change.path).collect();
        check_mixed(&paths)?;
        let filters = ElementFilters::parse(array_filters, &paths, update)?;
        Ok(Self { changes, filters })
    }
}

/// Sorts changes in the order of application; refuses two of which one is about a part of the other.
pub(super) fn in_order(changes: &mut [Change]) -> Result<()> {
    changes.sort_by(|a, b| in_path_order(a.path.parts(), b.path.parts()));
    for pair in changes.windows(2) {
        if pair[1].path.parts().starts_with(pair[0].path.parts()) {
            return Err(conflict(pair[1].path.text(), pair[0].path.text()));
        }
    }
    Ok(())
}

pub(super) fn conflict(longer: &str, shorter: &str) -> Error {
    let message = format!("Updating the path '{longer}' would create a conflict at '{shorter}'");
    Error::refused(40, message)
}

type ParseAction = fn(&str, &Bson) -> Result<Action>;

fn action(operator: &str) -> Result<ParseAction> {
    Ok(match operator {
        "$set" => |_, value| Ok(Action::Set(operand(value)?)),
        "$setOnInsert" => |_, value| Ok(Action::SetOnInsert(operand(value)?)),
        "$unset" => |_, _| Ok(Action::Unset),
        "$inc" => |path, value| Ok(Action::Increment(number("increment", path, value)?)),
        "$mul" => multiply,
        "$min" => |_, value| Ok(Action::Minimum(operand(value)?)),
        "$max" => |_, value| Ok(Action::Maximum(operand(value)?)),
        "$push" => push,
        "$addToSet" => add_to_set,
        "$pull" => |_, value| Ok(Action::Pull(pull(value)?)),
        "$pullAll" => pull_all,
        "$pop" => pop,
        _ => {
            return Err(unsupported::refused(
                9,
                operator,
                format!(
                    "Unknown modifier: {operator}. Expected a valid update modifier or pipeline-style update \
                     specified as an array"
                ),
            ));
        }
    })
}

fn update_path(text: &str) -> Result<Path> {
    let path = Path::new(text);
    let parts = path.parts();
    if parts.iter().any(|part| part.name.is_empty()) {
        let message = format!("The update path '{text}' contains an empty field name, which is not allowed.");
        return Err(Error::refused(56, message));
    }
    if parts.first().and_then(identifier).is_some() {
        let message = format!(
            "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '{text}'"
        );
        return Err(Error::refused(2, message));
    }
    let unknown = |part: &&Part| part.name.starts_with('$') && identifier(part).is_none();
    if let Some(part) = parts.iter().find(unknown) {
        let message = format!(
            "the positional operator '{}' in the update path '{text}' is not supported",
            part.name
        );
        return Err(Error::refused(2, message));
    }
    if parts.len() > 100 {
        let message = format!("the update path '{text}' is nested more than 100 deep");
        return Err(Error::refused(15, message));
    }
    Ok(path)
}

/// Positions by number, names by their bytes.
fn in_path_order(a: &[Part], b: &[Part]) -> Ordering {
    let step = |(a, b): (&Part, &Part)| match (a.position, b.position) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.name.cmp(&b.name),
    };
    a.iter()
        .zip(b)
        .map(step)
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn number(doing: &str, path: &str, value: &Bson) -> Result<RawBson> {
    let number = operand(value)?;
    if Number::of(number.as_raw_bson_ref()).is_some() {
        return Ok(number);
    }
    let message = format!(
        "Cannot {doing} with non-numeric argument: {{{path}: {}}}",
        shown(value)
    );
    Err(Error::refused(14, message))
}

fn multiply(path: &str, value: &Bson) -> Result<Action> {
    let factor = number("multiply", path, value)?;
    let zero = match factor {
        RawBson::Double(_) => RawBson::Double(0.0),
        RawBson::Int64(_) => RawBson::Int64(0),
        _ => RawBson::Int32(0),
    };
    Ok(Action::Multiply(factor, zero))
}

fn push(_: &str, value: &Bson) -> Result<Action> {
    let mut push = Push::default();
    let modifiers = value.as_document();
    let each = modifiers.and_then(|modifiers| modifiers.get("$each"));
    let (Some(modifiers), Some(each)) = (modifiers, each) else {
        let mut names = modifiers.into_iter().flat_map(Document::keys);
        if let Some(name) = names.find(|name| name.starts_with('$')) {
            let message = format!("$push takes {name} only together with $each");
            return Err(Error::refused(2, message));
        }
        push.each = vec![operand(value)?];
        return Ok(Action::Push(push));
    };
    push.each = each_of("$push", each)?;
    for (name, value) in modifiers {
        match name.as_str() {
            "$each" => {}
            "$position" => push.position = Some(integer(name, value)?),
            "$slice" => push.slice = Some(integer(name, value)?),
            "$sort" => push.sort = Some(element_order(value)?),
            _ => return Err(Error::refused(2, format!("Unrecognized clause in $push: {name}"))),
        }
    }
    Ok(Action::Push(push))
}

fn each_of(operator: &str, each: &Bson) -> Result<Vec<RawBson>> {
    if let Bson::Array(items) = each {
        return items.iter().map(operand).collect();
    }
    let found = operand(each)?;
    let found = type_name(found.as_raw_bson_ref());
    Err(Error::refused(
        2,
        format!("The argument to $each in {operator} must be an array but it was of type: {found}"),
    ))
}

fn integer(name: &str, value: &Bson) -> Result<i64> {
    let value = operand(value)?;
    whole_number(value.as_raw_bson_ref()).ok_or_else(|| {
        let found = type_name(value.as_raw_bson_ref());
        Error::refused(
            2,
            format!("The value for {name} must be an integer value but was given type: {found}"),
        )
    })
}

fn element_order(value: &Bson) -> Result<ElementOrder> {
    match value {
        Bson::Document(fields) if fields.is_empty() => Err(Error::refused(
            2,
            "The sort pattern is empty when it should be a set of fields.",
        )),
        _ => ElementOrder::parse(value, 2),
    }
}

fn add_to_set(_: &str, value: &Bson) -> Result<Action> {
    let Bson::Document(modifiers) = value else {
        return Ok(Action::AddToSet(vec![operand(value)?]));
    };
    match (
        modifiers.get("$each"),
        modifiers
            .keys()
            .find(|name| name.starts_with('$') && *name != "$each"),
    ) {
        (Some(each), None) if modifiers.len() == 1 => Ok(Action::AddToSet(each_of("$addToSet", each)?)),
        (None, None) => Ok(Action::AddToSet(vec![operand(value)?])),
        (_, unknown) => {
            let unknown = unknown.or_else(|| modifiers.keys().find(|name| *name != "$each"));
            let unknown = unknown.map_or("", String::as_str);
            Err(Error::refused(
                2,
                format!("Found unexpected fields after $each in $addToSet: {unknown}"),
            ))
        }
    }
}

fn pull(value: &Bson) -> Result<Pull> {
    match value {
        Bson::Document(condition) if Test::is_operators(condition) && !Filter::is_logic(condition) => {
            Ok(Pull::Passing(Test::parse(condition)?))
        }
        Bson::Document(condition) => Ok(Pull::Matching(Filter::parse_for_elements(condition)?)),
        Bson::RegularExpression(regex) => Ok(Pull::Passing(vec![pattern(regex)?])),
        _ => Ok(Pull::Equal(vec![operand(value)?])),
    }
}

fn pull_all(_: &str, value: &Bson) -> Result<Action> {
    if let Bson::Array(items) = value {
        let values = items.iter().map(operand).collect::<Result<_>>()?;
        return Ok(Action::Pull(Pull::Equal(values)));
    }
    let found = operand(value)?;
    let found = type_name(found.as_raw_bson_ref());
    Err(Error::refused(
        2,
        format!("$pullAll requires an array argument but was given a {found}"),
    ))
}

fn pop(path: &str, value: &Bson) -> Result<Action> {
    let end = operand(value)?;
    let message = match end.as_raw_bson_ref() {
        number if whole_number(number) == Some(1) => return Ok(Action::Pop { first: false }),
        number if whole_number(number) == Some(-1) => return Ok(Action::Pop { first: true }),
        number if whole_number(number).is_some() => format!("$pop expects 1 or -1, found: {}", shown(value)),
        _ => no_count(path, value),
    };
    Err(Error::refused(9, message))
}
