//! Tries to sign in to one account, from everywhere together.
//!
//! A limit for each account would let anybody lock its person out. So it counts only the tries of peers where the
//! account was not used before: its person still signs in at home while others guess, and anywhere once they stop.

use std::collections::HashSet;
use std::mem;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use model::{Handle, Kind, Problem};

use super::Client;

/// How many places are remembered before the oldest are forgotten; at most twice as many are in memory.
const REMEMBERED: usize = 20_000;

/// Where an account was used.
type Place = (Handle, IpAddr);

/// The limit, and the places that it does not count.
pub struct Tries {
    strangers: RateLimiter<Handle, DefaultKeyedStateStore<Handle>, DefaultClock>,
    known: Mutex<Known>,
}

/// Places in the order of their last use, roughly: in two generations.
#[derive(Default)]
struct Known {
    recent: HashSet<Place>,
    older: HashSet<Place>,
}

impl Tries {
    /// Lets strangers try this often for each account.
    pub fn new(quota: Quota) -> Self {
        Self {
            strangers: RateLimiter::keyed(quota),
            known: Mutex::default(),
        }
    }

    /// Remembers that this account is used here.
    pub fn remember(&self, handle: &Handle, client: &Client) {
        if let Some(peer) = client.peer {
            self.with_known(|known| known.remember((handle.clone(), peer)));
        }
    }

    /// Charges a try, unless the account was used here before. It does not matter whether there is such an account.
    pub fn charge(&self, handle: &Handle, client: &Client) -> Result<(), Problem> {
        let place = client.peer.map(|peer| (handle.clone(), peer));
        if place.is_some_and(|place| self.with_known(|known| known.contains(&place))) {
            return Ok(());
        }
        self.strangers.check_key(handle).map_err(|_| {
            Problem::new(
                Kind::TooMany,
                "There were many tries to sign in to this account. Try again in a few minutes, or where you last used it.",
            )
        })
    }

    /// Drops full quotas.
    pub fn forget_full(&self) {
        self.strangers.retain_recent();
    }

    fn with_known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    fn contains(&self, place: &Place) -> bool {
        self.recent.contains(place) || self.older.contains(place)
    }

    fn remember(&mut self, place: Place) {
        self.recent.insert(place);
        if self.recent.len() >= REMEMBERED {
            self.older = mem::take(&mut self.recent);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn the_places_of_the_last_use_are_remembered_and_older_ones_are_forgotten() {
        let tries = Tries::new(Quota::per_hour(NonZeroU32::MIN));
        let at = |number: usize| Client {
            device: None,
            peer: Some(IpAddr::from(u32::try_from(number).unwrap().to_be_bytes())),
        };
        let ada: Handle = "ada".parse().unwrap();
        assert!(tries.charge(&ada, &at(0)).is_ok(), "the one try of strangers");
        for number in 1..=3 * REMEMBERED {
            tries.remember(&ada, &at(number));
        }
        for (number, known) in [
            (3 * REMEMBERED, true),
            (2 * REMEMBERED + 1, true),
            (REMEMBERED, false),
        ] {
            assert_eq!(tries.charge(&ada, &at(number)).is_ok(), known, "{number}");
        }
        let remembered = tries.with_known(|known| known.recent.len() + known.older.len());
        assert!(remembered <= 2 * REMEMBERED);
    }
}
