//! A bounded number of places, of which no peer may take all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fair_queue::Peer;

/// Places for something that stays for long, such as a connection.
pub struct Places {
    most: usize,
    most_of_a_peer: usize,
    taken: Mutex<Taken>,
}

/// The places that are taken.
#[derive(Default)]
struct Taken {
    all: usize,
    /// By peers that have at least one.
    by_peer: HashMap<Peer, usize>,
}

/// A place that is taken as long as this value is held.
pub struct Place {
    places: Arc<Places>,
    peer: Peer,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// All are taken.
    ForAll,
    /// The peer has as many as it may have.
    ForPeer,
}

impl Places {
    /// So many places, of which each peer may take so many.
    pub fn new(most: usize, most_of_a_peer: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            most_of_a_peer,
            taken: Mutex::default(),
        })
    }

    /// Takes a place for a peer.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(self: &Arc<Self>, peer: Peer) -> Result<Place, Full> {
        let mut taken = self.state();
        if taken.all >= self.most {
            return Err(Full::ForAll);
        }
        let of_peer = taken.by_peer.entry(peer).or_default();
        if *of_peer >= self.most_of_a_peer {
            return Err(Full::ForPeer);
        }
        *of_peer += 1;
        taken.all += 1;
        let places = Arc::clone(self);
        Ok(Place { places, peer })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.state().all
    }

    fn state(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.state();
        taken.all -= 1;
        if let Some(of_peer) = taken.by_peer.get_mut(&self.peer) {
            *of_peer -= 1;
            if *of_peer == 0 {
                taken.by_peer.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn take(places: &Arc<Places>, number: u8) -> Result<Place, Full> {
        places.take(Some(IpAddr::from([192, 0, 2, number])))
    }

    #[test]
    fn a_peer_with_many_places_gets_no_more_and_does_not_keep_others_out() {
        let places = Places::new(9, 2);
        let mut taken: Vec<_> = (0..2).map(|_| take(&places, 1).unwrap()).collect();
        assert_eq!(take(&places, 1).err(), Some(Full::ForPeer));
        assert!(take(&places, 2).is_ok());
        taken.pop();
        assert!(take(&places, 1).is_ok(), "one was left");
    }

    #[test]
    fn there_is_a_limit_for_all_peers_together_and_places_that_were_left_leave_nothing() {
        let places = Places::new(3, 2);
        let taken: Vec<_> = (0..3).map(|number| take(&places, number).unwrap()).collect();
        assert_eq!(take(&places, 3).err(), Some(Full::ForAll));
        assert_eq!(places.taken(), 3);
        drop(taken);
        assert_eq!(places.taken(), 0);
        assert!(places.state().by_peer.is_empty());
        assert!(take(&places, 3).is_ok());
    }
}
