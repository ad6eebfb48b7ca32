use leptos::prelude::*;
use ui::components::size;

use super::words;

/// What one way to do something costs.
pub(super) struct Bar {
    pub(super) name: &'static str,
    pub(super) documents: u64,
    pub(super) bytes: u64,
}

/// The most bytes of some bars, for which a bar has its full length.
pub(super) fn most<'b>(bars: impl Iterator<Item = &'b Bar>) -> u64 {
    bars.map(|bar| bar.bytes).max().unwrap_or(0).max(1)
}

/// The bytes of several ways to do the same. Those that need hardly more than the least are emphasised.
#[component]
pub(super) fn Bars(
    /// What is done.
    #[prop(into)]
    title: String,
    bars: Vec<Bar>,
    /// The bytes of the longest bar beside these.
    most: u64,
) -> impl IntoView {
    let least = bars.iter().map(|bar| bar.bytes).min().unwrap_or(0);
    let rows = bars.into_iter().map(|bar| {
        let class = (bar.bytes * 4 <= least * 5).then_some("least");
        view! {
            <div class=class>
                <dt>{bar.name}</dt>
                <dd>
                    <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
                        <rect class="meter-water" width=(bar.bytes * 1_000).div_ceil(most) height="10" />
                    </svg>
                    <span>{format!("{}, {}", words::documents(bar.documents), size(bar.bytes))}</span>
                </dd>
            </div>
        }
    });
    view! {
        <section class="question">
            <h3>{title}</h3>
            <dl>{rows.collect_view()}</dl>
        </section>
    }
}
