//! The threshold for a byte budget, from the actual sizes of items.
//!
//! Seed 0: "Calculate it from your average activity document size and your target primary document size. If each
//! activity is 200 bytes, 1,000 activities is 200 KB."

use serde::Serialize;

/// The sizes of the items of lists of one kind, in bytes of BSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemSizes {
    /// Half of them are not larger.
    pub p50: u64,
    /// Nine of ten are not larger.
    pub p90: u64,
    /// Ninety-nine of a hundred are not larger.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// A threshold and page size, and what they mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    /// How many items the head may hold.
    pub threshold: usize,
    /// How many items a page may hold.
    pub page_size: usize,
    /// The head's bytes when it is full, with items of the median size.
    pub head_bytes: u64,
    /// The same if every item were as large as the largest.
    pub worst_head_bytes: u64,
    /// Whether the budget holds even then.
    pub always_within: bool,
    /// Whether the head always has what a first screen reads, even just after a spill: the newest items, and the one
    /// after them.
    pub first_screen_from_head: bool,
    /// What an append rewrites on average, in bytes: a head between two spills.
    pub bytes_per_append: u64,
    /// Spills per 1,000 appends.
    pub spills: f64,
    /// Boundaries between documents that a reader of 1,000 items crosses.
    pub seams: f64,
}

/// How many bytes an array element costs besides the item: its type, its index as text, and a terminator.
const PER_ELEMENT: u64 = 1 + 4 + 1;
/// The bytes of a list besides its items: counters, flags and the empty `pending`.
const PER_LIST: u64 = 140;
/// How many quarters of the head make a page, so that a spill leaves the newest items behind.
const PAGE_QUARTERS: usize = 3;

/// The threshold and page size with which a list of items of these sizes stays within `budget` bytes of its owner
/// document; `screen` is how many items a first screen shows, and `most` how many a head may hold at most.
///
/// The budget holds even if every item is as large as the largest, unless that is a rare one, more than twice as large
/// as the p99 size: then it holds for items of the p99 size, and the worst case is reported. At least one item fits,
/// whatever the budget.
#[must_use]
pub fn advise(budget: u64, sizes: ItemSizes, screen: usize, most: usize) -> Advice {
    let room = budget.saturating_sub(PER_LIST);
    let large = if sizes.max > 2 * sizes.p99 {
        sizes.p99
    } else {
        sizes.max
    };
    let fits = room / (large.max(1) + PER_ELEMENT);
    let threshold = usize::try_from(fits).unwrap_or(usize::MAX).clamp(1, most.max(1));
    evaluate(budget, sizes, screen, threshold, page_size_for(threshold, screen))
}

/// What a threshold and page size mean for items of these sizes.
#[must_use]
pub fn evaluate(budget: u64, sizes: ItemSizes, screen: usize, threshold: usize, page_size: usize) -> Advice {
    let (threshold, page_size) = (threshold.max(1), page_size.max(1));
    let moved = page_size.min(threshold);
    let left = threshold - moved;
    let head = |items: usize, size: u64| PER_LIST + items as u64 * (size + PER_ELEMENT);
    let worst_head_bytes = head(threshold, sizes.max);
    #[expect(clippy::cast_precision_loss, reason = "at most a few thousand items")]
    let per_thousand = |items: usize| 1_000.0 / items as f64;
    Advice {
        threshold,
        page_size,
        head_bytes: head(threshold, sizes.p50),
        worst_head_bytes,
        always_within: worst_head_bytes <= budget,
        // The append that met the full head is there already, and one more item is read after the screen: it shows
        // whether the list goes on.
        first_screen_from_head: left + 1 > screen,
        bytes_per_append: head(usize::midpoint(left + 1, threshold), sizes.p50),
        spills: per_thousand(moved),
        seams: per_thousand(page_size),
    }
}

/// Three quarters of the head, or less where a first screen would need a page otherwise.
fn page_size_for(threshold: usize, screen: usize) -> usize {
    let usual = (threshold * PAGE_QUARTERS).div_ceil(4);
    let leaves_a_screen = threshold.saturating_sub(screen);
    if leaves_a_screen >= threshold.div_ceil(2) {
        usual.min(leaves_a_screen)
    } else {
        // The head is too small for a screen and useful pages, so a screen reads a page as well.
        usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: usize = 20;
    const MOST: usize = 1_900;

    fn advise(budget: u64, sizes: ItemSizes, screen: usize) -> Advice {
        super::advise(budget, sizes, screen, MOST)
    }

    fn all(size: u64) -> ItemSizes {
        ItemSizes {
            p50: size,
            p90: size,
            p99: size,
            max: size,
        }
    }

    #[test]
    fn the_seeds_own_examples_are_reproduced() {
        let of = |kilobytes: u64, size| advise(kilobytes * 1_000, all(size), SCREEN).threshold;
        let small = of(200, 200);
        assert!((900..=1_000).contains(&small), "200 bytes in 200 KB: {small}");
        let large = of(200, 2_000);
        assert!((95..=100).contains(&large), "2 KB in 200 KB: {large}");
    }

    #[test]
    fn a_full_head_of_the_p99_size_stays_within_the_budget() {
        for budget in [200, 1_000, 10_240, 16_384, 1_000_000] {
            for size in [20, 63, 95, 170, 2_500] {
                let advice = advise(budget, all(size), SCREEN);
                let within = advice.worst_head_bytes <= budget;
                assert_eq!(advice.always_within, within);
                assert!(within || advice.threshold == 1, "{budget} {size}: {advice:?}");
                assert!((1..=advice.threshold).contains(&advice.page_size));
            }
        }
    }

    #[test]
    fn advice_keeps_its_budget_also_for_the_largest_items() {
        let sizes = ItemSizes {
            p99: 73,
            max: 77,
            ..all(62)
        };
        let advice = advise(16_384, sizes, SCREEN);
        assert_eq!(advice.threshold, 195);
        assert!(advice.always_within, "{advice:?}");
    }

    #[test]
    fn one_huge_item_breaks_the_budget_and_is_reported() {
        let sizes = ItemSizes {
            max: 2_400,
            ..all(63)
        };
        let advice = advise(10_240, sizes, SCREEN);
        assert!(
            !advice.always_within && advice.worst_head_bytes > 100_000,
            "{advice:?}"
        );
    }

    #[test]
    fn the_first_screen_comes_from_the_head_where_the_budget_allows() {
        let advice = advise(10_240, all(63), SCREEN);
        assert!(advice.first_screen_from_head, "{advice:?}");
        assert!(advice.threshold - advice.page_size >= SCREEN);
        assert!(!advise(500, all(63), SCREEN).first_screen_from_head);
    }

    #[test]
    fn a_head_that_keeps_no_item_behind_the_screen_needs_a_page() {
        // Of 40 items, 21 move and 19 stay; the append that met the full head makes twenty: a screen, but no item that
        // shows whether the list goes on.
        assert!(!evaluate(10_240, all(63), SCREEN, 40, 21).first_screen_from_head);
        assert!(evaluate(10_240, all(63), SCREEN, 40, 20).first_screen_from_head);
        assert_eq!(page_size_for(77, SCREEN), 57);
        assert_eq!(page_size_for(160, SCREEN), 120);
    }

    #[test]
    fn spills_and_seams_follow_from_the_page() {
        let advice = evaluate(10_240, all(63), SCREEN, 160, 125);
        assert!(
            (advice.spills - 8.0).abs() < 1e-9 && (advice.seams - 8.0).abs() < 1e-9,
            "{advice:?}"
        );
        assert_eq!(advice.bytes_per_append, PER_LIST + 98 * (63 + PER_ELEMENT));
        let tiny = evaluate(10_240, all(63), SCREEN, 1, 1);
        assert!((tiny.spills - 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn missing_sizes_and_an_empty_budget_are_handled() {
        assert_eq!(advise(0, ItemSizes::default(), SCREEN).threshold, 1);
        assert_eq!(advise(u64::MAX, ItemSizes::default(), SCREEN).threshold, MOST);
    }
}
