//! One thing at a time for each person.

use std::hash::{DefaultHasher, Hash, Hasher};

use model::Handle;
use tokio::sync::{Mutex, MutexGuard};

/// How many people can act at once without ever waiting for somebody else's turn by chance.
const PLACES: usize = 64;

/// What a person does touches a list and their own activities, one write after the other. Were a like and its own
/// unlike to run at once, each could undo half of the other. So a person's actions take turns within this process;
/// different people's never have to wait for each other, and the lists need no lock at all.
pub(super) struct Turns([Mutex<()>; PLACES]);

impl Turns {
    pub fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }

    /// Waits until it is this person's turn; it lasts as long as the guard.
    pub async fn of(&self, actor: &Handle) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        actor.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default();
        self.0[place].lock().await
    }
}
