//! How a refused action travels: as JSON to an island, and in the address of the next page to a browser that sent
//! a plain form.

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use model::{Kind, Problem};
use serde::{Deserialize, Serialize};

/// A [`Problem`] as the error of a server function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Refused(pub Problem);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl FromServerFnError for Refused {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        Self(match error {
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Deserialization(_) => Problem::new(
                Kind::Unavailable,
                "Spillway does not answer. Try again in a moment; it will happen only once.",
            ),
            ServerFnErrorErr::Args(message) => misfit(&message),
            _ => Problem::new(
                Kind::Internal,
                "Something went wrong on our side. Try again in a moment.",
            ),
        })
    }
}

/// A form whose fields do not fit the server function. Which one it is stands in the message of the decoder.
fn misfit(message: &str) -> Problem {
    let field = message
        .split_once("missing field `")
        .and_then(|(_, rest)| rest.split_once('`'))
        .map(|(field, _)| field);
    match field {
        Some(field) => Problem::invalid(
            field,
            format!(
                "The form was sent without “{field}”. Fill it in; if there is no such field, reload the page."
            ),
        ),
        None => Problem::new(
            Kind::Invalid,
            "The form was sent with a value that does not fit. Reload the page and try again.",
        ),
    }
}

/// A plain form that was refused, as the page that shows the form again learns of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Which form it was: the name of its server function.
    pub form: String,
    /// Why.
    pub problem: Problem,
    /// What had been typed, by field, so that nobody types it twice. Never a password.
    pub kept: Vec<(String, String)>,
}

impl Refusal {
    /// What had been typed into a field.
    pub fn kept(&self, field: &str) -> String {
        self.kept
            .iter()
            .find(|(name, _)| name == field)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    }

    /// The message, if it is about this field.
    pub fn about(&self, field: &str) -> Option<String> {
        self.problem.about_field(field).map(str::to_owned)
    }
}

#[cfg(feature = "ssr")]
mod in_an_address {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::{Refusal, Refused};

    /// Longer addresses than this are cut by some servers and proxies; what was typed is then dropped.
    const LONGEST: usize = 8_000;

    impl Refusal {
        /// The refusal as the value of a query parameter.
        pub fn encode(&self) -> String {
            let encode = |refusal: &Self| {
                serde_json::to_vec(refusal)
                    .map(|json| URL_SAFE_NO_PAD.encode(json))
                    .unwrap_or_default()
            };
            let whole = encode(self);
            if whole.len() <= LONGEST {
                return whole;
            }
            encode(&Self {
                kept: Vec::new(),
                ..self.clone()
            })
        }

        /// The refusal in a query parameter, if it is one.
        pub fn decode(value: &str) -> Option<Self> {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()
        }

        /// The refusal in the address that the framework made of a form whose fields do not fit: which form, and why. What
        /// was typed is not in it.
        pub fn of_a_misfit(path: &str, error: &str) -> Option<Self> {
            let json = URL_SAFE_NO_PAD.decode(error.trim_end_matches('=')).ok()?;
            let Refused(problem) = serde_json::from_slice(&json).ok()?;
            Some(Self {
                form: path.rsplit('/').next()?.to_owned(),
                problem,
                kept: Vec::new(),
            })
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    fn refusal(typed: &str) -> Refusal {
        Refusal {
            form: "compose".to_owned(),
            problem: Problem::invalid("text", "A post has at most 500 characters."),
            kept: vec![("text".to_owned(), typed.to_owned())],
        }
    }

    #[test]
    fn survives_the_trip_through_an_address() {
        let refusal = refusal("<b>é</b> & so on");
        assert_eq!(Refusal::decode(&refusal.encode()), Some(refusal));
    }

    #[test]
    fn a_form_without_a_field_is_refused_by_the_name_of_the_field() {
        let error = |message: &str| {
            let args = ServerFnErrorErr::Args(message.to_owned());
            Refused::from_server_fn_error(args).0
        };
        let missing = error("missing field `text`");
        assert_eq!(missing.field.as_deref(), Some("text"));
        assert!(missing.message.contains("“text”"), "{missing}");
        assert_eq!(
            error("provided string was not `true` or `false`").kind,
            Kind::Invalid
        );
    }

    #[test]
    fn drops_what_was_typed_rather_than_grow_past_what_an_address_holds() {
        let refused = Refusal::decode(&refusal(&"x".repeat(20_000)).encode()).unwrap();
        assert_eq!(refused.kept("text"), "");
        assert_eq!(
            refused.about("text").as_deref(),
            Some("A post has at most 500 characters.")
        );
    }
}
