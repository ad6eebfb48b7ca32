use feed::End;
use leptos::prelude::*;
use ui::components::{grouped, size};

/// The boundary between two documents of a list, shown where a reader scrolls over it, and the cost of crossing
/// it.
#[component]
pub fn Seam(
    /// The boundary.
    seam: model::Seam,
    /// The document on the reader's side of the boundary.
    end: End,
) -> impl IntoView {
    let model::Seam {
        page, pages, cost, ..
    } = seam;
    let beyond = match end {
        End::Newest => "An older document begins here.",
        End::Oldest => "A newer document begins here.",
    };
    view! {
        <div class="seam" data-testid="seam" data-page=page.to_string()>
            <p class="seam-label" data-testid="page-number">
                {format!("page {page}")}
            </p>
            <p class="seam-note">
                {beyond}
                {match page {
                    0 => " It is the oldest of all.".to_owned(),
                    _ => format!(" Page 0 has the oldest items, and page {} the newest.", pages.saturating_sub(1)),
                }}
                {cost
                    .map(|cost| {
                        view! {
                            " What reading this far cost: "
                            <b>{format!("{} documents, {}", grouped(cost.documents), size(cost.bytes))}</b>
                            {format!(". One unbounded array: 1 document, {}.", size(cost.unbounded))}
                        }
                    })}
            </p>
        </div>
    }
}
