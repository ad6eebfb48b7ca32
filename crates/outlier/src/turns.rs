//! Taking turns: locks by name, for work where waiting costs less than a failed attempt.

use std::array;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use tokio::sync::{Mutex, MutexGuard};

/// How many locks the names are spread over, so that two busy names rarely share one.
const PLACES: usize = 64;

/// One turn at a time for each name, within this process. Correctness must not depend on it, because other processes
/// do not take part; it only saves the work of losing a race.
#[derive(Debug, Default)]
pub struct Turns(OnceLock<Box<[Mutex<()>; PLACES]>>);

impl Turns {
    /// Waits until it is this name's turn; it lasts as long as the guard.
    pub async fn of(&self, name: &impl Hash) -> MutexGuard<'_, ()> {
        self.places()[place(name)].lock().await
    }

    /// Waits until it is the turn of both names. A task that holds the turn of one name and waits for that of another
    /// may wait forever: for a task that does the same the other way round, or for itself, where both names share a
    /// lock.
    pub async fn of_both<N: Hash>(
        &self,
        one: &N,
        other: &N,
    ) -> (MutexGuard<'_, ()>, Option<MutexGuard<'_, ()>>) {
        let (one, other) = (place(one), place(other));
        let first = self.places()[one.min(other)].lock().await;
        if one == other {
            return (first, None);
        }
        (first, Some(self.places()[one.max(other)].lock().await))
    }

    /// This name's turn, if it is free.
    pub fn free(&self, name: &impl Hash) -> Option<MutexGuard<'_, ()>> {
        self.places()[place(name)].try_lock().ok()
    }

    /// The locks, made when the first is needed: few lists are changed in each run of a model check.
    fn places(&self) -> &[Mutex<()>; PLACES] {
        self.0
            .get_or_init(|| Box::new(array::from_fn(|_| Mutex::new(()))))
    }
}

/// The place of a name's lock.
fn place(name: &impl Hash) -> usize {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    /// Whether two tasks that want both turns, each in its own order, get them when they have waited for one of them.
    fn both_get(one: usize, other: usize) -> bool {
        let turns = Turns::default();
        let held = turns.free(&one);
        let mut first = Box::pin(turns.of_both(&one, &other));
        let mut second = Box::pin(turns.of_both(&other, &one));
        let mut now = Context::from_waker(Waker::noop());
        let mut waits = first.as_mut().poll(&mut now).is_pending();
        waits &= second.as_mut().poll(&mut now).is_pending();
        drop(held);
        // The turns end where they are dropped, at once.
        waits && first.as_mut().poll(&mut now).is_ready() && second.as_mut().poll(&mut now).is_ready()
    }

    #[test]
    fn those_who_need_two_turns_get_them_in_whatever_order_they_name_them() {
        // So many that some of them share a lock.
        for one in 0..=PLACES {
            for other in 0..=PLACES {
                assert!(both_get(one, other), "{one} and {other}");
            }
        }
    }
}
