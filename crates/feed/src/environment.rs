//! The feed's dependencies on its environment, passed in so that tests control them.

use std::sync::Arc;

use model::Timestamp;
use rand::RngCore;
use uuid::Uuid;

use super::clock::{Clock, SystemClock};

/// Fresh identities and secrets.
pub trait Ids: Send + Sync + 'static {
    /// A new id for something that happens now; ids of later moments sort later.
    fn uuid(&self, at: Timestamp) -> Uuid;

    /// 32 bytes that nobody can guess.
    fn secret(&self) -> [u8; 32];
}

/// Time, ids, and whether this is a demonstration.
#[derive(Clone)]
pub struct Environment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// Whether anybody may sign in as a person of the demo town with one click.
    pub demo: bool,
}

impl Environment {
    /// The machine's clock and random numbers.
    pub fn system(demo: bool) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            demo,
        }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The parameters of one password hash.
    pub(super) fn salt(&self) -> [u8; 16] {
        let mut salt = [0; 16];
        salt.copy_from_slice(&self.ids.secret()[..16]);
        salt
    }
}

/// Random ids: version 7 UUIDs, which begin with the time.
pub struct SystemIds;

impl Ids for SystemIds {
    fn uuid(&self, at: Timestamp) -> Uuid {
        let mut random = [0; 10];
        random.copy_from_slice(&self.secret()[..10]);
        uuid::Builder::from_unix_timestamp_millis(u64::try_from(at.millis()).unwrap_or(0), &random)
            .into_uuid()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where randomness comes from"
    )]
    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        rand::rng().fill_bytes(&mut secret);
        secret
    }
}
