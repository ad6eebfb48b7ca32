//! Whose sessions were used last. A request then reads the session and the person at the same time; what the store says
//! about the session decides whether it was the right person.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use store::sessions::Session;

/// How many sessions are known before all are forgotten.
const MOST: usize = 10_000;

/// The sessions by their digests, as they were read last.
#[derive(Default)]
pub(super) struct Holders(Mutex<HashMap<String, Session>>);

impl Holders {
    pub(super) fn known(&self, digest: &str) -> Option<Session> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(digest).cloned()
    }

    pub(super) fn keep(&self, session: &Session) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(session.digest.clone(), session.clone());
    }
}
