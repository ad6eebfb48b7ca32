//! The site's name and icon.

use leptos::prelude::*;

/// The site's icon, written into the page and into `public/manifest.webmanifest`: a browser would ask for a file once for
/// the page's tab and once more for the manifest.
pub const ICON: &str = concat!(
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E",
    "%3Crect width='32' height='32' rx='8' fill='%230b6477'/%3E",
    "%3Cg fill='none' stroke='%23fff' stroke-width='3' stroke-linecap='round'%3E",
    "%3Cpath d='M6 9h7c7 0 6 8 13 8'/%3E",
    "%3Cpath d='M6 15h4.5c7 0 6 8 13 8H26' opacity='.65'/%3E",
    "%3Cpath d='M6 21h2c4 0 5.5 4.5 9 6.5' opacity='.35'/%3E%3C/g%3E%3C/svg%3E",
);

/// The mark and the name, inline so that they take the colours of the theme.
#[component]
pub fn Wordmark() -> impl IntoView {
    view! { <span class="wordmark-drawing" aria-hidden="true" inner_html=include_str!("../../../../public/wordmark.svg")></span> }
}
