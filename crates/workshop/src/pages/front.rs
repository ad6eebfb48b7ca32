use leptos::prelude::*;
use ui::title::PageTitle;

use super::articles::Articles;
use super::sheets::Sheets;
use super::stations::{Stations, Tour};
use crate::Fill;

/// The workshop's front page.
#[component]
pub fn LabPage() -> impl IntoView {
    let fill = Fill {
        head: 107,
        threshold: 160,
        pages: (0..3).map(|page| (format!("page {page}"), 128)).collect(),
        page_size: 128,
    };
    let minutes: u32 = Tour::ALL.0.iter().map(|station| station.minutes).sum();
    view! {
        <PageTitle text="Workshop" />
        <header class="introduction lab-head">
            <h1>"See where the pattern fails, and how to make it safe"</h1>
            <Sheets fill />
            <p>
                "The newest likes of a post are in the post’s own document: its head. When the head is full, its oldest likes move into another document: a page. "
                "This is MongoDB’s outlier pattern. Written carelessly, it loses likes or counts them twice: here you see when, and what prevents it. The stations run the code of four published articles, and “head and pages”, which is this feed’s own."
            </p>
            <p>
                "You change lists of your own; the feed’s data stays as it is. The address contains what you see, so you can send it to somebody, and the browser’s Back button undoes a step. "
                {format!("The {} stations take {minutes} minutes together.", Tour::ALL.0.len())}
            </p>
        </header>
        <Stations />
        <p class="lab-further">
            "Then test yourself: "
            <a href="/lab/exercises">"six exercises that check your answer"</a>
            "."
        </p>
        <Articles />
    }
}
