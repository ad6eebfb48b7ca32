//! Random choices that a seed determines.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Dice of their own, for another thread.
    pub fn split(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    pub fn one_of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let number = usize::try_from(self.below(from.len() as u64)).unwrap();
        &from[number]
    }

    /// Whether one of so many cases is the case.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// Less than so many random bytes.
    pub fn bytes(&mut self, bound: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.below(bound)).unwrap()];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// A random UUID, version 4.
    pub fn uuid(&mut self) -> String {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}
