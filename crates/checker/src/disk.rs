//! A disk that loses, reorders and tears writes that were not synced.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

use crate::dice::Dice;

/// A disk with a volatile cache: writes since the last sync can be lost, reordered and torn. Tests keep in `K` what
/// must exist after a power failure.
#[derive(Debug, Clone, Default)]
pub struct Disk<K>(pub Arc<Mutex<State<K>>>);

/// What is on a disk, and what was kept of it.
#[derive(Debug, Default)]
pub struct State<K> {
    /// What a reader sees.
    pub cached: Vec<u8>,
    /// What survives a power failure.
    pub synced: Vec<u8>,
    /// What happened since the last sync.
    pending: Vec<Pending>,
    /// How often it was used.
    pub calls: usize,
    /// What was acknowledged.
    pub known: K,
    /// At every n-th call a copy of the disk is kept.
    pub every: Option<usize>,
    /// The disk as it was at these calls, and what was acknowledged before.
    pub moments: Vec<Moment<K>>,
    /// Every call fails.
    pub broken: bool,
    /// After this many more calls one fails, and only that one.
    pub fails_after: Option<usize>,
    /// Syncs do nothing, as for a write that is not journaled.
    pub lazy: bool,
    /// Something waits for the next sync.
    pub behind: bool,
}

#[derive(Debug, Clone)]
enum Pending {
    Length(usize),
    Write(usize, Vec<u8>),
}

/// A copy of a disk.
#[derive(Debug, Clone)]
pub struct Moment<K> {
    synced: Vec<u8>,
    pending: Vec<Pending>,
    /// Something waited for the next sync, which a power failure takes with all that came later.
    pub is_behind: bool,
    /// What was acknowledged before.
    pub known: K,
}

impl Pending {
    fn apply(&self, image: &mut Vec<u8>, survives: &mut dyn FnMut() -> bool) {
        const SECTOR: usize = 512;
        match self {
            Self::Length(length) => image.resize(*length, 0),
            Self::Write(offset, bytes) => {
                for (nth, sector) in bytes.chunks(SECTOR).enumerate() {
                    let at = offset + nth * SECTOR;
                    if survives() && at + sector.len() <= image.len() {
                        image[at..at + sector.len()].copy_from_slice(sector);
                    }
                }
            }
        }
    }
}

impl<K: Clone> State<K> {
    /// Keeps the disk as it is now.
    pub fn keep(&mut self) {
        self.moments.push(Moment {
            synced: self.synced.clone(),
            pending: self.pending.clone(),
            is_behind: self.behind,
            known: self.known.clone(),
        });
    }
}

/// Facts and the last answers about them; `None` while an answer is awaited.
pub type Known<F> = BTreeMap<F, Option<bool>>;

impl<F: Clone + Ord> Disk<Known<F>> {
    /// Notes that an operation on a fact has begun.
    pub fn ask(&self, fact: F) {
        self.0.lock().unwrap().known.insert(fact, None);
    }

    /// Notes whether a fact is true, as an operation has answered, and keeps the disk as it is now.
    pub fn answer(&self, fact: F, is: bool) {
        let mut state = self.0.lock().unwrap();
        state.known.insert(fact, Some(is));
        state.keep();
    }

    /// Drops the facts that depend on something that is about to go.
    pub fn forget(&self, depends: impl Fn(&F) -> bool) {
        self.0.lock().unwrap().known.retain(|fact, _| !depends(fact));
    }
}

impl<K: Clone + Default> Disk<K> {
    fn with<T>(&self, work: impl FnOnce(&mut State<K>) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.0.lock().unwrap();
        state.calls += 1;
        if state.every.is_some_and(|every| state.calls.is_multiple_of(every)) {
            state.keep();
        }
        if state.broken {
            return Err(io::Error::other("the disk is broken"));
        }
        state.fails_after = match state.fails_after {
            Some(0) => {
                state.fails_after = None;
                return Err(io::Error::other("the disk failed once"));
            }
            calls => calls.map(|calls| calls - 1),
        };
        work(&mut state)
    }

    /// A disk with this on it.
    pub fn holding(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(State {
            cached: image.clone(),
            synced: image,
            ..State::default()
        })))
    }
}

impl<K: Clone + Debug + Default + Send + 'static> StorageBackend for Disk<K> {
    fn len(&self) -> io::Result<u64> {
        self.with(|state| Ok(state.cached.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| {
            let offset = usize::try_from(offset).unwrap();
            let stored = state
                .cached
                .get(offset..offset + out.len())
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            out.copy_from_slice(stored);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|state| {
            let length = usize::try_from(len).unwrap();
            state.cached.resize(length, 0);
            state.pending.push(Pending::Length(length));
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.with(|state| {
            if state.lazy {
                return Ok(());
            }
            state.behind = false;
            for pending in std::mem::take(&mut state.pending) {
                pending.apply(&mut state.synced, &mut || true);
            }
            Ok(())
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|state| {
            let offset = usize::try_from(offset).unwrap();
            state.cached[offset..offset + data.len()].copy_from_slice(data);
            state.pending.push(Pending::Write(offset, data.to_vec()));
            Ok(())
        })
    }
}

impl<K> Moment<K> {
    /// Whether it is during a commit.
    pub fn is_in_a_commit(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The content of the disk when the power is back: some of the unsynced sectors, in some order.
    pub fn after_power_failure(&self, seed: u64) -> Vec<u8> {
        let mut dice = Dice::new(seed);
        let mut image = self.synced.clone();
        if self.is_behind {
            return image;
        }
        let mut pending = self.pending.clone();
        for last in (1..pending.len()).rev() {
            let other = usize::try_from(dice.below(last as u64 + 1)).unwrap();
            pending.swap(last, other);
        }
        // Lengths first: a file that grew may have kept any of the sectors in it.
        pending.sort_by_key(|pending| matches!(pending, Pending::Write(..)));
        for pending in pending {
            pending.apply(&mut image, &mut || dice.one_in(2));
        }
        image
    }
}
