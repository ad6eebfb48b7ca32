//! Reading requests: every refusal is problem+json, and names the field when there is one.

use std::str::FromStr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequest, Query, RawPathParams, Request};
use axum::http::request::Parts;
use feed::Paging;
use model::{Handle, ItemId, Kind, PostId, Problem, SessionId, Tag};
use serde::de::DeserializeOwned;
use serde_json::Value;
use web::{ErrorResponse, Session};

/// The session of the request, signed in or not.
pub struct Reader(pub Arc<Session>);

impl Reader {
    /// The reader, if they are signed in.
    pub fn handle(&self) -> Option<&Handle> {
        self.0.handle()
    }
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let session = parts.extensions.get::<Arc<Session>>().cloned();
        session.map(Self).ok_or_else(|| {
            tracing::error!("a route of the API lies outside the session middleware");
            Problem::new(Kind::Internal, "Something went wrong on our side.").into()
        })
    }
}

/// The actor; refused when nobody is signed in.
pub struct Actor(pub Handle);

impl<S: Sync> FromRequestParts<S> for Actor {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let Reader(session) = Reader::from_request_parts(parts, state).await?;
        Ok(Self(session.require()?.handle.clone()))
    }
}

/// What a path names, such as the post.
pub struct InPath<T>(pub T);

/// A value that is a segment of a path.
pub trait Segment: FromStr {
    /// Its name in the path.
    const NAME: &str;
    /// The refusal of a segment that is none. For a reader it is one that does not exist.
    const MISSING: &str;
}

impl Segment for PostId {
    const NAME: &str = "id";
    const MISSING: &str = "There is no such post. It may have been deleted.";
}

impl Segment for ItemId {
    const NAME: &str = "comment";
    const MISSING: &str = "There is no such comment on this post.";
}

impl Segment for Handle {
    const NAME: &str = "handle";
    const MISSING: &str = "There is nobody with this handle here.";
}

impl Segment for Tag {
    const NAME: &str = "tag";
    const MISSING: &str = "This is not a valid tag.";
}

impl<S: Sync, T: Segment> FromRequestParts<S> for InPath<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let value = segment(parts, T::NAME).await.and_then(|text| text.parse().ok());
        value
            .map(Self)
            .ok_or_else(|| Problem::new(Kind::NotFound, T::MISSING).into())
    }
}

/// The session in the path.
pub struct SessionPath(pub SessionId);

impl<S: Sync> FromRequestParts<S> for SessionPath {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        Ok(Self(segment(parts, "id").await.unwrap_or_default().into()))
    }
}

async fn segment(parts: &mut Parts, name: &str) -> Option<String> {
    let segments = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    segments
        .iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
}

/// `?cursor&limit`.
pub struct Stretch(pub Paging);

impl<S: Sync> FromRequestParts<S> for Stretch {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let mut paging = Paging::default();
        for (name, value) in query(parts)? {
            match name.as_str() {
                "cursor" => paging.after = Some(value.parse()?),
                "limit" => paging.limit = limit(&value)?,
                _ => {}
            }
        }
        Ok(Self(paging))
    }
}

fn limit(value: &str) -> Result<usize, Problem> {
    value
        .parse()
        .ok()
        .filter(|limit| (1..=Paging::MAX_LIMIT).contains(limit))
        .ok_or_else(|| {
            Problem::invalid(
                "limit",
                format!("A limit is a whole number from 1 to {}.", Paging::MAX_LIMIT),
            )
        })
}

/// The pairs of the query string, in order.
pub fn query(parts: &Parts) -> Result<Vec<(String, String)>, Problem> {
    Query::try_from_uri(&parts.uri)
        .map(|Query(pairs)| pairs)
        .map_err(|_| {
            Problem::new(
                Kind::Invalid,
                "The query string cannot be read; it is name=value pairs joined by &.",
            )
        })
}

/// Whether the value of a parameter is the second one of two.
pub fn choice(name: &str, value: &str, choices: [&str; 2]) -> Result<bool, Problem> {
    match choices.iter().position(|choice| *choice == value) {
        Some(place) => Ok(place == 1),
        None => Err(Problem::invalid(
            name,
            format!("{} or {}.", choices[0], choices[1]),
        )),
    }
}

/// A JSON body: an object with exactly the fields of `T`. Its content type was checked when it was read.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self, ErrorResponse> {
        let value = json(&bytes_of(request, state).await?)?;
        Ok(Self(fields(value)?))
    }
}

async fn bytes_of<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ErrorResponse> {
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|_| ErrorResponse::malformed("The body is incomplete."))
}

fn json(bytes: &Bytes) -> Result<Value, ErrorResponse> {
    serde_json::from_slice(bytes).map_err(|error| ErrorResponse::malformed(format!("{error}.")))
}

/// Without a body, or with `null`, nothing.
impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequest<S> for Body<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, ErrorResponse> {
        let bytes = bytes_of(request, state).await?;
        if bytes.is_empty() {
            return Ok(None);
        }
        match json(&bytes)? {
            Value::Null => Ok(None),
            value => Ok(Some(Self(fields(value)?))),
        }
    }
}

/// Two steps, so that an array is not accepted as an object whose fields come in order.
fn fields<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    let Value::Object(object) = value else {
        return Err(Problem::new(
            Kind::Invalid,
            "The body must be a JSON object, as in {\"text\": \"Hello\"}.",
        ));
    };
    serde_path_to_error::deserialize(Value::Object(object)).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let named = ["missing field `", "unknown field `"]
            .iter()
            .find_map(|start| message.strip_prefix(start));
        let field = named
            .and_then(|rest| rest.split_once('`'))
            .map_or(path, |(field, _)| field.to_owned());
        Problem::invalid(&field, format!("The body does not fit: {message}."))
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Note {
        id: Option<String>,
        text: String,
    }

    #[test]
    fn a_body_that_does_not_fit_names_the_field() {
        for (body, field) in [
            (json!({}), Some("text")),
            (json!({"id": "1"}), Some("text")),
            (json!({"text": 5}), Some("text")),
            (json!({"text": null}), Some("text")),
            (json!({"text": "a", "id": []}), Some("id")),
            (json!({"text": "a", "txt": "b"}), Some("txt")),
            (json!(["1", "a"]), None),
            (json!("a"), None),
        ] {
            let problem = fields::<Note>(body.clone()).unwrap_err();
            assert_eq!(problem.field.as_deref(), field, "{body}: {problem}");
        }
        assert!(fields::<Note>(json!({"text": "a", "id": null})).is_ok());
    }

    #[test]
    fn a_limit_is_between_1_and_100() {
        assert_eq!((limit("1").unwrap(), limit("100").unwrap()), (1, 100));
        for bad in ["0", "101", "-1", "ten", "", "1.5"] {
            assert_eq!(limit(bad).unwrap_err().field.as_deref(), Some("limit"), "{bad:?}");
        }
    }
}
