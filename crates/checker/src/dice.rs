//! Random numbers that are determined by a seed.

/// A generator of the xorshift family: small, and random enough for schedules.
pub struct Dice(u64);

impl Dice {
    /// For a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below this one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end
    }

    /// True once in this many times on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
