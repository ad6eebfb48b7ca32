//! A bounded number of places, of which nobody may take all.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fair_queue::Peer;

/// Places for something that stays for long, such as a connection. Those who share them are peers, or people.
pub struct Places<K = Peer> {
    most: usize,
    most_of_one: usize,
    taken: Mutex<Taken<K>>,
}

/// The places that are taken.
struct Taken<K> {
    all: usize,
    /// By those who have at least one.
    by_one: HashMap<K, usize>,
}

/// Places that are taken as long as this value is held.
pub struct Place<K: Hash + Eq = Peer> {
    places: Arc<Places<K>>,
    of: K,
    taken: usize,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// All are taken.
    ForAll,
    /// The one who asks has as many as one may have.
    ForOne,
}

impl<K: Hash + Eq + Clone> Places<K> {
    /// So many places, of which each one may take so many.
    pub fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        let (all, by_one) = (0, HashMap::new());
        Arc::new(Self {
            most,
            most_of_one,
            taken: Mutex::new(Taken { all, by_one }),
        })
    }

    /// Takes a place.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(self: &Arc<Self>, of: K) -> Result<Place<K>, Full> {
        self.take_many(of, 1)
    }

    /// Takes several places at once, or none of them.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn take_many(self: &Arc<Self>, of: K, wanted: usize) -> Result<Place<K>, Full> {
        let mut taken = self.state();
        if taken.all + wanted > self.most {
            return Err(Full::ForAll);
        }
        let before = taken.by_one.get(&of).copied().unwrap_or_default();
        if before + wanted > self.most_of_one {
            return Err(Full::ForOne);
        }
        taken.by_one.insert(of.clone(), before + wanted);
        taken.all += wanted;
        Ok(Place {
            places: Arc::clone(self),
            of,
            taken: wanted,
        })
    }
}

impl<K> Places<K> {
    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.state().all
    }

    fn state(&self) -> MutexGuard<'_, Taken<K>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> Drop for Place<K> {
    fn drop(&mut self) {
        let mut taken = self.places.state();
        taken.all -= self.taken;
        if let Some(of_one) = taken.by_one.get_mut(&self.of) {
            *of_one -= self.taken;
            if *of_one == 0 {
                taken.by_one.remove(&self.of);
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
        assert_eq!(take(&places, 1).err(), Some(Full::ForOne));
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
        assert!(places.state().by_one.is_empty());
        assert!(take(&places, 3).is_ok());
    }

    #[test]
    fn several_places_are_taken_together_or_not_at_all() {
        let places = Places::new(6, 4);
        let three = places.take_many("ada", 3).unwrap();
        assert_eq!(places.take_many("ada", 2).err(), Some(Full::ForOne));
        assert_eq!(places.take_many("bob", 4).err(), Some(Full::ForAll));
        assert_eq!(places.taken(), 3);
        drop(three);
        assert_eq!(places.taken(), 0);
        assert!(places.take_many("bob", 4).is_ok());
    }
}
