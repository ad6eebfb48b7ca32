//! Shapes: `$project`, `$set` and `$unset`, which keep, drop and compute fields.
//!
//! A dotted path and nested documents mean the same thing: `{$set: {a: {b: 1}}}` sets `a.b`, keeps the other fields of
//! `a`, and if `a` is an array does so in every element. To replace `a` as a whole, its value has to be an operator,
//! such as `{$literal: …}` or `{$mergeObjects: […]}`.

use std::borrow::Cow;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::expression::{Expression, Scope};
use super::parse::{is_operator, steps};
use super::value::{Fields, Value, encode, set};
use crate::compare::flag;
use crate::raw::select;
use document::{Error, Result};

/// A compiled shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Keep the fields named, instead of all but those.
    including: bool,
    fields: Vec<(String, Rule)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Include,
    Exclude,
    Compute(Expression),
    Within(Vec<(String, Rule)>),
}

/// The stage that a shape is made for; the error codes of conflicts differ between stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Project,
    Set,
}

impl Shape {
    /// `$project`
    pub(super) fn project(spec: &Document) -> Result<Self> {
        if spec.is_empty() {
            let message = "projection specification must have at least one field";
            return Err(Error::refused(51272, message));
        }
        let mut fields = Vec::new();
        parse_fields(&mut fields, spec, "", Stage::Project)?;
        let mut modes = Modes::default();
        modes.look_at(&fields, "")?;
        let including = modes.including.unwrap_or_else(|| modes.id != Some(false));
        if including && !fields.iter().any(|(name, _)| name == "_id") {
            fields.insert(0, ("_id".to_owned(), Rule::Include));
        }
        Ok(Self { including, fields })
    }

    /// `$set`, which is also called `$addFields`.
    pub(super) fn set(spec: &Document) -> Result<Self> {
        if spec.is_empty() {
            let message = "specification must have at least one field";
            return Err(Error::refused(40177, message));
        }
        let mut fields = Vec::new();
        parse_fields(&mut fields, spec, "", Stage::Set)?;
        Ok(Self {
            including: false,
            fields,
        })
    }

    /// `$unset`
    pub(super) fn unset(spec: &Bson) -> Result<Self> {
        let malformed = |code, what: &str| {
            Err(Error::refused(
                code,
                format!("$unset specification must be {what}"),
            ))
        };
        let paths = match spec {
            Bson::String(path) => vec![path.as_str()],
            Bson::Array(paths) if paths.is_empty() => {
                return malformed(31119, "a string or an array with at least one field");
            }
            Bson::Array(paths) => match paths.iter().map(Bson::as_str).collect::<Option<_>>() {
                Some(paths) => paths,
                None => return malformed(31120, "a string or an array containing only string values"),
            },
            _ => return malformed(31002, "a string or an array"),
        };
        let mut fields = Vec::new();
        for path in paths {
            insert(&mut fields, &steps(path)?, Rule::Exclude, path, Stage::Project)?;
        }
        Ok(Self {
            including: false,
            fields,
        })
    }

    /// The document in this shape.
    pub(super) fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut fields = kept_of(&self.fields, self.including, document)?;
        compute(&self.fields, &mut Scope::of(document), &mut fields)?;
        encode(&fields)
    }
}

/// Whether the rules of a `$project` keep or drop fields.
#[derive(Default)]
struct Modes {
    including: Option<bool>,
    id: Option<bool>,
}

impl Modes {
    fn look_at(&mut self, fields: &[(String, Rule)], within: &str) -> Result<()> {
        for (name, rule) in fields {
            let path = format!("{within}{name}");
            let includes = match rule {
                Rule::Within(fields) => {
                    self.look_at(fields, &format!("{path}."))?;
                    continue;
                }
                Rule::Exclude => false,
                Rule::Include | Rule::Compute(_) => true,
            };
            if path == "_id" && !matches!(rule, Rule::Compute(_)) {
                self.id = Some(includes);
                continue;
            }
            if *self.including.get_or_insert(includes) != includes {
                let (code, doing, kind) = match rule {
                    Rule::Exclude => (31254, "exclusion on", "inclusion"),
                    Rule::Compute(_) => (31252, "computation of", "exclusion"),
                    _ => (31253, "inclusion on", "exclusion"),
                };
                let message = format!("Cannot do {doing} field {path} in {kind} projection");
                return Err(Error::refused(code, message));
            }
        }
        Ok(())
    }
}

fn parse_fields(fields: &mut Vec<(String, Rule)>, spec: &Document, within: &str, stage: Stage) -> Result<()> {
    for (name, value) in spec {
        let path = format!("{within}{name}");
        match value {
            Bson::Document(nested) if nested.is_empty() && stage == Stage::Project => {
                return Err(Error::refused(
                    51270,
                    format!(
                        "An empty sub-projection is not a valid value. Found empty object at path {path}"
                    ),
                ));
            }
            Bson::Document(nested) if !nested.is_empty() && !is_operator(nested) => {
                steps(&path)?;
                parse_fields(fields, nested, &format!("{path}."), stage)?;
            }
            _ => {
                let rule = match (stage, flag(value)) {
                    (Stage::Project, Some(true)) => Rule::Include,
                    (Stage::Project, Some(false)) => Rule::Exclude,
                    (Stage::Project, None) => Rule::Compute(computed(value)?),
                    (Stage::Set, _) => Rule::Compute(Expression::parse(value)?),
                };
                insert(fields, &steps(&path)?, rule, &path, stage)?;
            }
        }
    }
    Ok(())
}

/// What a `$project` computes for a field; MongoDB has another answer there to an operator that it does not know.
fn computed(value: &Bson) -> Result<Expression> {
    let name = value.as_document().and_then(|document| document.keys().next());
    Expression::parse(value).map_err(|error| match (error, name) {
        (Error::Refused { code: 168, message }, Some(name))
            if message == format!("Unrecognized expression '{name}'") =>
        {
            Error::refused(31325, format!("Unknown expression {name}"))
        }
        (error, _) => error,
    })
}

fn insert(
    fields: &mut Vec<(String, Rule)>,
    path: &[String],
    rule: Rule,
    whole: &str,
    stage: Stage,
) -> Result<()> {
    let Some((name, rest)) = path.split_first() else {
        return Ok(());
    };
    let known = fields
        .iter_mut()
        .find(|(field, _)| field == name)
        .map(|(_, rule)| rule);
    match known {
        None if rest.is_empty() => fields.push((name.clone(), rule)),
        None => {
            let mut inner = Vec::new();
            insert(&mut inner, rest, rule, whole, stage)?;
            fields.push((name.clone(), Rule::Within(inner)));
        }
        Some(Rule::Within(inner)) if !rest.is_empty() => insert(inner, rest, rule, whole, stage)?,
        Some(_) => {
            let code = match stage {
                Stage::Project => 31249,
                Stage::Set => 40176,
            };
            return Err(Error::refused(code, format!("Path collision at {whole}")));
        }
    }
    Ok(())
}

/// The fields of an encoded document that are kept, before anything is computed.
fn kept_of<'a>(rules: &[(String, Rule)], including: bool, document: &'a RawDocument) -> Result<Fields<'a>> {
    let mut left = Fields::new();
    let most = if including { rules.len() } else { usize::MAX };
    select(
        document,
        most,
        |name| kept_by(rules, including, name),
        |name, by, value| {
            keep(
                &mut left,
                Cow::Borrowed(name),
                by,
                including,
                Value::Encoded(value),
            )
        },
    )?;
    Ok(left)
}

/// The same of a computed document.
fn kept<'a>(rules: &[(String, Rule)], including: bool, fields: Fields<'a>) -> Result<Fields<'a>> {
    let mut left = Fields::with_capacity(fields.len());
    for (name, value) in fields {
        if let Some(by) = kept_by(rules, including, &name) {
            keep(&mut left, name, by, including, value)?;
        }
    }
    Ok(left)
}

/// Whether a field is kept: `None` if it is not, and otherwise the rules for what is in it; no rules if all of it is kept.
fn kept_by<'r>(rules: &'r [(String, Rule)], including: bool, name: &str) -> Option<&'r [(String, Rule)]> {
    let rule = rules
        .iter()
        .find(|(field, _)| field == name)
        .map(|(_, rule)| rule);
    match rule {
        Some(Rule::Exclude) => None,
        // A `$set` computes it in place; a `$project` puts it after the fields that it keeps.
        None | Some(Rule::Compute(_)) if including => None,
        None | Some(Rule::Include | Rule::Compute(_)) => Some(&[]),
        Some(Rule::Within(rules)) => Some(rules),
    }
}

fn keep<'a>(
    left: &mut Fields<'a>,
    name: Cow<'a, str>,
    within: &[(String, Rule)],
    including: bool,
    value: Value<'a>,
) -> Result<()> {
    let value = if within.is_empty() {
        value
    } else {
        kept_within(within, including, value)?
    };
    if !matches!(value, Value::Missing) {
        left.push((name, value));
    }
    Ok(())
}

fn kept_within<'a>(rules: &[(String, Rule)], including: bool, value: Value<'a>) -> Result<Value<'a>> {
    if !including && !any(rules, |rule| *rule == Rule::Exclude) {
        return Ok(value);
    }
    let value = match value {
        Value::Encoded(RawBsonRef::Document(document)) => {
            return Ok(Value::Document(kept_of(rules, including, document)?));
        }
        Value::Document(fields) => return Ok(Value::Document(kept(rules, including, fields)?)),
        other => other,
    };
    match value.into_elements()? {
        Ok(items) => {
            let mut left = Vec::with_capacity(items.len());
            for item in items {
                match kept_within(rules, including, item)? {
                    Value::Missing => {}
                    value => left.push(value),
                }
            }
            Ok(Value::Array(left))
        }
        Err(_) if including => Ok(Value::Missing),
        Err(other) => Ok(other),
    }
}

/// Whether any of some rules, or of those within them, is of a kind.
fn any(rules: &[(String, Rule)], is: fn(&Rule) -> bool) -> bool {
    rules.iter().any(|(_, rule)| match rule {
        Rule::Within(rules) => any(rules, is),
        rule => is(rule),
    })
}

/// Sets the computed fields. All of them are computed from the original document.
fn compute<'a>(rules: &'a [(String, Rule)], scope: &mut Scope<'a>, fields: &mut Fields<'a>) -> Result<()> {
    for (name, rule) in rules {
        let name = Cow::Borrowed(name.as_str());
        match rule {
            Rule::Compute(expression) => {
                let value = expression.evaluate(scope)?;
                set(fields, name, value);
            }
            Rule::Within(rules) if any(rules, |rule| matches!(rule, Rule::Compute(_))) => {
                let position = fields.iter().position(|(field, _)| *field == name);
                let old = position.map_or(Value::Missing, |position| {
                    std::mem::replace(&mut fields[position].1, Value::NULL)
                });
                let value = compute_within(rules, scope, old)?;
                set(fields, name, value);
            }
            _ => {}
        }
    }
    Ok(())
}

fn compute_within<'a>(
    rules: &'a [(String, Rule)],
    scope: &mut Scope<'a>,
    value: Value<'a>,
) -> Result<Value<'a>> {
    let value = match value.into_elements()? {
        Ok(items) => {
            let items = items.into_iter().map(|item| compute_within(rules, scope, item));
            return Ok(Value::Array(items.collect::<Result<_>>()?));
        }
        Err(other) => other,
    };
    // A value that is not a document is replaced by one.
    let mut fields = value.into_fields()?.unwrap_or_default();
    compute(rules, scope, &mut fields)?;
    Ok(Value::Document(fields))
}
