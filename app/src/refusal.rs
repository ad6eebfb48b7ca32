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
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => Problem::new(
                Kind::Invalid,
                "The form was incomplete. Reload the page and try again.",
            ),
            _ => Problem::new(
                Kind::Internal,
                "Something went wrong on our side. Try again in a moment.",
            ),
        })
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
        (self.problem.field.as_deref() == Some(field)).then(|| self.problem.message.clone())
    }
}

#[cfg(feature = "ssr")]
mod in_an_address {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::Refusal;

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
    fn drops_what_was_typed_rather_than_grow_past_what_an_address_holds() {
        let refused = Refusal::decode(&refusal(&"x".repeat(20_000)).encode()).unwrap();
        assert_eq!(refused.kept("text"), "");
        assert_eq!(
            refused.about("text").as_deref(),
            Some("A post has at most 500 characters.")
        );
    }
}
