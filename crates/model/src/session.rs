use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Names a session, without opening it: the digest of its token. Any other text names none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[A-Za-z0-9_-]{43}$"))]
pub struct SessionId(String);

impl SessionId {
    /// The digest.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SessionId {
    fn from(digest: String) -> Self {
        Self(digest)
    }
}

/// A place where an account is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignIn {
    /// Its identity.
    pub id: SessionId,
    /// The browser and its system as far as they were recognized; null if not.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub device: Option<String>,
    /// When somebody signed in.
    pub at: Timestamp,
    /// When the last use was recorded. Later uses on the same day are not.
    pub used: Timestamp,
    /// Whether it is the session of this request.
    pub current: bool,
}

/// Where an account is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignIns {
    /// The sessions: that of this request, then the others, the latest sign-in first.
    pub items: Vec<SignIn>,
    /// Always null: the list is short.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub next: Option<String>,
    /// How many there are.
    pub total: u64,
    /// When the password was last changed; null if it never was.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub password_changed: Option<Timestamp>,
}
