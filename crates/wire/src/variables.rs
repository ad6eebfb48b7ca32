//! `let`: named constants of a command, for the expressions in its filters, updates and stages.
//!
//! The port does not have them. An expression that names one becomes a `$let` of its own that binds the constant.

use bson::{Bson, Document, doc};
use document::Change;

use crate::arguments::Arguments;
use crate::fault::{BAD_VALUE, CommandError, Outcome};

/// The variables of a command.
#[derive(Debug, Default)]
pub(crate) struct Variables(Document);

impl Variables {
    /// Takes the variables out of a command.
    pub(crate) fn take(arguments: &mut Arguments) -> Outcome<Self> {
        let variables = arguments.document("let")?;
        for (name, value) in &variables {
            if computes(value) {
                let message =
                    format!("'let.{name}' is not a constant; only constants are supported by this server");
                return Err(CommandError::new(BAD_VALUE, message));
            }
        }
        Ok(Self(variables))
    }

    /// A filter whose expressions can use the variables.
    pub(crate) fn in_filter(&self, mut filter: Document) -> Document {
        if !self.0.is_empty() {
            self.bind_filter(&mut filter);
        }
        filter
    }

    /// A change whose expressions can use the variables.
    pub(crate) fn in_change(&self, change: Change) -> Change {
        match change {
            Change::Pipeline(stages) => Change::Pipeline(self.in_pipeline(stages)),
            other => other,
        }
    }

    /// Stages whose expressions can use the variables.
    pub(crate) fn in_pipeline(&self, mut stages: Vec<Document>) -> Vec<Document> {
        if self.0.is_empty() {
            return stages;
        }
        for (name, spec) in stages.iter_mut().flat_map(Document::iter_mut) {
            match spec {
                Bson::Document(filter) if name == "$match" => self.bind_filter(filter),
                spec => self.bind(spec, &mut Vec::new()),
            }
        }
        stages
    }

    fn bind_filter(&self, filter: &mut Document) {
        for (name, value) in filter.iter_mut() {
            match value {
                Bson::Array(branches) if ["$and", "$or", "$nor"].contains(&name.as_str()) => {
                    let branches = branches.iter_mut().filter_map(Bson::as_document_mut);
                    branches.for_each(|branch| self.bind_filter(branch));
                }
                value if name == "$expr" => self.bind(value, &mut Vec::new()),
                _ => {}
            }
        }
    }

    /// Binds the variables that an expression names, unless an operator around it has bound the same name.
    fn bind(&self, expression: &mut Bson, hidden: &mut Vec<String>) {
        match expression {
            Bson::String(text) => {
                let named = text.strip_prefix("$$").and_then(|path| path.split('.').next());
                if let Some(name) = named
                    && let Some(value) = self.0.get(name)
                    && !hidden.iter().any(|other| other == name)
                {
                    *expression = Bson::Document(doc! {
                        "$let": { "vars": { name: { "$literal": value } }, "in": &*text },
                    });
                }
            }
            Bson::Array(items) => items.iter_mut().for_each(|item| self.bind(item, hidden)),
            Bson::Document(document) => {
                for (name, value) in document.iter_mut() {
                    if name == "$literal" {
                        continue;
                    }
                    let before = hidden.len();
                    hidden.extend(bound_by(name, value));
                    self.bind(value, hidden);
                    hidden.truncate(before);
                }
            }
            _ => {}
        }
    }
}

/// The names that an operator binds itself.
fn bound_by(operator: &str, value: &Bson) -> Vec<String> {
    let Bson::Document(parameters) = value else {
        return Vec::new();
    };
    match operator {
        "$let" => parameters
            .get_document("vars")
            .map(|variables| variables.keys().cloned().collect())
            .unwrap_or_default(),
        "$map" | "$filter" => vec![parameters.get_str("as").unwrap_or("this").to_owned()],
        "$reduce" => vec!["this".to_owned(), "value".to_owned()],
        _ => Vec::new(),
    }
}

/// Whether a value is an expression and not a constant.
fn computes(value: &Bson) -> bool {
    match value {
        Bson::String(text) => text.starts_with('$'),
        Bson::Array(items) => items.iter().any(computes),
        Bson::Document(document) => document
            .iter()
            .any(|(name, value)| name.starts_with('$') || computes(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let mut arguments = Arguments::new("find", doc! { "let": { "x": 5, "this": 6 } });
        Variables::take(&mut arguments).unwrap()
    }

    #[test]
    fn variables_are_visible_to_expressions_only() {
        let filter = doc! {
            "a": "$$x",
            "$or": [{ "$expr": { "$eq": ["$a", "$$x"] } }, { "b": { "$literal": "$$x" } }],
        };
        let bound = doc! { "$let": { "vars": { "x": { "$literal": 5 } }, "in": "$$x" } };
        assert_eq!(
            variables().in_filter(filter),
            doc! {
                "a": "$$x",
                "$or": [{ "$expr": { "$eq": ["$a", bound.clone()] } }, { "b": { "$literal": "$$x" } }],
            }
        );
        let stages = vec![
            doc! { "$match": { "a": "$$x" } },
            doc! { "$set": { "a": "$$x", "b": { "$literal": "$$x" } } },
        ];
        assert_eq!(
            variables().in_pipeline(stages),
            [
                doc! { "$match": { "a": "$$x" } },
                doc! { "$set": { "a": bound, "b": { "$literal": "$$x" } } }
            ]
        );
    }

    #[test]
    fn a_variable_bound_within_an_expression_is_left_alone() {
        let each = doc! { "$map": { "input": "$l", "in": { "$add": ["$$this", 1] } } };
        let filter = doc! { "$expr": each };
        assert_eq!(variables().in_filter(filter.clone()), filter);
    }

    #[test]
    fn only_constants_are_variables() {
        for value in [
            Bson::from("$a"),
            doc! { "$add": [1, 2] }.into(),
            vec!["$$NOW"].into(),
        ] {
            let mut arguments = Arguments::new("find", doc! { "let": { "x": value } });
            let fault = Variables::take(&mut arguments).unwrap_err();
            assert!(
                fault.message.starts_with("'let.x' is not a constant"),
                "{fault:?}"
            );
        }
    }
}
