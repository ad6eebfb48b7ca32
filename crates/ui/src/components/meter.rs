use leptos::prelude::*;
use model::Relation;

use super::meter_words as words;

/// How much room a meter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterSize {
    /// One line, under a post.
    Line,
    /// The opening of a profile.
    Large,
}

/// A picture of how one list is stored: the head as a channel that fills towards its brim, and behind the brim the
/// page documents that took what spilled over.
///
/// In an island it is live: `islands/browser/meter.rs` updates what is written here.
#[component]
pub fn Meter(
    /// Which list.
    relation: Relation,
    /// The owner, in words.
    of: String,
    /// How it is stored.
    meter: model::Meter,
    /// The size to draw it in.
    size: MeterSize,
) -> impl IntoView {
    let [head, threshold, pages, overflow, most, now, text] =
        words::attributes(&meter, relation.as_str()).map(|(_, value)| value);
    let sheets: [_; words::MOST_SHEETS] = std::array::from_fn(|_| view! { <rect /> });
    view! {
        <div
            class="meter"
            class:meter-large=size == MeterSize::Large
            data-testid="overflow-meter"
            data-relation=(relation != Relation::Likes).then(|| relation.as_str())
            data-head=head
            data-threshold=threshold
            data-pages=pages
            data-overflow=overflow
            data-near=words::is_nearly_full(&meter).then_some("")
            role="meter"
            aria-label=format!("How the {relation} of {of} are stored")
            aria-valuemax=most
            aria-valuenow=now
            aria-valuetext=text
        >
            {(size == MeterSize::Large)
                .then(|| {
                    view! {
                        <span class="meter-relation" aria-hidden="true">
                            {format!("How the {relation} are stored")}
                        </span>
                    }
                })}
            <span class="meter-channel" aria-hidden="true">
                <svg class="meter-head">
                    <rect class="meter-water" width=words::fill(&meter) />
                </svg>
                <svg class="meter-stack" viewBox="0 0 32 16">
                    {sheets}
                </svg>
            </span>
            <span class="meter-text" aria-hidden="true">
                <span>
                    "head " <b>{words::head_count(&meter)}</b> <span>{words::of_threshold(&meter)}</span>
                </span>
                <span>{words::pages(meter.pages)}</span>
            </span>
        </div>
    }
}
