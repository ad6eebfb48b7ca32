//! Applying [`Changes`] to a document.

use std::borrow::Cow;

use bson::{Bson, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::array::add_to_set;
use super::elements::selects;
use super::parse::in_order;
use super::tree::{Fields, Node, close, open};
use super::{Action, Change, Changes};
use crate::compare::compare;
use crate::number::{ADD, MULTIPLY, Number, Operation};
use crate::path::Part;
use document::{Error, Result, shown};

/// How far an update may extend an array with nulls, as in MongoDB.
const MOST_PADDING: usize = 1_500_000;

/// The usual upper bound for how many bytes an update adds to a document.
const ROOM: usize = 256;

impl Changes {
    /// The document as the update leaves it. Fails before anything changes; refuses to change `_id`.
    pub(crate) fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let placed = self.placed(document, false)?;
        let mut fields = open(document)?;
        apply_to(&placed, &mut fields, false)?;
        let changed = close(&fields, document.as_bytes().len() + ROOM)?;
        if changed.get("_id")? != document.get("_id")? {
            return Err(Error::refused(
                66,
                "Performing an update on the path '_id' would modify the immutable field '_id'",
            ));
        }
        Ok(changed)
    }

    /// The changes to make to one document.
    pub(super) fn placed(&self, document: &RawDocument, inserting: bool) -> Result<Cow<'_, [Change]>> {
        if !self.changes.iter().any(|change| selects(&change.path)) {
            return Ok(Cow::Borrowed(&self.changes));
        }
        let made = |change: &&Change| inserting || !matches!(change.action, Action::SetOnInsert(_));
        let mut changes = self.filters.place(self.changes.iter().filter(made), document)?;
        in_order(&mut changes)?;
        Ok(Cow::Owned(changes))
    }
}

/// Applies every change; `$setOnInsert` only when `inserting`.
pub(super) fn apply_to<'a>(changes: &'a [Change], fields: &mut Fields<'a>, inserting: bool) -> Result<()> {
    let id = id(fields);
    for change in changes {
        if inserting || !matches!(change.action, Action::SetOnInsert(_)) {
            Changing { change, id }.in_document(fields, change.path.parts())?;
        }
    }
    Ok(())
}

/// The `_id` of an opened document.
pub(super) fn id<'a>(fields: &Fields<'a>) -> Option<RawBsonRef<'a>> {
    let found = fields.iter().find(|(name, _)| *name == "_id");
    found.and_then(|(_, node)| node.value())
}

/// A change of one document.
#[derive(Clone, Copy)]
struct Changing<'a> {
    change: &'a Change,
    /// The document's `_id`.
    id: Option<RawBsonRef<'a>>,
}

impl<'a> Changing<'a> {
    fn in_document(self, fields: &mut Fields<'a>, parts: &'a [Part]) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(());
        };
        match fields.iter().position(|(name, _)| *name == part.name) {
            Some(index) if rest.is_empty() => {
                if self.change(&mut fields[index].1, &part.name)? == FieldChange::Removed {
                    fields.remove(index);
                }
            }
            Some(index) => self.in_node(&mut fields[index].1, &part.name, rest)?,
            None => {
                if let Some(node) = self.create(rest)? {
                    fields.push((&part.name, node));
                }
            }
        }
        Ok(())
    }

    fn in_node(self, node: &mut Node<'a>, name: &str, parts: &'a [Part]) -> Result<()> {
        node.open()?;
        let Some((part, rest)) = parts.split_first() else {
            return Ok(());
        };
        match node {
            Node::Document(fields) => self.in_document(fields, parts),
            Node::Array(items) if part.position.is_some() => {
                let position = part.position.unwrap_or_default();
                match items.get_mut(position) {
                    Some(item) if rest.is_empty() => {
                        if self.change(item, &part.name)? == FieldChange::Removed {
                            *item = Node::Value(RawBsonRef::Null);
                        }
                    }
                    Some(item) => self.in_node(item, &part.name, rest)?,
                    None => {
                        if let Some(node) = self.create(rest)? {
                            pad(items, position)?;
                            items.push(node);
                        }
                    }
                }
                Ok(())
            }
            _ if !self.change.action.creates() => Ok(()),
            _ => {
                let (field, found) = (&part.name, node.shown()?);
                let message = format!("Cannot create field '{field}' in element {{{name}: {found}}}");
                Err(Error::refused(28, message))
            }
        }
    }

    /// The new value of a missing field, inside the documents that the rest of the path requires.
    fn create(self, parts: &'a [Part]) -> Result<Option<Node<'a>>> {
        if !self.change.action.creates() {
            return Ok(None);
        }
        let mut node = Node::Values(Vec::new());
        match &self.change.action {
            Action::Push(_) | Action::AddToSet(_) => {
                self.change_elements(&mut node, Vec::new())?;
            }
            Action::Set(value)
            | Action::SetOnInsert(value)
            | Action::Increment(value)
            | Action::Multiply(_, value)
            | Action::Minimum(value)
            | Action::Maximum(value) => node = Node::Value(value.as_raw_bson_ref()),
            Action::Unset | Action::Pull(_) | Action::Pop { .. } => return Ok(None),
        }
        Ok(Some(parts.iter().rev().fold(node, |node, part| {
            Node::Document(vec![(&part.name, node)])
        })))
    }

    /// Changes the existing value of the field with this name.
    fn change(self, node: &mut Node<'a>, name: &str) -> Result<FieldChange> {
        let wins = |operand: &RawBson, order: std::cmp::Ordering| {
            node.value()
                .is_some_and(|value| compare(operand.as_raw_bson_ref(), value) == order)
        };
        match &self.change.action {
            Action::Set(value) | Action::SetOnInsert(value) => *node = Node::Value(value.as_raw_bson_ref()),
            Action::Unset => return Ok(FieldChange::Removed),
            Action::Increment(operand) => {
                *node = Node::Value(self.calculate(("$inc", ADD), (node, name), operand)?);
            }
            Action::Multiply(operand, _) => {
                *node = Node::Value(self.calculate(("$mul", MULTIPLY), (node, name), operand)?);
            }
            Action::Minimum(operand) if !wins(operand, std::cmp::Ordering::Less) => {}
            Action::Maximum(operand) if !wins(operand, std::cmp::Ordering::Greater) => {}
            Action::Minimum(operand) | Action::Maximum(operand) => {
                *node = Node::Value(operand.as_raw_bson_ref());
            }
            Action::Push(_) | Action::AddToSet(_) | Action::Pull(_) | Action::Pop { .. } => {
                let Some(elements) = node.elements()? else {
                    return Err(self.not_an_array(node, name));
                };
                self.change_elements(node, elements)?;
            }
        }
        Ok(FieldChange::Kept)
    }

    /// The number after `$inc` or `$mul`; a 64-bit integer that would overflow is refused.
    fn calculate(
        self,
        (operator, operation): (&str, Operation),
        (node, name): (&Node<'_>, &str),
        operand: &RawBson,
    ) -> Result<RawBsonRef<'static>> {
        let current = node.value().and_then(Number::of);
        let (Some(current), Some(operand)) = (current, Number::of(operand.as_raw_bson_ref())) else {
            let message = format!(
                "Cannot apply {operator} to a value of non-numeric type. {} has the field '{name}' of non-numeric type {}",
                self.document(),
                node.type_name()
            );
            return Err(Error::refused(14, message));
        };
        let result = current.combine(operation, operand);
        match (current.as_integer(), operand.as_integer(), result) {
            (Some(integer), Some(_), Number::Double(_)) => {
                let kind = if node.type_name() == "int" {
                    "NumberInt"
                } else {
                    "NumberLong"
                };
                let message = format!(
                    "Failed to apply {operator} operations to current value (({kind}){integer}) for document {}",
                    self.document()
                );
                Err(Error::refused(2, message))
            }
            _ => Ok(result.encoded()),
        }
    }

    /// The document in MongoDB's messages.
    fn document(self) -> String {
        let id = self.id.and_then(|id| Bson::try_from(id).ok());
        id.map_or_else(|| "{no id}".to_owned(), |id| format!("{{_id: {}}}", shown(&id)))
    }

    fn change_elements(self, node: &mut Node<'a>, mut elements: Vec<RawBsonRef<'a>>) -> Result<()> {
        match &self.change.action {
            Action::Push(push) => push.apply(&mut elements)?,
            Action::AddToSet(values) => add_to_set(values, &mut elements),
            Action::Pull(pull) => pull.apply(&mut elements)?,
            Action::Pop { first: true } if !elements.is_empty() => {
                elements.remove(0);
            }
            Action::Pop { .. } => {
                elements.pop();
            }
            _ => {}
        }
        *node = Node::Values(elements);
        Ok(())
    }

    fn not_an_array(self, node: &Node<'_>, name: &str) -> Error {
        let (path, found) = (self.change.path.text(), node.type_name());
        match self.change.action {
            Action::AddToSet(_) => Error::refused(
                2,
                format!(
                    "Cannot apply $addToSet to non-array field. Field named '{name}' has non-array type {found}"
                ),
            ),
            Action::Pull(_) => Error::refused(2, "Cannot apply $pull to a non-array value"),
            Action::Pop { .. } => Error::refused(
                14,
                format!("Path '{path}' contains an element of non-array type '{found}'"),
            ),
            _ => {
                let document = self.document();
                let message = format!(
                    "The field '{path}' must be an array but is of type {found} in document {document}"
                );
                Error::refused(2, message)
            }
        }
    }
}

impl Action {
    /// Whether it creates a missing field.
    fn creates(&self) -> bool {
        !matches!(self, Self::Unset | Self::Pull(_) | Self::Pop { .. })
    }
}

/// The result of changing a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldChange {
    Kept,
    Removed,
}

fn pad(items: &mut Vec<Node<'_>>, len: usize) -> Result<()> {
    if len.saturating_sub(items.len()) > MOST_PADDING {
        return Err(Error::refused(2, "can't backfill more than 1500000 elements"));
    }
    items.resize_with(len, || Node::Value(RawBsonRef::Null));
    Ok(())
}
