use leptos::prelude::*;

use super::{grouped, size};

/// The boundary between two documents of a list, where a reader scrolls over it, and what crossing it took.
#[component]
pub fn Seam(
    /// The boundary.
    seam: model::Seam,
) -> impl IntoView {
    let model::Seam {
        page, pages, cost, ..
    } = seam;
    view! {
        <div class="seam" data-testid="seam" data-page=page.to_string()>
            <p class="seam-label">{format!("page {} of {pages}", page + 1)}</p>
            <p class="seam-note">
                "An older document begins here, with " <code>{format!("page: {page}")}</code> "."
                {cost
                    .map(|cost| {
                        view! {
                            " Read to get here: "
                            <b>{format!("{} documents, {}", grouped(cost.documents), size(cost.bytes))}</b>
                            {format!(". One unbounded array: 1 document, {}.", size(cost.unbounded))}
                        }
                    })}
            </p>
        </div>
    }
}
