use leptos::prelude::*;

/// The head of a table: a heading for each column.
#[component]
pub fn Headings(columns: Vec<&'static str>) -> impl IntoView {
    let columns = columns
        .into_iter()
        .map(|column| view! { <th scope="col">{column}</th> });
    view! {
        <thead>
            <tr>{columns.collect_view()}</tr>
        </thead>
    }
}
