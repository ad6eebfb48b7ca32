use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

/// The id that belongs to these parts, one after the other.
pub(crate) fn digest_id(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Uuid {
    let digest = parts.into_iter().fold(Sha256::new(), Sha256::chain_update);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.finalize()[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}
