use leptos::prelude::*;
use model::Relation;

use super::grouped;

/// How much room a meter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterSize {
    /// One line, under a post.
    Line,
    /// The opening of a profile.
    Large,
}

/// How one list is stored, at a glance: the head as a channel that fills towards its brim, and behind the brim the
/// page documents that took what spilled over.
#[component]
pub fn Meter(
    /// Which list.
    relation: Relation,
    /// How it is stored.
    #[prop(into)]
    meter: Signal<model::Meter>,
    /// How large to draw it.
    size: MeterSize,
) -> impl IntoView {
    // A page more than before is a spill, and worth a short animation; the first look is not.
    let spilled = RwSignal::new(false);
    Effect::new(move |before: Option<u64>| {
        let pages = meter.with(|meter| meter.pages);
        if before.is_some_and(|before| pages > before) {
            spilled.set(false);
            request_animation_frame(move || spilled.set(true));
        }
        pages
    });
    let large = size == MeterSize::Large;

    view! {
        <div
            class="meter"
            class:meter-large=large
            class:is-near=move || meter.with(near_the_brim)
            class:is-spilling=spilled
            data-testid="overflow-meter"
            data-head=move || meter.with(|meter| meter.head)
            data-threshold=move || meter.with(|meter| meter.threshold)
            data-pages=move || meter.with(|meter| meter.pages)
            data-overflow=move || meter.with(|meter| (meter.pages > 0).to_string())
            role="meter"
            aria-label=format!("How the {relation} are stored")
            aria-valuemin="0"
            aria-valuemax=move || meter.with(|meter| meter.threshold)
            aria-valuenow=move || meter.with(|meter| meter.head.min(meter.threshold))
            aria-valuetext=move || meter.with(|meter| in_words(meter, relation))
        >
            <span class="meter-channel" aria-hidden="true">
                <svg class="meter-head" preserveAspectRatio="none">
                    <rect class="meter-water" width=move || meter.with(fill) height="100%" />
                </svg>
                <Stack pages=Signal::derive(move || meter.with(|meter| meter.pages)) />
            </span>
            <span class="meter-text" aria-hidden="true">
                <span>
                    "head "
                    <b>{move || meter.with(|meter| grouped(meter.head))}</b>
                    {move || meter.with(|meter| format!(" / {}", grouped(meter.threshold)))}
                </span>
                <span class="meter-pages">{move || meter.with(|meter| pages_in_words(meter.pages))}</span>
            </span>
        </div>
    }
}

/// Page documents as sheets: as many as there are, up to five.
#[component]
fn Stack(pages: Signal<u64>) -> impl IntoView {
    let sheet = move |number: u64| {
        let there = move || number <= pages.get();
        let left = (number * 5 - 4).to_string();
        view! { <rect class="sheet" class:is-there=there x=left y="1" width="9" height="14" rx="2" /> }
    };
    view! {
        <svg class="meter-stack" viewBox="0 0 32 16">
            {(1..=5).map(sheet).collect_view()}
        </svg>
    }
}

fn near_the_brim(meter: &model::Meter) -> bool {
    meter.head * 10 >= meter.threshold * 9
}

fn fill(meter: &model::Meter) -> String {
    let permille = (meter.head * 1000)
        .checked_div(meter.threshold)
        .unwrap_or(0)
        .min(1000);
    format!("{}.{}%", permille / 10, permille % 10)
}

fn pages_in_words(pages: u64) -> String {
    match pages {
        0 => "one document".to_owned(),
        1 => "1 page".to_owned(),
        more => format!("{} pages", grouped(more)),
    }
}

fn in_words(meter: &model::Meter, relation: Relation) -> String {
    let model::Meter {
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

    const METER: model::Meter = model::Meter {
        count: 25_000,
        head: 880,
        threshold: 1000,
        pages: 24,
    };

    #[test]
    fn says_in_words_what_it_draws() {
        assert_eq!(
            in_words(&METER, Relation::Likes),
            "880 of 1,000 likes in the head, 24,120 older ones in 24 page documents"
        );
        assert_eq!(fill(&METER), "88.0%");
    }

    #[test]
    fn warns_from_nine_tenths_on_and_never_flows_over_its_frame() {
        assert!(!near_the_brim(&METER));
        assert!(near_the_brim(&model::Meter { head: 900, ..METER }));
        assert_eq!(fill(&model::Meter { head: 1200, ..METER }), "100.0%");
        assert_eq!(
            fill(&model::Meter {
                threshold: 0,
                ..METER
            }),
            "0.0%"
        );
    }
}
