//! How an operation that lost against concurrent ones is retried: at once at first, then after pauses, until its
//! deadline.

use std::hash::{BuildHasher as _, RandomState};
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
const TIMEOUT: Duration = Duration::from_secs(8);

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs an operation that may retry in several places, one after the other or one within the other. All its
/// [`Attempts`] end by one deadline, a few seconds from now; within another such operation, by the other's.
pub async fn with_deadline<F: Future>(operation: F) -> F::Output {
    until(deadline(), operation).await
}

/// Runs an operation whose attempts all end by this deadline.
pub async fn until<F: Future>(deadline: Instant, operation: F) -> F::Output {
    DEADLINE.scope(deadline, operation).await
}

/// The deadline of the operation that runs, or of one that would begin now. Tasks that it spawns do not inherit it.
pub fn deadline() -> Instant {
    DEADLINE
        .try_with(|deadline| *deadline)
        .unwrap_or_else(|_| Instant::now() + TIMEOUT)
}

/// The attempts of one loop. Without a [deadline of the whole operation](with_deadline), it has one of its own.
#[derive(Debug, Default)]
pub struct Attempts {
    made: u32,
    /// When to give up; known from the second attempt on.
    deadline: Option<Instant>,
}

impl Attempts {
    /// Whether there is another attempt; it may begin after a pause of random length, so that operations that lost
    /// against each other do not collide again. There always is a first one.
    pub async fn next(&mut self) -> bool {
        let pauses = self.made.saturating_sub(AT_ONCE);
        self.made = self.made.saturating_add(1);
        if !self.is_retry() {
            return true;
        }
        let deadline = *self.deadline.get_or_insert_with(deadline);
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        if pauses > 0 {
            let most = SHORTEST.saturating_mul(1 << pauses.min(12)).min(LONGEST);
            tokio::time::sleep(most.mul_f64(spread()).min(left)).await;
        }
        true
    }

    /// Does not count the attempt: it lost to nobody, and only found that the next one has to begin differently. So an
    /// operation that comes after its deadline can still be done. At most a few times in a loop, because it does not pause.
    pub fn not_lost(&mut self) {
        self.made = self.made.saturating_sub(1);
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

/// A random number between a half and one. It only spreads pauses, so the keys of a hash table, which the operating
/// system's randomness seeds, are good enough.
fn spread() -> f64 {
    let eight_bits = u8::try_from(RandomState::new().hash_one(()) >> 56).unwrap_or_default();
    0.5 + f64::from(eight_bits) / 512.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loses every attempt of a loop; returns how many there were.
    async fn lose() -> u32 {
        let mut attempts = Attempts::default();
        let mut made = 0;
        while attempts.next().await {
            made += 1;
        }
        made
    }

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
        assert_eq!(begun.elapsed(), TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn the_loops_of_one_operation_end_by_one_deadline() {
        let begun = Instant::now();
        with_deadline(async {
            let mut attempts = Attempts::default();
            let mut made = 0;
            while attempts.next().await {
                made += 1;
                with_deadline(lose()).await;
            }
            assert_eq!(made, 1, "the inner loop used up the time of both");
            assert_eq!(lose().await, 1, "a later loop has one attempt");
        })
        .await;
        assert_eq!(begun.elapsed(), TIMEOUT);
        assert!(lose().await > 1, "another operation has a deadline of its own");
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_lost_to_nobody_is_not_counted() {
        until(Instant::now(), async {
            let mut attempts = Attempts::default();
            assert!(attempts.next().await);
            attempts.not_lost();
            assert!(attempts.next().await && !attempts.is_retry());
            assert!(!attempts.next().await);
        })
        .await;
    }

    #[test]
    fn pauses_differ() {
        let drawn: Vec<f64> = (0..64).map(|_| spread()).collect();
        assert!(drawn.iter().all(|part| (0.5..1.0).contains(part)));
        assert!(drawn.iter().any(|part| *part < 0.6) && drawn.iter().any(|part| *part > 0.9));
    }
}
