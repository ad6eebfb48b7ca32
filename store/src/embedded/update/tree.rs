//! A document that is opened only where it changes.

use bson::raw::CStr;
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::Result;

/// The fields of an opened document, in their stored order.
pub(super) type Fields<'a> = Vec<(&'a str, Node<'a>)>;

/// A value in a document being changed.
#[derive(Debug, Clone)]
pub(super) enum Node<'a> {
    /// As stored, or as the update gives it.
    Value(RawBsonRef<'a>),
    /// An opened document.
    Document(Fields<'a>),
    /// An opened array.
    Array(Vec<Node<'a>>),
    /// An array made of values, as the array operators leave it.
    Values(Vec<RawBsonRef<'a>>),
}

/// Opens a document by one level.
pub(super) fn open(document: &RawDocument) -> Result<Fields<'_>> {
    let mut fields = Vec::new();
    for element in document.iter_elements() {
        let element = element?;
        fields.push((element.key().as_str(), Node::Value(element.value()?)));
    }
    Ok(fields)
}

/// Puts a document together again.
pub(super) fn close(fields: &[(&str, Node<'_>)]) -> Result<RawDocumentBuf> {
    let mut document = RawDocumentBuf::new();
    for (name, node) in fields {
        let name: &CStr = (*name).try_into()?;
        match node {
            Node::Value(value) => document.append(name, *value),
            Node::Document(fields) => document.append(name, &close(fields)?),
            Node::Array(_) | Node::Values(_) => document.append(name, &close_array(node)?),
        }
    }
    Ok(document)
}

fn close_array(node: &Node<'_>) -> Result<RawArrayBuf> {
    let mut array = RawArrayBuf::new();
    match node {
        Node::Values(values) => values.iter().for_each(|value| array.push(*value)),
        Node::Array(items) => {
            for item in items {
                match item {
                    Node::Value(value) => array.push(*value),
                    Node::Document(fields) => array.push(&close(fields)?),
                    Node::Array(_) | Node::Values(_) => array.push(&close_array(item)?),
                }
            }
        }
        Node::Value(_) | Node::Document(_) => {}
    }
    Ok(array)
}

impl<'a> Node<'a> {
    /// Opens a stored document or array by one level.
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

    /// The elements of a stored array; `None` for anything else. No other change has opened it, as paths that
    /// conflict were refused.
    pub(super) fn elements(&self) -> Result<Option<Vec<RawBsonRef<'a>>>> {
        match self {
            Self::Value(RawBsonRef::Array(array)) => {
                Ok(Some(array.into_iter().collect::<bson::error::Result<_>>()?))
            }
            _ => Ok(None),
        }
    }

    /// The stored value, if it was not opened.
    pub(super) fn value(&self) -> Option<RawBsonRef<'a>> {
        match self {
            Self::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// What MongoDB's messages call its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Value(value) => crate::embedded::compare::type_name(*value),
            Self::Document(_) => "object",
            Self::Array(_) | Self::Values(_) => "array",
        }
    }
}
