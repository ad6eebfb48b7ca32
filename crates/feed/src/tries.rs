//! Tries at the password or the codes of one account, from everywhere together.
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
        let own = match client
            .peer
            .map(|peer| self.own.check_key(&(handle.clone(), peer)))
        {
            Some(Ok(())) => return Ok(()),
            Some(Err(full)) => full.wait_time_from(self.own.clock().now()),
            None => Duration::MAX,
        };
        self.shared.check_key(handle).map_err(|full| {
            let shared = full.wait_time_from(self.shared.clock().now());
            too_many(own.min(shared))
        })
    }

    /// Drops full quotas.
    pub fn forget_full(&self) {
        self.own.retain_recent();
        self.shared.retain_recent();
    }
}

/// A refusal that says when a try will be accepted.
fn too_many(wait: Duration) -> Problem {
    let words = match wait.as_secs() {
        0 => "a second".to_owned(),
        seconds @ 1..=90 => format!("{} seconds", seconds + 1),
        seconds => format!("{} minutes", seconds.div_ceil(60)),
    };
    let message = format!(
        "There were too many attempts to sign in to this account from your address. Try again in {words}."
    );
    Problem::new(Kind::TooMany, message).for_now(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_time_until_the_next_try() {
        let tries = Tries::new(Quota::per_hour(NonZeroU32::MIN));
        let handle: Handle = "ada".parse().unwrap();
        let from = |last| Client {
            device: None,
            peer: Some(IpAddr::from([192, 0, 2, last])),
        };
        let accepted = OWN.get() + 1;
        for nth in 1..=accepted {
            assert!(tries.charge(&handle, &from(1)).is_ok(), "try {nth}");
        }
        let seconds = |last| {
            tries
                .charge(&handle, &from(last))
                .unwrap_err()
                .retry_after()
                .unwrap()
        };
        // Its own next one comes before the next shared one.
        let (own, shared) = (LATER.as_secs(), 3600);
        assert!((own - 60..=own).contains(&seconds(1)));
        let nobody = tries.charge(&handle, &Client::default()).unwrap_err();
        let wait = nobody.retry_after().unwrap();
        assert!((shared - 60..=shared).contains(&wait), "{nobody:?}");
        assert!(nobody.message.contains("60 minutes"), "{nobody:?}");
    }
}
