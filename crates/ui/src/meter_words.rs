//! The text of a meter. The server writes it, and an island writes it again after each change.

use model::Meter;

use crate::forms::truth;
use crate::number::grouped;

/// The drawing of the page documents, of which a meter without any has none. However many there are, at most these
/// five are drawn.
pub const STACK: &str =
    "<svg class=meter-stack viewBox='0 0 32 16'><rect/><rect/><rect/><rect/><rect/></svg>";

/// The attributes of a meter that change, in the order in which it is drawn.
pub fn attributes(meter: &Meter, relation: &str) -> [(&'static str, String); 7] {
    [
        ("data-head", meter.head.to_string()),
        ("data-threshold", meter.threshold.to_string()),
        ("data-pages", meter.pages.to_string()),
        ("data-overflow", truth(meter.pages > 0).to_owned()),
        ("aria-valuemax", meter.threshold.to_string()),
        ("aria-valuenow", meter.head.min(meter.threshold).to_string()),
        ("aria-valuetext", in_words(meter, relation)),
    ]
}

/// The fill level of the head, in percent.
pub fn fill(meter: &Meter) -> String {
    let permille = (meter.head * 1000)
        .checked_div(meter.threshold)
        .unwrap_or(0)
        .min(1000);
    format!("{}.{}%", permille / 10, permille % 10)
}

/// How much the head holds.
pub fn head_count(meter: &Meter) -> String {
    grouped(meter.head)
}

/// How much it may hold.
pub fn of_threshold(meter: &Meter) -> String {
    format!(" / {}", grouped(meter.threshold))
}

/// The number of documents besides the owner.
pub fn pages(pages: u64) -> String {
    match pages {
        0 => "one document".to_owned(),
        1 => "1 page".to_owned(),
        more => format!("{} pages", grouped(more)),
    }
}

/// Whether the head will soon spill.
pub fn is_nearly_full(head: u64, threshold: u64) -> bool {
    head * 10 >= threshold * 9
}

fn in_words(meter: &Meter, relation: &str) -> String {
    let Meter {
        count,
        head,
        threshold,
        pages,
    } = *meter;
    let rest = grouped(count.saturating_sub(head));
    let (head, threshold) = (grouped(head), grouped(threshold));
    match pages {
        0 => format!("{head} of {threshold} {relation} in the head, no overflow"),
        1 => format!("{head} of {threshold} {relation} in the head, {rest} older ones in 1 page document"),
        more => {
            let pages = grouped(more);
            format!(
                "{head} of {threshold} {relation} in the head, {rest} older ones in {pages} page documents"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METER: Meter = Meter {
        count: 25_000,
        head: 880,
        threshold: 1000,
        pages: 24,
    };

    #[test]
    fn the_text_matches_the_drawing() {
        assert_eq!(
            in_words(&METER, "likes"),
            "880 of 1,000 likes in the head, 24,120 older ones in 24 page documents"
        );
        assert_eq!(fill(&METER), "88.0%");
    }

    #[test]
    fn warns_from_nine_tenths_on_and_never_exceeds_its_frame() {
        assert!(!is_nearly_full(899, 1_000));
        assert!(is_nearly_full(900, 1_000));
        assert_eq!(fill(&Meter { head: 1200, ..METER }), "100.0%");
        assert_eq!(
            fill(&Meter {
                threshold: 0,
                ..METER
            }),
            "0.0%"
        );
    }
}
