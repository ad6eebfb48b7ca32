//! Tries to sign in to one account, from everywhere together.
//!
//! A limit for each account alone would let anybody lock its person out. So every address has a few tries of its own
//! at each account, and only further ones count against what all addresses share.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use model::{Handle, Kind, Problem};

use super::Client;

/// How often one address may try at one account before it shares with others: more than a person mistypes.
const OWN: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// How long until one more of these.
const LATER: Duration = Duration::from_mins(10);

type Buckets<K> = RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock>;

/// The limits.
pub struct Tries {
    own: Buckets<(Handle, IpAddr)>,
    shared: Buckets<Handle>,
}

impl Tries {
    /// With what all addresses share for each account.
    pub fn new(shared: Quota) -> Self {
        let own = Quota::with_period(LATER).unwrap_or(Quota::per_hour(OWN));
        Self {
            own: RateLimiter::keyed(own.allow_burst(OWN)),
            shared: RateLimiter::keyed(shared),
        }
    }

    /// Charges a try. It does not matter whether there is such an account.
    pub fn charge(&self, handle: &Handle, client: &Client) -> Result<(), Problem> {
        let own = client.peer.map(|peer| (handle.clone(), peer));
        if own.is_some_and(|own| self.own.check_key(&own).is_ok()) {
            return Ok(());
        }
        self.shared.check_key(handle).map_err(|full| {
            let message =
                "There were many tries to sign in to this account from here. Try again in ten minutes.";
            let wait = full.wait_time_from(self.shared.clock().now());
            Problem::new(Kind::TooMany, message).for_now(wait)
        })
    }

    /// Drops full quotas.
    pub fn forget_full(&self) {
        self.own.retain_recent();
        self.shared.retain_recent();
    }
}
