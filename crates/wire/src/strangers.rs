//! Connections that have not signed in: how many there may be, and how often one address may guess the password.
//!
//! They have room of their own, so that they cannot take the places of those who know the password. Drivers keep such
//! connections open for as long as they run, to see whether the server is there, so nothing ends them while there is
//! room. When there is none, the oldest connection from the address with the most of them makes room for the new one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How many connections may be open without having signed in.
const ROOM: usize = 100;

/// After a wrong password, the address has to wait this long.
const PAUSE: Duration = Duration::from_secs(1);

/// How far the pauses of one address may add up before its next passwords are not even checked. Other people at the
/// address of somebody who guesses are kept out for about this long.
const MOST: Duration = Duration::from_secs(10);

/// The connections that have not signed in, and the addresses that failed to.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// Oldest first.
    present: Vec<Present>,
    /// Until when each address has to wait.
    pauses: HashMap<IpAddr, Instant>,
}

#[derive(Debug)]
struct Present {
    number: u64,
    address: IpAddr,
    removed: Arc<Notify>,
}

/// A connection's place in the room, which it has until this is dropped.
#[derive(Debug)]
pub(crate) struct Stranger {
    all: Arc<Strangers>,
    number: u64,
}

impl Strangers {
    /// A place for a connection, which is notified if it has to give it up.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, removed: &Arc<Notify>) -> Stranger {
        let address = network(address);
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.present.push(Present {
            number,
            address,
            removed: Arc::clone(removed),
        });
        if state.present.len() > ROOM {
            state.make_room();
        }
        let all = Arc::clone(self);
        Stranger { all, number }
    }

    /// How long an address has to wait before its next password is checked; `None` if it need not.
    pub(crate) fn pause(&self, address: IpAddr) -> Option<Duration> {
        let until = *self.state().pauses.get(&network(address))?;
        let wait = until.saturating_duration_since(Instant::now());
        (wait >= MOST).then_some(wait)
    }

    /// Notes a wrong password, and returns how long its answer has to wait.
    pub(crate) fn failed(&self, address: IpAddr) -> Duration {
        let now = Instant::now();
        let mut state = self.state();
        state.pauses.retain(|_, until| *until > now);
        let until = state.pauses.entry(network(address)).or_insert(now);
        *until += PAUSE;
        until.saturating_duration_since(now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes the oldest connection of the address that has the most.
    fn make_room(&mut self) {
        let mut counts = HashMap::new();
        for one in &self.present {
            *counts.entry(one.address).or_insert(0_usize) += 1;
        }
        let most = counts.values().copied().max().unwrap_or_default();
        let oldest = self.present.iter().position(|one| counts[&one.address] == most);
        if let Some(oldest) = oldest {
            self.present.remove(oldest).removed.notify_one();
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.all.state().present.retain(|one| one.number != self.number);
    }
}

/// What counts as one address: of IPv6, the network, because each machine has many addresses in it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn is_removed(removed: &Notify) -> bool {
        use std::future::Future;
        use std::pin::pin;
        use std::task::{Context, Waker};
        let mut context = Context::from_waker(Waker::noop());
        pin!(removed.notified()).poll(&mut context).is_ready()
    }

    #[test]
    fn the_oldest_connection_of_the_largest_crowd_makes_room() {
        let strangers = Arc::new(Strangers::default());
        let admit = |text: &str| {
            let removed = Arc::new(Notify::new());
            (strangers.admit(address(text), &removed), removed)
        };
        let lone = admit("192.0.2.1");
        let crowd: Vec<_> = (0..ROOM).map(|n| admit(&format!("2001:db8::{n:x}"))).collect();
        let removed: Vec<_> = crowd.iter().map(|(_, removed)| is_removed(removed)).collect();
        assert!(
            removed[0] && removed[1..].iter().all(|removed| !removed),
            "{removed:?}"
        );
        assert!(!is_removed(&lone.1));
        drop(crowd);
        let next = admit("2001:db8::1");
        assert_eq!(strangers.state().present.len(), 2);
        drop((lone, next));
        assert!(strangers.state().present.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn each_wrong_password_makes_its_address_wait() {
        let strangers = Strangers::default();
        let (guesser, other) = (address("192.0.2.1"), address("192.0.2.2"));
        for nth in 1..=10 {
            assert_eq!(strangers.pause(guesser), None);
            assert_eq!(strangers.failed(guesser), PAUSE * nth);
        }
        assert_eq!(strangers.pause(guesser), Some(MOST));
        assert_eq!(strangers.pause(other), None);
        tokio::time::advance(PAUSE).await;
        assert_eq!(strangers.pause(guesser), None);
        tokio::time::advance(MOST).await;
        assert_eq!(strangers.failed(other), PAUSE);
        assert_eq!(
            strangers.state().pauses.len(),
            1,
            "pauses that are over are forgotten"
        );
    }
}
