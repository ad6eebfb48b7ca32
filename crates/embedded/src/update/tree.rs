//! A document that is decoded only where it changes.

use bson::spec::ElementType;
use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::raw::{Positions, items, write_counted, write_element, write_name};
use document::{Result, shown};

/// The fields of an opened document, in their stored order.
pub(super) type Fields<'a> = Vec<(&'a str, Node<'a>)>;

/// A value in a document being changed.
#[derive(Debug, Clone)]
pub(super) enum Node<'a> {
    /// As stored, or as given by the update.
    Value(RawBsonRef<'a>),
    /// An opened document.
    Document(Fields<'a>),
    /// An opened array.
    Array(Vec<Node<'a>>),
    /// An array made of values, as the array operators leave it.
    Values(Vec<RawBsonRef<'a>>),
}

/// Decodes a document by one level.
pub(super) fn open(document: &RawDocument) -> Result<Fields<'_>> {
    let mut fields = Vec::new();
    for element in document.iter_elements() {
        let element = element?;
        fields.push((element.key().as_str(), Node::Value(element.value()?)));
    }
    Ok(fields)
}

/// Encodes a document again. `size` is about how many bytes it will have.
pub(super) fn close(fields: &[(&str, Node<'_>)], size: usize) -> Result<RawDocumentBuf> {
    let mut bytes = Vec::with_capacity(size);
    write_document(fields, &mut bytes)?;
    Ok(RawDocumentBuf::from_bytes(bytes)?)
}

fn write_document(fields: &[(&str, Node<'_>)], out: &mut Vec<u8>) -> Result<()> {
    write_counted(out, |out| {
        fields
            .iter()
            .try_for_each(|(name, node)| write_node(name, node, out))
    })
}

fn write_node(name: &str, node: &Node<'_>, out: &mut Vec<u8>) -> Result<()> {
    match node {
        Node::Value(value) => write_element(name, *value, out),
        Node::Document(fields) => {
            write_name(ElementType::EmbeddedDocument, name, out)?;
            write_document(fields, out)
        }
        Node::Array(items) => {
            write_name(ElementType::Array, name, out)?;
            write_counted(out, |out| {
                let mut positions = Positions::new();
                items
                    .iter()
                    .try_for_each(|item| write_node(positions.next(), item, out))
            })
        }
        Node::Values(values) => {
            write_name(ElementType::Array, name, out)?;
            write_counted(out, |out| {
                let mut positions = Positions::new();
                values
                    .iter()
                    .try_for_each(|value| write_element(positions.next(), *value, out))
            })
        }
    }
}
impl<'a> Node<'a> {
    /// Decodes a stored document or array by one level.
    pub(super) fn open(&mut self) -> Result<()> {
        match self {
            Self::Value(RawBsonRef::Document(document)) => *self = Self::Document(open(document)?),
            Self::Value(RawBsonRef::Array(array)) => {
                let items = array.into_iter().map(|item| Ok(Self::Value(item?)));
                *self = Self::Array(items.collect::<Result<_>>()?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The elements of a stored array; `None` for anything else. No other change has decoded it, as conflicting paths
    /// were refused.
    pub(super) fn elements(&self) -> Result<Option<Vec<RawBsonRef<'a>>>> {
        match self {
            Self::Value(RawBsonRef::Array(array)) => Ok(Some(items(array).collect::<Result<_>>()?)),
            _ => Ok(None),
        }
    }

    /// The stored value, if it was not decoded.
    pub(super) fn value(&self) -> Option<RawBsonRef<'a>> {
        match self {
            Self::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// The value in MongoDB's messages.
    pub(super) fn shown(&self) -> Result<String> {
        Ok(match self {
            Self::Value(value) => shown(&Bson::try_from(*value)?),
            Self::Document(fields) => {
                let shown = fields
                    .iter()
                    .map(|(name, node)| Ok(format!("{name}: {}", node.shown()?)));
                format!("{{ {} }}", shown.collect::<Result<Vec<_>>>()?.join(", "))
            }
            Self::Array(items) => {
                let shown = items.iter().map(Self::shown).collect::<Result<Vec<_>>>()?;
                format!("[ {} ]", shown.join(", "))
            }
            Self::Values(values) => {
                let shown = values.iter().map(|value| Self::Value(*value).shown());
                format!("[ {} ]", shown.collect::<Result<Vec<_>>>()?.join(", "))
            }
        })
    }

    /// The name of its type in MongoDB's messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Value(value) => crate::compare::type_name(*value),
            Self::Document(_) => "object",
            Self::Array(_) | Self::Values(_) => "array",
        }
    }
}
