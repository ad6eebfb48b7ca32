use leptos::prelude::*;
use ui::components::grouped;
use ui::meter_words::is_nearly_full;

use crate::Fill;

/// The height of a sheet.
const HEIGHT: u64 = 40;

/// The documents of a short list as sheets, filled from below: the head, and the pages with the newest first.
#[component]
pub fn Sheets(fill: Fill) -> impl IntoView {
    let Fill {
        head,
        threshold,
        pages,
        page_size,
    } = fill;
    let water = match head {
        head if head > threshold => "water-over",
        head if is_nearly_full(head, threshold) => "water-near",
        _ => "meter-water",
    };
    let pages = pages.into_iter().rev().map(|(name, items)| {
        view! {
            <li class="sheet-head">
                <Sheet items most=page_size class="meter-water" />
                <span>{name}</span>
                <b>{grouped(items)}</b>
                <span class="sr-only">" items"</span>
            </li>
        }
    });
    let pages = pages.collect_view();
    view! {
        <ol class="sheets" data-testid="sheets">
            <li class="sheet-head">
                <Sheet items=head most=threshold class=water />
                <span>"head"</span>
                <b>{format!("{} of {}", grouped(head), grouped(threshold))}</b>
            </li>
            {pages}
        </ol>
    }
}

/// A sheet.
#[component]
pub(super) fn Sheet(items: u64, most: u64, class: &'static str) -> impl IntoView {
    let full = (items * HEIGHT).checked_div(most).unwrap_or(0).min(HEIGHT);
    view! {
        <svg viewBox=format!("0 0 30 {HEIGHT}") preserveAspectRatio="none" aria-hidden="true">
            <rect class="sheet-paper" width="30" height=HEIGHT />
            <rect class=class y=HEIGHT - full width="30" height=full />
        </svg>
    }
}
