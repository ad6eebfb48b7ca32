//! `$[]` and `$[name]` in the paths of an update: every element of an array, or those that match an array filter.
//!
//! The elements are selected in the original document, before anything is changed. So such a path is replaced by the
//! paths with positions that it represents, and those are changed, and conflict, like any others.

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::Change;
use super::parse::conflict;
use crate::filter::Filter;
use crate::path::{Part, Path};
use crate::raw::{field, items, write_counted, write_element};
use document::{Error, Result, dup_key, shown};

/// The filters of an update, by their identifiers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ElementFilters(Vec<(String, Filter)>);

/// The identifier in a step such as `$[name]`; that of `$[]`, every element, is empty.
pub(super) fn identifier(part: &Part) -> Option<&str> {
    part.name.strip_prefix("$[")?.strip_suffix(']')
}

/// Whether a path contains such a step.
pub(super) fn selects(path: &Path) -> bool {
    path.parts().iter().any(|part| identifier(part).is_some())
}

impl ElementFilters {
    /// Compiles the filters and checks that the paths use each of them, and no others.
    pub(super) fn parse(filters: &[Document], paths: &[&Path], update: &Document) -> Result<Self> {
        let mut known: Vec<(String, Filter)> = Vec::with_capacity(filters.len());
        for filter in filters {
            let name = name_of(filter)?;
            if known.iter().any(|(other, _)| *other == name) {
                let message =
                    format!("Found multiple array filters with the same top-level field name {name}");
                return Err(Error::refused(9, message));
            }
            known.push((name, Filter::parse_for_elements(filter)?));
        }
        let mut used = Vec::new();
        for path in paths {
            for name in path.parts().iter().filter_map(identifier) {
                if !name.is_empty() && known.iter().all(|(known, _)| known != name) {
                    let message = format!(
                        "No array filter found for identifier '{name}' in path '{}'",
                        path.text()
                    );
                    return Err(Error::refused(2, message));
                }
                used.push(name);
            }
        }
        if let Some((unused, _)) = known.iter().find(|(name, _)| !used.contains(&name.as_str())) {
            let message = format!(
                "The array filter for identifier '{unused}' was not used in the update {}",
                dup_key(update)
            );
            return Err(Error::refused(9, message));
        }
        Ok(Self(known))
    }

    /// The changes with positions instead of elements, for one document.
    pub(super) fn place<'c>(
        &self,
        changes: impl Iterator<Item = &'c Change>,
        document: &RawDocument,
    ) -> Result<Vec<Change>> {
        let mut placed = Vec::new();
        for change in changes {
            if !selects(&change.path) {
                placed.push(change.clone());
                continue;
            }
            let mut paths = Vec::new();
            self.follow(
                RawBsonRef::Document(document),
                change.path.parts(),
                &mut Vec::new(),
                &mut paths,
            )?;
            placed.extend(paths.into_iter().map(|path| Change {
                path,
                action: change.action.clone(),
            }));
        }
        Ok(placed)
    }

    fn follow(
        &self,
        value: RawBsonRef<'_>,
        parts: &[Part],
        before: &mut Vec<String>,
        paths: &mut Vec<Path>,
    ) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            paths.push(Path::new(&before.join(".")));
            return Ok(());
        };
        if let Some(name) = identifier(part) {
            let RawBsonRef::Array(array) = value else {
                let message = format!(
                    "Cannot apply array updates to non-array element {}: {}",
                    before.last().map_or("", String::as_str),
                    shown(&Bson::try_from(value)?)
                );
                return Err(Error::refused(2, message));
            };
            for (position, item) in items(array).enumerate() {
                let item = item?;
                if self.lets_through(name, item)? {
                    before.push(position.to_string());
                    self.follow(item, rest, before, paths)?;
                    before.pop();
                }
            }
            return Ok(());
        }
        before.push(part.name.clone());
        let more = rest.iter().any(|part| identifier(part).is_some());
        let inner = match value {
            _ if !more => None,
            RawBsonRef::Document(document) => field(document, &part.name)?,
            RawBsonRef::Array(array) => match part.position {
                Some(position) => items(array).nth(position).transpose()?,
                None => None,
            },
            _ => None,
        };
        match inner {
            Some(inner) => self.follow(inner, rest, before, paths)?,
            None if more => {
                let message = format!(
                    "The path '{}' must exist in the document in order to apply array updates.",
                    before.join(".")
                );
                return Err(Error::refused(2, message));
            }
            None => {
                let rest = rest.iter().map(|part| part.name.clone());
                let all: Vec<String> = before.iter().cloned().chain(rest).collect();
                paths.push(Path::new(&all.join(".")));
            }
        }
        before.pop();
        Ok(())
    }

    /// An element is checked like the value of a field with the filter's name.
    fn lets_through(&self, name: &str, element: RawBsonRef<'_>) -> Result<bool> {
        let Some((_, filter)) = self.0.iter().find(|(known, _)| known == name) else {
            return Ok(true);
        };
        let mut bytes = Vec::new();
        write_counted(&mut bytes, |out| write_element(name, element, out))?;
        filter.matches(&RawDocumentBuf::from_bytes(bytes)?)
    }
}

/// The one field that all conditions of a filter begin with.
fn name_of(filter: &Document) -> Result<String> {
    let mut names = Vec::new();
    collect(filter, &mut names);
    let Some((name, others)) = names.split_first() else {
        let message = "Cannot use an expression without a top-level field name in arrayFilters";
        return Err(Error::refused(9, message));
    };
    if let Some(other) = others.iter().find(|other| *other != name) {
        let message = format!("Expected a single top-level field name, found '{name}' and '{other}'");
        return Err(Error::refused(9, message));
    }
    let usable = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|letter| letter.is_ascii_alphanumeric());
    if !usable {
        let message = format!(
            "The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '{name}'"
        );
        return Err(Error::refused(2, message));
    }
    Ok((*name).to_owned())
}

fn collect<'f>(filter: &'f Document, names: &mut Vec<&'f str>) {
    for (name, value) in filter {
        match value {
            Bson::Array(branches) if name.starts_with('$') => {
                let branches = branches.iter().filter_map(Bson::as_document);
                branches.for_each(|branch| collect(branch, names));
            }
            _ if name.starts_with('$') => {}
            _ => names.extend(name.split('.').next()),
        }
    }
}

/// Refuses to change elements and positions of one array in the same update, as their order would matter.
pub(super) fn check_mixed(paths: &[&Path]) -> Result<()> {
    for (nth, path) in paths.iter().enumerate() {
        for other in &paths[nth + 1..] {
            let differ = path.parts().iter().zip(other.parts()).position(|(a, b)| a != b);
            let Some(at) = differ else { continue };
            let elements = |path: &Path| identifier(&path.parts()[at]).is_some();
            if elements(path) != elements(other) {
                let shared: Vec<&str> = path.parts()[..at].iter().map(|part| part.name.as_str()).collect();
                return Err(conflict(other.text(), &shared.join(".")));
            }
        }
    }
    Ok(())
}
