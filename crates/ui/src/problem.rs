//! The page in place of one that cannot be shown.

use axum::http::StatusCode;
use leptos::prelude::*;
use leptos_axum::ResponseOptions;
use model::{Kind, Problem};

use crate::title::PageTitle;

/// The page at an address that does not exist.
#[component]
pub fn NotFound() -> impl IntoView {
    view! { <ProblemPage problem=Problem::new(Kind::NotFound, "There is no page at this address.") /> }
}

/// Gives the answer the status of a kind of problem.
pub fn answer_with(kind: Kind) {
    if let Some(response) = use_context::<ResponseOptions>() {
        let status = StatusCode::from_u16(kind.status());
        response.set_status(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    }
}

/// The page in place of one that cannot be shown. The answer has the problem's status.
#[component]
pub fn ProblemPage(
    /// Why it cannot be shown.
    problem: Problem,
) -> impl IntoView {
    answer_with(problem.kind);
    let status = problem.kind.status();
    let title = match problem.kind {
        Kind::NotFound => "Page not found",
        kind => kind.title(),
    };
    view! {
        <PageTitle text=title />
        <section class="problem">
            <svg class="problem-drawing" viewBox="0 0 200 80" aria-hidden="true">
                <path class="problem-bed" d="M4 20v44a10 10 0 0 0 10 10h128a10 10 0 0 0 10-10V30q0-10 10-10h34" />
                <path class="problem-water" d="M12 68h132" />
            </svg>
            <p class="problem-status">{status}</p>
            <h1>{title}</h1>
            <p>{problem.message}</p>
            <p class="problem-ways">
                <a class="button button-primary" href="/">
                    "Go to the feed"
                </a>
                <a class="button" href="/explore">
                    "Explore"
                </a>
            </p>
        </section>
    }
}
