//! A key that changes the meaning of the next one.

use std::cell::Cell;

/// How long it waits for the next one, in milliseconds.
const TIMEOUT: f64 = 1_500.0;

/// The `g` of `g h`.
#[derive(Default)]
pub struct FirstKey(Cell<Option<f64>>);

impl FirstKey {
    /// Takes note of a key that was pressed at this time. A key does not `count` while somebody writes, or with another
    /// one held down. Returns whether it follows a `g`.
    pub fn precedes(&self, key: &str, counts: bool, at: f64) -> bool {
        let before = self.0.replace((counts && key == "g").then_some(at));
        counts && before.is_some_and(|before| at - before <= TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_key_follows_soon_and_both_are_pressed_alone() {
        let key = FirstKey::default();
        assert!(!key.precedes("h", true, 0.0));
        key.precedes("g", true, 1.0);
        assert!(key.precedes("h", true, 500.0));
        assert!(!key.precedes("h", true, 600.0), "only the next key follows");
        // Somebody writes a "g", or presses it with Control.
        key.precedes("g", false, 1_000.0);
        assert!(!key.precedes("h", true, 1_100.0));
        key.precedes("g", true, 2_000.0);
        assert!(!key.precedes("h", false, 2_100.0));
        assert!(!key.precedes("h", true, 2_200.0));
        key.precedes("g", true, 3_000.0);
        assert!(!key.precedes("h", true, 3_000.0 + TIMEOUT + 1.0), "too late");
    }
}
