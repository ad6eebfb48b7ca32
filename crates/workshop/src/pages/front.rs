use leptos::prelude::*;
use ui::title::PageTitle;

use super::articles::Articles;
use super::stations::{Stations, Tour};

/// The workshop's front page.
#[component]
pub fn LabPage() -> impl IntoView {
    let minutes: u32 = Tour::ALL.0.iter().map(|station| station.minutes).sum();
    view! {
        <PageTitle text="Workshop" />
        <header class="introduction lab-head">
            <h1>"See where the pattern fails, and how to make it safe"</h1>
            <p>
                "At each station you look at documents: those of the feed, or those of a list that you change. The town’s data stays as it is, and your lists are removed afterwards. "
                "The code that changes these lists is the articles’ own code, as printed, and the code of this feed."
            </p>
            <p>
                "The address contains what you see: send it to somebody, and they see the same. Back undoes your last step. Longer runs, such as a storm, are shown in every open browser. "
                {format!("All stations together take {minutes} minutes.")}
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
