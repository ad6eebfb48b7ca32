//! Dotted paths and how MongoDB follows them through documents and arrays.

use std::ops::ControlFlow;

use bson::{RawArray, RawBsonRef, RawDocument};

use super::raw::{field, items};
use document::Result;

/// A dotted path such as `likes.head.159`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    text: String,
    parts: Vec<Part>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The field's name.
    pub(super) name: String,
    /// The array position that the name can also mean.
    pub(super) position: Option<usize>,
}

/// How a path led to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Through documents only.
    Documents,
    /// Through an array, and at its end to a field of a document.
    Arrays,
    /// Its last step named a position in an array. If the value is an array, it does not match by its elements.
    Position,
}

/// Receives each value that a path leads to (`None` where a document lacks the field) and how it did.
pub(super) type Visitor<'v, 'a> = dyn FnMut(Option<RawBsonRef<'a>>, Way) -> ControlFlow<()> + 'v;

impl Path {
    /// Splits a path at its dots.
    pub(super) fn new(text: &str) -> Self {
        let parts = text
            .split('.')
            .map(|name| {
                let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                let canonical = digits && (name == "0" || !name.starts_with('0'));
                Part {
                    name: name.to_owned(),
                    position: canonical.then(|| name.parse().ok()).flatten(),
                }
            })
            .collect();
        Self {
            text: text.to_owned(),
            parts,
        }
    }

    /// The path as written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Its steps; at least one.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The top-level field it starts from.
    pub(super) fn root(&self) -> &str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// Visits every value that the path leads to until the visitor breaks. An array in the middle of the path is
    /// entered at each of its documents, and at the position that the next step names; one at the end is visited as a
    /// whole.
    pub(super) fn walk<'a>(&self, document: &'a RawDocument, visit: &mut Visitor<'_, 'a>) -> Result<()> {
        in_document(document, &self.parts, Way::Documents, visit).map(|_| ())
    }
}

fn in_document<'a>(
    document: &'a RawDocument,
    parts: &[Part],
    way: Way,
    visit: &mut Visitor<'_, 'a>,
) -> Result<ControlFlow<()>> {
    let Some((part, rest)) = parts.split_first() else {
        return Ok(ControlFlow::Continue(()));
    };
    match field(document, &part.name)? {
        None => Ok(visit(None, way)),
        value if rest.is_empty() => Ok(visit(value, way)),
        Some(RawBsonRef::Document(document)) => in_document(document, rest, way, visit),
        Some(RawBsonRef::Array(array)) => in_array(array, rest, visit),
        Some(_) => Ok(visit(None, way)),
    }
}

fn in_array<'a>(array: &'a RawArray, parts: &[Part], visit: &mut Visitor<'_, 'a>) -> Result<ControlFlow<()>> {
    let Some((part, rest)) = parts.split_first() else {
        return Ok(ControlFlow::Continue(()));
    };
    for (position, item) in items(array).enumerate() {
        let item = item?;
        let mut flow = ControlFlow::Continue(());
        if let RawBsonRef::Document(document) = item {
            flow = in_document(document, parts, Way::Arrays, visit)?;
        }
        if flow.is_continue() && part.position == Some(position) {
            flow = match item {
                _ if rest.is_empty() => visit(Some(item), Way::Position),
                RawBsonRef::Document(document) => in_document(document, rest, Way::Arrays, visit)?,
                RawBsonRef::Array(array) => in_array(array, rest, visit)?,
                _ => ControlFlow::Continue(()),
            };
        }
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}
