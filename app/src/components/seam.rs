use leptos::prelude::*;

/// The boundary between two documents of a list, where a reader scrolls over it.
#[component]
pub fn Seam(
    /// The boundary.
    seam: model::Seam,
) -> impl IntoView {
    let model::Seam { page, pages, .. } = seam;
    view! {
        <div class="seam" data-testid="seam" data-page=page.to_string()>
            <p class="seam-label">{format!("page {} of {pages}", page + 1)}</p>
            <p class="seam-note">"an older document begins here, with " <code>{format!("page: {page}")}</code></p>
        </div>
    }
}
