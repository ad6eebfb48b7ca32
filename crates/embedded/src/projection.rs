//! Projections: decoding only the fields that the caller wants.

use bson::spec::ElementType;
use bson::{Bson, Document, RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::compare::flag;
use super::filter::{Filter, Test, operand, whole_number};
use super::raw::{decode, decode_value, select, write_counted, write_element, write_name};
use document::{Error, Result, shown};

/// A compiled projection.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Projection {
    /// Return the fields named, instead of all but those.
    including: bool,
    fields: Fields,
}

type Fields = Vec<(String, Rule)>;

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Include,
    Exclude,
    /// Skip this many elements, counted from the end if negative, and return this many.
    Slice {
        skip: i64,
        take: Option<u64>,
    },
    /// The first element that passes.
    First(Test),
    Within(Fields),
}

impl Projection {
    /// Compiles a projection; refuses mixtures and expressions.
    pub(super) fn parse(document: &Document) -> Result<Self> {
        let mut rules = Vec::with_capacity(document.len());
        for (path, value) in document {
            rules.push((path.as_str(), rule(path, value)?));
        }
        let decisive = |(path, rule): &&(&str, Rule)| match rule {
            Rule::Include | Rule::First(_) | Rule::Exclude => *path != "_id",
            _ => false,
        };
        let including = match rules.iter().find(decisive) {
            Some((_, rule)) => *rule != Rule::Exclude,
            None => rules
                .iter()
                .any(|(path, rule)| *path == "_id" && *rule == Rule::Include),
        };
        for (path, rule) in rules.iter().filter(|(path, _)| *path != "_id") {
            let (code, doing, kind) = match rule {
                Rule::Exclude if including => (31254, "exclusion", "inclusion"),
                Rule::Include | Rule::First(_) if !including => (31253, "inclusion", "exclusion"),
                _ => continue,
            };
            let message = format!("Cannot do {doing} on field {path} in {kind} projection");
            return Err(Error::refused(code, message));
        }
        let mut projection = Self {
            including,
            fields: Vec::new(),
        };
        if including && !rules.iter().any(|(path, _)| *path == "_id") {
            projection.fields.push(("_id".to_owned(), Rule::Include));
        }
        for (path, rule) in rules {
            insert(&mut projection.fields, path, path, rule)?;
        }
        Ok(projection)
    }

    /// The paths of the fields that it needs; `None` if it needs whole documents.
    pub(super) fn needs(&self) -> Option<Vec<String>> {
        fn add(fields: &Fields, under: &str, paths: &mut Vec<String>) -> bool {
            fields.iter().all(|(name, rule)| match rule {
                Rule::Include => {
                    paths.push(format!("{under}{name}"));
                    true
                }
                Rule::Exclude => under.is_empty() && name == "_id",
                Rule::Within(inner) => add(inner, &format!("{under}{name}."), paths),
                Rule::Slice { .. } | Rule::First(_) => false,
            })
        }
        let mut paths = Vec::new();
        (self.including && add(&self.fields, "", &mut paths)).then_some(paths)
    }

    /// The projected part of a document, decoded.
    pub(super) fn apply(&self, document: &RawDocument) -> Result<Document> {
        if self.fields.is_empty() && !self.including {
            return decode(document);
        }
        self.document(&self.fields, document)
    }

    /// The same, encoded.
    pub(super) fn encode(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        if self.fields.is_empty() && !self.including {
            return Ok(document.to_owned());
        }
        let mut out = Vec::with_capacity(256);
        self.write(&self.fields, document, &mut out)?;
        Ok(RawDocumentBuf::from_bytes(out)?)
    }

    fn write(&self, fields: &Fields, document: &RawDocument, out: &mut Vec<u8>) -> Result<()> {
        write_counted(out, |out| {
            self.each(fields, document, |name, rule, value| match (rule, value) {
                (None | Some(Rule::Include), value) => write_element(name, value, out),
                (Some(Rule::Within(fields)), RawBsonRef::Document(document)) => {
                    write_name(ElementType::EmbeddedDocument, name, out)?;
                    self.write(fields, document, out)
                }
                (Some(rule), value) => match self.value(rule, value)? {
                    Some(kept) => write_element(name, RawBson::try_from(kept)?.as_raw_bson_ref(), out),
                    None => Ok(()),
                },
            })
        })
    }

    /// Passes on the fields of a document that are named or, unless only these are kept, all others.
    fn each<'a, 'p>(
        &'p self,
        fields: &'p Fields,
        document: &'a RawDocument,
        take: impl FnMut(&'a str, Option<&'p Rule>, RawBsonRef<'a>) -> Result<()>,
    ) -> Result<()> {
        let most = if self.including { fields.len() } else { usize::MAX };
        let rule = |name: &str| match fields.iter().find(|(field, _)| field == name) {
            Some((_, rule)) => Some(Some(rule)),
            None if self.including => None,
            None => Some(None),
        };
        select(document, most, rule, take)
    }

    fn document(&self, fields: &Fields, document: &RawDocument) -> Result<Document> {
        let mut projected = Document::new();
        self.each(fields, document, |name, rule, value| {
            let kept = match rule {
                Some(rule) => self.value(rule, value)?,
                None => Some(decode_value(value)?),
            };
            if let Some(kept) = kept {
                projected.insert(name, kept);
            }
            Ok(())
        })?;
        Ok(projected)
    }

    fn value(&self, rule: &Rule, value: RawBsonRef<'_>) -> Result<Option<Bson>> {
        match (rule, value) {
            (Rule::Slice { skip, take }, RawBsonRef::Array(items)) => slice(*skip, *take, items).map(Some),
            (Rule::Include | Rule::Slice { .. }, value) => decode_value(value).map(Some),
            (Rule::First(test), RawBsonRef::Array(items)) => first(test, items),
            (Rule::Within(fields), RawBsonRef::Document(document)) => {
                Ok(Some(Bson::Document(self.document(fields, document)?)))
            }
            (Rule::Within(_), RawBsonRef::Array(items)) => {
                let mut kept = Vec::new();
                for item in items {
                    kept.extend(self.value(rule, item?)?);
                }
                Ok(Some(Bson::Array(kept)))
            }
            (Rule::Within(_), value) if !self.including => decode_value(value).map(Some),
            (Rule::Exclude | Rule::Within(_) | Rule::First(_), _) => Ok(None),
        }
    }
}

fn rule(path: &str, value: &Bson) -> Result<Rule> {
    let unsupported = || {
        let message = format!("the projection of '{path}' is not supported");
        Err(Error::refused(2, message))
    };
    if path
        .split('.')
        .any(|part| part.is_empty() || part.starts_with('$'))
    {
        return unsupported();
    }
    match flag(value) {
        Some(true) => return Ok(Rule::Include),
        Some(false) => return Ok(Rule::Exclude),
        None => {}
    }
    match value {
        Bson::Document(expression) if expression.len() == 1 => match expression.iter().next() {
            Some((name, value)) if name == "$slice" => slice_rule(value),
            Some((name, value)) if name == "$elemMatch" => elem_match(path, value),
            Some((name, _)) if name.starts_with('$') => Err(Error::refused(
                2,
                format!(
                    "the embedded engine does not support '{name}' in a projection of find, on field {path}; use \
                     aggregate with $project"
                ),
            )),
            _ => unsupported(),
        },
        _ => Err(Error::refused(
            2,
            format!("the projection of '{path}' to {} is not supported", shown(value)),
        )),
    }
}

fn elem_match(path: &str, value: &Bson) -> Result<Rule> {
    let Bson::Document(condition) = value else {
        return Err(Error::refused(2, "elemMatch: Invalid argument, object required"));
    };
    if path.contains('.') {
        return Err(Error::refused(
            31275,
            "Cannot use $elemMatch projection on a nested field",
        ));
    }
    Ok(Rule::First(if Test::is_operators(condition) {
        Test::Every(Test::parse(condition)?)
    } else {
        Test::AnyDocument(Box::new(Filter::parse_for_elements(condition)?))
    }))
}

fn slice_rule(value: &Bson) -> Result<Rule> {
    let number = |value: &Bson| {
        whole_number(operand(value)?.as_raw_bson_ref())
            .ok_or_else(|| Error::refused(28667, format!("$slice takes integers, not {}", shown(value))))
    };
    match value {
        Bson::Array(items) if items.len() == 2 => match u64::try_from(number(&items[1])?) {
            Ok(take @ 1..) => Ok(Rule::Slice {
                skip: number(&items[0])?,
                take: Some(take),
            }),
            _ => Err(Error::refused(
                28724,
                "Invalid $slice syntax. The limit must be positive",
            )),
        },
        Bson::Array(_) => Err(Error::refused(
            28667,
            "Invalid $slice syntax. The given array is not [skip, limit]",
        )),
        _ => {
            let count = number(value)?;
            Ok(Rule::Slice {
                skip: count.min(0),
                take: u64::try_from(count).ok(),
            })
        }
    }
}

fn insert(fields: &mut Fields, path: &str, whole: &str, rule: Rule) -> Result<()> {
    let (name, rest) = path
        .split_once('.')
        .map_or((path, None), |(name, rest)| (name, Some(rest)));
    let known = fields
        .iter_mut()
        .find(|(field, _)| field == name)
        .map(|(_, rule)| rule);
    match (known, rest) {
        (None, None) => fields.push((name.to_owned(), rule)),
        (None, Some(rest)) => {
            let mut inner = Fields::new();
            insert(&mut inner, rest, whole, rule)?;
            fields.push((name.to_owned(), Rule::Within(inner)));
        }
        (Some(Rule::Within(inner)), Some(rest)) => insert(inner, rest, whole, rule)?,
        (Some(_), None) => return Err(Error::refused(31250, format!("Path collision at {whole}"))),
        (Some(_), Some(rest)) => {
            let message = format!("Path collision at {whole} remaining portion {rest}");
            return Err(Error::refused(31249, message));
        }
    }
    Ok(())
}

fn slice(skip: i64, take: Option<u64>, items: &RawArray) -> Result<Bson> {
    let distance = usize::try_from(skip.unsigned_abs()).unwrap_or(usize::MAX);
    let skip = if skip < 0 {
        items.iter_elements().count().saturating_sub(distance)
    } else {
        distance
    };
    let take = take.map_or(usize::MAX, |take| usize::try_from(take).unwrap_or(usize::MAX));
    let kept = items
        .iter_elements()
        .skip(skip)
        .take(take)
        .map(|item| decode_value(item?.value()?));
    Ok(Bson::Array(kept.collect::<Result<_>>()?))
}

fn first(test: &Test, items: &RawArray) -> Result<Option<Bson>> {
    for item in items {
        let item = item?;
        let passes = match test {
            Test::AnyDocument(filter) => filter.matches_element(item)?,
            _ => test.accepts_itself(Some(item))?,
        };
        if passes {
            return Ok(Some(Bson::Array(vec![decode_value(item)?])));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
