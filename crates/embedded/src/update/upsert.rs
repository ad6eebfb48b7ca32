//! The document that an upsert inserts.

use bson::{RawBson, RawDocumentBuf};

use super::Changes;
use super::apply::{apply_to, id};
use super::tree::{Fields, Node, close, open};
use crate::filter::{Filter, Test};
use crate::path::{Part, Path};
use document::{Error, Result};

impl Changes {
    /// Makes a document from the filter's equalities, the update and `$setOnInsert`, its `_id` first. One of them
    /// must give the `_id`, so that repeating an upsert cannot insert twice.
    pub(crate) fn insert(&self, filter: &Filter) -> Result<RawDocumentBuf> {
        let demanded = equalities(filter)?;
        // Decoded again, because an operator may be about a document that several equalities made.
        let placed = self.placed(&demanded, true)?;
        let mut fields = open(&demanded)?;
        let asked = id(&fields);
        apply_to(&placed, &mut fields, true)?;
        if asked.is_some() && asked != id(&fields) {
            return Err(Error::refused(
                66,
                "Performing an update on the path '_id' would modify the immutable field '_id'",
            ));
        }
        match fields.iter().position(|(name, _)| *name == "_id") {
            Some(index) => fields[..=index].rotate_right(1),
            None => {
                return Err(Error::refused(
                    2,
                    "an upsert needs an _id, given by an equality in the filter, $set or $setOnInsert",
                ));
            }
        }
        close(&fields, 0)
    }
}

/// A document with the values that the filter requires by equality.
pub(super) fn equalities(filter: &Filter) -> Result<RawDocumentBuf> {
    placed_in_document(demanded(filter)?)
}

/// A document with the `_id` that the filter requires by equality, if it does.
pub(super) fn demanded_id(filter: &Filter) -> Result<RawDocumentBuf> {
    let mut demanded = demanded(filter)?;
    demanded.retain(|(path, _)| path.parts()[0].name == "_id");
    if let Some((path, _)) = demanded.iter().find(|(path, _)| path.parts().len() > 1) {
        let message = format!(
            "field at '_id' must be exactly specified, field at sub-path '{}'found",
            path.text()
        );
        return Err(Error::refused(55, message));
    }
    placed_in_document(demanded)
}

/// What the filter requires by equality.
fn demanded(filter: &Filter) -> Result<Vec<(&Path, &RawBson)>> {
    if filter.computes() {
        let message = "$expr is not allowed in the query predicate for an upsert";
        return Err(Error::refused(224, message));
    }
    let mut demanded = Vec::new();
    collect(filter, &mut demanded);
    Ok(demanded)
}

fn placed_in_document(demanded: Vec<(&Path, &RawBson)>) -> Result<RawDocumentBuf> {
    let mut fields = Fields::new();
    for (path, value) in demanded {
        place(&mut fields, path.parts(), Node::Value(value.as_raw_bson_ref())).map_err(|Taken| {
            let message = format!(
                "cannot infer query fields to set, path '{}' is matched twice",
                path.text()
            );
            Error::refused(54, message)
        })?;
    }
    close(&fields, 0)
}

/// The filter requires two values of one field.
struct Taken;

fn collect<'a>(filter: &'a Filter, equalities: &mut Vec<(&'a Path, &'a RawBson)>) {
    match filter {
        Filter::And(filters) => filters.iter().for_each(|filter| collect(filter, equalities)),
        Filter::Or(filters) if filters.len() == 1 => collect(&filters[0], equalities),
        Filter::Field(path, test) => collect_of(path, test, equalities),
        Filter::Or(_) | Filter::Nor(_) | Filter::Computed(_) => {}
    }
}

fn collect_of<'a>(path: &'a Path, test: &'a Test, equalities: &mut Vec<(&'a Path, &'a RawBson)>) {
    match test {
        Test::Equal(value) => equalities.push((path, value)),
        Test::Every(tests) => tests.iter().for_each(|test| collect_of(path, test, equalities)),
        _ => {}
    }
}

fn place<'a>(fields: &mut Fields<'a>, parts: &'a [Part], node: Node<'a>) -> std::result::Result<(), Taken> {
    let Some((part, rest)) = parts.split_first() else {
        return Ok(());
    };
    let found = fields.iter_mut().find(|(name, _)| *name == part.name);
    match found {
        None => {
            let node = rest
                .iter()
                .rev()
                .fold(node, |node, part| Node::Document(vec![(&part.name, node)]));
            fields.push((&part.name, node));
            Ok(())
        }
        Some((_, Node::Document(fields))) if !rest.is_empty() => place(fields, rest, node),
        Some(_) => Err(Taken),
    }
}
