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
        End::Newest => "An older document begins here, with ",
        End::Oldest => "A newer document begins here, with ",
    };
    view! {
        <div class="seam" data-testid="seam" data-page=page.to_string()>
            <p class="seam-label">{format!("page {} of {pages}", page + 1)}</p>
            <p class="seam-note">
                {beyond} <code>{format!("page: {page}")}</code> "."
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
