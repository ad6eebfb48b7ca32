//! Secrets that open something for their holder: 256 random bits, of which the store keeps a digest.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// A secret. Only `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(super) [u8; 32]);

impl Secret {
    /// Reads what `Display` wrote.
    pub(super) fn read(input: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(input).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// The form in which the store keeps it.
    pub(super) fn digest(&self) -> String {
        digest(&self.0)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The form in which the store keeps a secret of at least 112 random bits.
pub(super) fn digest(secret: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret))
}
