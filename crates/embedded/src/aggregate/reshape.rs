//! The stages that make one document from each: the only ones that an update may have.

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::expression::{Expression, Scope};
use super::shape::Shape;
use super::value::{Value, encode};
use crate::unsupported;
use document::{Error, Result};

/// A compiled stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reshape {
    /// `$project`, `$set`, `$addFields`, `$unset`
    Shape(Shape),
    /// `$replaceRoot`, `$replaceWith`
    Replace(Expression),
}

impl Reshape {
    /// Compiles a stage; `None` if this kind has no stage of that name.
    pub(crate) fn parse(name: &str, spec: &Bson) -> Result<Option<Self>> {
        Ok(Some(match name {
            "$project" => Self::Shape(within(name, Shape::project(document(name, spec, 15969)?))?),
            "$set" | "$addFields" => Self::Shape(within(name, Shape::set(document(name, spec, 40272)?))?),
            "$unset" => Self::Shape(within(name, Shape::unset(spec))?),
            "$replaceWith" => Self::Replace(Expression::parse(spec)?),
            "$replaceRoot" => {
                let spec = document(name, spec, 40229)?;
                if let Some(unknown) = spec.keys().find(|name| *name != "newRoot") {
                    let message = format!("BSON field '$replaceRoot.{unknown}' is an unknown field.");
                    return Err(Error::refused(40415, message));
                }
                let missing = || {
                    Error::refused(
                        40414,
                        "BSON field '$replaceRoot.newRoot' is missing but a required field",
                    )
                };
                Self::Replace(Expression::parse(spec.get("newRoot").ok_or_else(missing)?)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The document that it makes.
    pub(crate) fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match self {
            Self::Shape(shape) => shape.apply(document),
            Self::Replace(root) => match root.evaluate(&mut Scope::of(document))? {
                Value::Encoded(RawBsonRef::Document(document)) => Ok(document.to_owned()),
                Value::Document(fields) => encode(&fields),
                other => {
                    let message = format!(
                        "'newRoot' expression must evaluate to an object, but resulting value was of type: '{}'",
                        other.type_name()
                    );
                    Err(Error::refused(40228, message))
                }
            },
        }
    }
}

/// The stage, or what MongoDB says of a malformed one.
fn within(stage: &str, shape: Result<Shape>) -> Result<Shape> {
    shape.map_err(|error| error.during(&format!("Invalid {stage}")))
}

/// The specification of a stage that takes a document.
pub(super) fn document<'d>(stage: &str, spec: &'d Bson, code: i32) -> Result<&'d Document> {
    spec.as_document()
        .ok_or_else(|| Error::refused(code, format!("{stage} specification stage must be an object")))
}

/// The name and specification of a stage.
pub(crate) fn stage(document: &Document) -> Result<(&str, &Bson)> {
    let mut entries = document.iter();
    match (entries.next(), entries.next()) {
        (Some((name, spec)), None) => Ok((name, spec)),
        _ => Err(Error::refused(
            40323,
            "A pipeline stage specification object must contain exactly one field.",
        )),
    }
}

/// Refuses an unknown stage.
pub(crate) fn unrecognized(name: &str) -> Error {
    unsupported::refused(40324, name, format!("Unrecognized pipeline stage name: '{name}'"))
}
