//! From MongoDB's expressions to [`Expression`].

use bson::{Bson, Document, RawBson};

use super::expression::{Each, Expression, Kind, Start};
use super::functions::Function;
use crate::compare::type_name;
use crate::filter::operand;
use crate::sort::ElementOrder;
use crate::unsupported;
use document::{Error, Result, dup_key};

/// The variables that an expression may name; each is in the slot of its position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    fn with(&self, more: &[&str]) -> Self {
        let more = more.iter().map(|name| (*name).to_owned());
        Self(self.0.iter().cloned().chain(more).collect())
    }
}

impl Expression {
    /// Compiles an expression that stands alone; refuses by name what it does not know.
    pub(crate) fn parse(value: &Bson) -> Result<Self> {
        parse(value, &Names::default())
    }

    /// Its value, if it is the same for every document.
    pub(super) fn constant(&self) -> Option<&RawBson> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }
}

/// Variables that MongoDB has and this engine has not.
const OF_MONGODB: [&str; 4] = ["NOW", "CLUSTER_TIME", "USER_ROLES", "SEARCH_META"];

/// Whether a document is an operator such as `{$size: "$likes"}`.
pub(super) fn is_operator(document: &Document) -> bool {
    document.keys().next().is_some_and(|name| name.starts_with('$'))
}

fn parse(value: &Bson, names: &Names) -> Result<Expression> {
    match value {
        Bson::String(text) if text.starts_with('$') => path(text, names),
        Bson::Document(document) if is_operator(document) => operator(document, names),
        Bson::Document(document) => {
            let fields = document.iter().map(|(name, value)| {
                check_name(name)?;
                Ok((name.clone(), parse(value, names)?))
            });
            Ok(Expression::Document(fields.collect::<Result<_>>()?))
        }
        Bson::Array(items) => Ok(Expression::Array(list(items, names)?)),
        _ => Ok(Expression::Literal(operand(value)?)),
    }
}

fn list(items: &[Bson], names: &Names) -> Result<Vec<Expression>> {
    items.iter().map(|item| parse(item, names)).collect()
}

/// An operator's arguments: a list, or a single one without brackets.
fn arguments(value: &Bson, names: &Names) -> Result<Vec<Expression>> {
    match value {
        Bson::Array(items) => list(items, names),
        single => Ok(vec![parse(single, names)?]),
    }
}

/// Refuses a name that cannot be one step of a path.
pub(super) fn check_name(name: &str) -> Result<()> {
    let (code, problem) = match name {
        "" => (15998, "FieldPath field names may not be empty strings."),
        name if name.starts_with('$') => (16410, "FieldPath field names may not start with '$'."),
        name if name.contains('\0') => (16411, "FieldPath field names may not contain '\\0'."),
        name if name.contains('.') => (16412, "FieldPath field names may not contain '.'."),
        _ => return Ok(()),
    };
    Err(Error::refused(code, problem))
}

/// The steps of a dotted path without its dollar sign.
pub(super) fn steps(path: &str) -> Result<Vec<String>> {
    if path.ends_with('.') {
        return Err(Error::refused(40353, "FieldPath must not end with a '.'."));
    }
    path.split('.')
        .map(|name| check_name(name).map(|()| name.to_owned()))
        .collect()
}

fn path(text: &str, names: &Names) -> Result<Expression> {
    let Some(variable) = text.strip_prefix("$$") else {
        let path = text.strip_prefix('$').unwrap_or(text);
        if path.is_empty() {
            return Err(Error::refused(16872, "'$' by itself is not a valid FieldPath"));
        }
        return Ok(Expression::Path(Start::Root, steps(path)?));
    };
    let (name, rest) = variable
        .split_once('.')
        .map_or((variable, None), |(name, rest)| (name, Some(rest)));
    let rest = rest.map(steps).transpose()?.unwrap_or_default();
    match name {
        "ROOT" | "CURRENT" => Ok(Expression::Path(Start::Root, rest)),
        "REMOVE" => Ok(Expression::Missing),
        "" => Err(Error::refused(9, "empty variable names are not allowed")),
        _ => match names.0.iter().rposition(|known| known == name) {
            Some(slot) => Ok(Expression::Path(Start::Variable(slot), rest)),
            None if OF_MONGODB.contains(&name) => Err(Error::refused(
                17276,
                format!("the embedded engine does not support '$${name}'"),
            )),
            None => Err(Error::refused(
                17276,
                format!("Use of undefined variable: {name}"),
            )),
        },
    }
}

fn operator(document: &Document, names: &Names) -> Result<Expression> {
    let mut entries = document.iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else {
        let message = format!(
            "An object representing an expression must have exactly one field: {}",
            dup_key(document)
        );
        return Err(Error::refused(15983, message));
    };
    match name.as_str() {
        "$literal" => Ok(Expression::Literal(operand(value)?)),
        "$and" | "$or" => Ok(Expression::Logic {
            all: name == "$and",
            parts: arguments(value, names)?,
        }),
        "$ifNull" => match arguments(value, names)? {
            choices if choices.len() < 2 => {
                let message = format!("$ifNull needs at least two arguments, had: {}", choices.len());
                Err(Error::refused(1_257_300, message))
            }
            choices => Ok(Expression::IfNull(choices)),
        },
        "$in" => exactly("$in", arguments(value, names)?).map(Expression::In),
        "$cond" => condition(value, names),
        "$let" => bind(value, names),
        "$map" => map(value, names),
        "$filter" => filter(value, names),
        "$reduce" => reduce(value, names),
        "$sortArray" => sort_array(value, names),
        _ => {
            let Some(function) = Function::named(name) else {
                return Err(unsupported::refused(
                    168,
                    name,
                    format!("Unrecognized expression '{name}'"),
                ));
            };
            let arguments = arguments(value, names)?;
            function.check_arity(arguments.len())?;
            Ok(Expression::Call(function, arguments))
        }
    }
}

fn condition(value: &Bson, names: &Names) -> Result<Expression> {
    if let Bson::Document(named) = value {
        let parameters = Parameters::of("$cond", named, &["if", "then", "else"], 17083)?;
        let part = |name, code| parameters.expression(name, code, names);
        let parts = [part("if", 17080)?, part("then", 17081)?, part("else", 17082)?];
        return Ok(Expression::Condition(Box::new(parts)));
    }
    exactly("$cond", arguments(value, names)?).map(Expression::Condition)
}

/// The arguments of an operator that takes this many.
fn exactly<const N: usize>(name: &str, arguments: Vec<Expression>) -> Result<Box<[Expression; N]>> {
    arguments.try_into().map_err(|given: Vec<_>| {
        let given = given.len();
        let message = format!("Expression {name} takes exactly {N} arguments. {given} were passed in.");
        Error::refused(16020, message)
    })
}

fn map(value: &Bson, names: &Names) -> Result<Expression> {
    let parameters = Parameters::in_document("$map", value, 16878, &["input", "as", "in"], 16879)?;
    let within = names.with(&[parameters.variable()?]);
    let input = parameters.expression("input", 16880, names)?;
    let value = parameters.expression("in", 16882, &within)?;
    Ok(each(Kind::Map, input, names, value))
}

fn filter(value: &Bson, names: &Names) -> Result<Expression> {
    let parameters = Parameters::in_document("$filter", value, 28646, &["input", "as", "cond"], 28647)?;
    let within = names.with(&[parameters.variable()?]);
    let input = parameters.expression("input", 28648, names)?;
    let value = parameters.expression("cond", 28650, &within)?;
    Ok(each(Kind::Filter, input, names, value))
}

fn reduce(value: &Bson, names: &Names) -> Result<Expression> {
    let known = &["input", "initialValue", "in"];
    let parameters = Parameters::in_document("$reduce", value, 40075, known, 40076)?;
    let input = parameters.expression("input", 40077, names)?;
    let initial = parameters.expression("initialValue", 40078, names)?;
    let value = parameters.expression("in", 40079, &names.with(&["this", "value"]))?;
    Ok(each(Kind::Reduce(initial), input, names, value))
}

fn each(kind: Kind, input: Expression, names: &Names, value: Expression) -> Expression {
    Expression::Each(Box::new(Each {
        kind,
        input,
        slot: names.0.len(),
        value,
    }))
}

fn bind(value: &Bson, names: &Names) -> Result<Expression> {
    let parameters = Parameters::in_document("$let", value, 16874, &["vars", "in"], 16875)?;
    let Bson::Document(variables) = parameters.required("vars", 16876)? else {
        let message = "invalid parameter: expected an object (vars)";
        return Err(Error::refused(10065, message));
    };
    for name in variables.keys() {
        check_variable(name)?;
    }
    let values = variables.values().map(|value| parse(value, names));
    let bound: Vec<&str> = variables.keys().map(String::as_str).collect();
    Ok(Expression::Let {
        slot: names.0.len(),
        values: values.collect::<Result<_>>()?,
        within: Box::new(parameters.expression("in", 16877, &names.with(&bound))?),
    })
}

/// Refuses a name that a variable cannot have: one starts with a lower-case letter and continues with letters, digits and
/// underscores.
fn check_variable(name: &str) -> Result<()> {
    let usable = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii();
    let (code, problem) = match name.chars().next() {
        None => (16866, "empty variable names are not allowed".to_owned()),
        Some(first) if !first.is_ascii_lowercase() && first.is_ascii() => (
            16867,
            format!("'{name}' starts with an invalid character for a user variable name"),
        ),
        Some(_) if !name.chars().all(usable) => (
            16868,
            format!("'{name}' contains an invalid character for a variable name"),
        ),
        Some(_) => return Ok(()),
    };
    Err(Error::refused(code, problem))
}

fn sort_array(value: &Bson, names: &Names) -> Result<Expression> {
    let parameters =
        Parameters::in_document("$sortArray", value, 2_942_500, &["input", "sortBy"], 2_942_501)?;
    let input = parameters.expression("input", 2_942_502, names)?;
    let by = ElementOrder::parse(parameters.required("sortBy", 2_942_503)?, 2_942_506)?;
    Ok(Expression::SortArray(Box::new(input), by))
}

/// The named parameters of an operator.
struct Parameters<'d> {
    operator: &'static str,
    given: &'d Document,
}

impl<'d> Parameters<'d> {
    fn in_document(
        operator: &'static str,
        value: &'d Bson,
        no_document: i32,
        known: &[&str],
        unknown: i32,
    ) -> Result<Self> {
        let Bson::Document(given) = value else {
            let found = type_name(operand(value)?.as_raw_bson_ref());
            let message = format!("{operator} only supports an object as its argument, found: {found}");
            return Err(Error::refused(no_document, message));
        };
        Self::of(operator, given, known, unknown)
    }

    fn of(operator: &'static str, given: &'d Document, known: &[&str], unknown: i32) -> Result<Self> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Error::refused(
                unknown,
                format!("Unrecognized parameter to {operator}: {name}"),
            )),
            None => Ok(Self { operator, given }),
        }
    }

    fn required(&self, name: &str, missing: i32) -> Result<&'d Bson> {
        self.given.get(name).ok_or_else(|| {
            Error::refused(
                missing,
                format!("Missing '{name}' parameter to {}", self.operator),
            )
        })
    }

    fn expression(&self, name: &str, missing: i32, names: &Names) -> Result<Expression> {
        parse(self.required(name, missing)?, names)
    }

    /// The name that `as` gives to an element.
    fn variable(&self) -> Result<&'d str> {
        match self.given.get("as") {
            None => Ok("this"),
            Some(Bson::String(name)) if check_variable(name).is_ok() => Ok(name),
            Some(name) => Err(Error::refused(
                9,
                format!("{name} is not a valid name for a user variable"),
            )),
        }
    }
}
