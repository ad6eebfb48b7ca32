//! How an operation that lost against concurrent ones is retried: at once at first, then after pauses, until it times
//! out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// How many attempts to make without a pause. The faster operation has usually finished by then, unless reads are
/// behind.
const AT_ONCE: u32 = 8;

/// The upper limits of the first pause and of the longest. Each may be twice as long as the one before it.
const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(250);

/// When to give up. People and drivers wait for ten seconds and more; by then, outdated reads of a replica set have
/// caught up.
const PATIENCE: Duration = Duration::from_secs(8);

/// The attempts of one operation.
#[derive(Debug, Default)]
pub struct Attempts {
    made: u32,
    /// When the first pause began.
    since: Option<Instant>,
}

impl Attempts {
    /// Whether there is another attempt; it may begin after a pause of random length, so that operations that lost
    /// against each other do not collide again.
    pub async fn next(&mut self) -> bool {
        let pauses = self.made.saturating_sub(AT_ONCE);
        self.made = self.made.saturating_add(1);
        if pauses == 0 {
            return true;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            return false;
        }
        let most = SHORTEST.saturating_mul(1 << pauses.min(12)).min(LONGEST);
        tokio::time::sleep(most.mul_f64(spread())).await;
        true
    }

    /// Whether the next attempt begins after a pause.
    pub fn pauses_now(&self) -> bool {
        self.made > AT_ONCE
    }

    /// Whether an attempt was made before this one.
    pub fn is_retry(&self) -> bool {
        self.made > 1
    }
}

/// A random number between a half and one, different each time and in each process. It only spreads pauses.
fn spread() -> f64 {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
    let mixed = (drawn ^ (u64::from(std::process::id()) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let eight_bits = u8::try_from(mixed >> 56).unwrap_or_default();
    0.5 + f64::from(eight_bits) / 512.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_attempts_come_at_once_and_the_last_within_seconds() {
        let begun = Instant::now();
        let mut attempts = Attempts::default();
        for _ in 0..=AT_ONCE {
            assert!(attempts.next().await);
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let mut pauses = 0;
        while attempts.next().await {
            pauses += 1;
        }
        assert!((30..100).contains(&pauses), "{pauses} pauses");
        assert!((PATIENCE..PATIENCE + LONGEST * 2).contains(&begun.elapsed()));
    }

    #[test]
    fn pauses_differ() {
        let drawn: Vec<f64> = (0..64).map(|_| spread()).collect();
        assert!(drawn.iter().all(|part| (0.5..1.0).contains(part)));
        assert!(drawn.iter().any(|part| *part < 0.6) && drawn.iter().any(|part| *part > 0.9));
    }
}
