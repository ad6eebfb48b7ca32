//! Taking turns: locks by name, for work where waiting costs less than a failed attempt.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio::sync::{Mutex, MutexGuard};

/// How many locks the names are spread over, so that two busy names rarely share one.
const PLACES: usize = 64;

/// One turn at a time for each name, within this process. Correctness must not depend on it, because other processes
/// do not take part; it only saves the work of losing a race.
#[derive(Debug)]
pub struct Turns([Mutex<()>; PLACES]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Turns {
    /// Waits until it is this name's turn; it lasts as long as the guard.
    pub async fn of(&self, name: &impl Hash) -> MutexGuard<'_, ()> {
        self.place(name).lock().await
    }

    /// This name's turn, if it is free.
    pub fn free(&self, name: &impl Hash) -> Option<MutexGuard<'_, ()>> {
        self.place(name).try_lock().ok()
    }

    fn place(&self, name: &impl Hash) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default();
        &self.0[place]
    }
}
