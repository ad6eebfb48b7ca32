//! How a refused action travels: as JSON to an island, and as a notice for the next page to a browser that sent a plain
//! form.

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use model::{Kind, Problem};
use serde::{Deserialize, Serialize};

/// A [`Problem`] as the error of a server function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionError(pub Problem);

impl From<Problem> for ActionError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl FromServerFnError for ActionError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        Self(match error {
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Deserialization(_) => Problem::new(
                Kind::Unavailable,
                "Spillway does not answer. Try again in a moment: an action that is repeated is carried out only once.",
            ),
            ServerFnErrorErr::Args(message) => {
                let problem = misfit(&message);
                #[cfg(feature = "ssr")]
                crate::reply::refuse(&problem);
                problem
            }
            _ => Problem::new(
                Kind::Internal,
                "Something went wrong on our side. Try again in a moment.",
            ),
        })
    }
}

/// A form whose fields do not fit the server function. The decoder's message names the field.
fn misfit(message: &str) -> Problem {
    let field = message
        .split_once("missing field `")
        .and_then(|(_, rest)| rest.split_once('`'))
        .map(|(field, _)| field);
    match field {
        Some(field) => Problem::invalid(
            field,
            format!(
                "The form was sent without “{field}”. Fill it in. If the form has no such field, reload the page."
            ),
        ),
        None => Problem::new(
            Kind::Invalid,
            "The form has a value that is not valid. Reload the page and try again.",
        ),
    }
}

/// A refused plain form, as the page receives it that shows the form again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedForm {
    /// The form: the name of its server function.
    pub form: String,
    /// Why.
    pub problem: Problem,
    /// The typed text, by field, so that nobody types it twice. Never a password.
    pub kept: Vec<(String, String)>,
}

impl RejectedForm {
    /// The typed text of a field.
    pub fn kept(&self, field: &str) -> String {
        self.kept
            .iter()
            .find(|(name, _)| name == field)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    }

    /// Removes the typed text, and says where it still is.
    pub fn clear_typed_text(&mut self) {
        self.kept.clear();
        self.problem.message.push_str(
            " Your text is too long to be shown here again. Go back in your browser to find it in the form.",
        );
    }

    /// The message, if it is about this field.
    pub fn about(&self, field: &str) -> Option<String> {
        self.problem.about_field(field).map(str::to_owned)
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn a_form_without_a_field_is_refused_by_the_name_of_the_field() {
        let error = |message: &str| {
            let args = ServerFnErrorErr::Args(message.to_owned());
            ActionError::from_server_fn_error(args).0
        };
        let missing = error("missing field `text`");
        assert_eq!(missing.field.as_deref(), Some("text"));
        assert!(missing.message.contains("“text”"), "{missing}");
        assert_eq!(
            error("provided string was not `true` or `false`").kind,
            Kind::Invalid
        );
    }
}
