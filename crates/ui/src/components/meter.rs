use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use model::Relation;

use crate::meter_words as words;

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
            data-near=words::is_nearly_full(meter.head, meter.threshold).then_some("")
            role="meter"
            aria-label=format!("How the {relation} of {of} are stored")
            aria-valuemax=most
            aria-valuenow=now
            aria-valuetext=text
        >
            <span aria-hidden="true">
                {(size == MeterSize::Large)
                    .then(|| view! { <span class="meter-relation">{format!("How the {relation} are stored")}</span> })}
                <svg>
                    <rect width=words::fill(&meter) />
                </svg>
                {(meter.pages > 0).then(|| InertElement::new(words::STACK))}
                <span class="meter-text">
                    <span>"head " <b>{words::head_count(&meter)}</b> {words::of_threshold(&meter)}</span>
                    <span>{words::pages(meter.pages)}</span>
                </span>
            </span>
        </div>
    }
}
