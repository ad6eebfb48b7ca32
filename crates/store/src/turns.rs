//! Taking turns: locks by name, for work where waiting costs less than trying again.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio::sync::{Mutex, MutexGuard};

/// How many names can be busy at once without ever waiting for another name by chance.
const PLACES: usize = 64;

/// One turn at a time for each name, within this process. Nothing may rely on it for being right, because another
/// process takes no notice; it only saves the work of losing a race.
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

    /// This name's turn if nobody has it.
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
