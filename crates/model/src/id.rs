use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Problem;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, examples($example)))]
        pub struct $name(Uuid);

        impl $name {
            /// The UUID behind it.
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl FromStr for $name {
            type Err = Problem;

            fn from_str(input: &str) -> Result<Self, Problem> {
                Uuid::try_parse(input)
                    .map(Self)
                    .map_err(|_| Problem::invalid("id", concat!("The id of ", $what, " is a UUID.")))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }
    };
}

uuid_id!(
    /// Identifies a post. A client may choose it, so that a retried request lands once.
    PostId,
    "a post",
    "0198c0de-7000-8000-a1b2-c3d4e5f60718"
);
uuid_id!(
    /// Identifies one entry of a list: a like, a comment, a share, a follow or an activity.
    ItemId,
    "an item",
    "0198c0df-1a2b-8000-9f8e-7d6c5b4a3928"
);
