#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

use chart::Chart;
use leptos::prelude::*;
use ui::components::grouped;

/// Named numbers in rows.
pub(super) struct Table {
    /// The header of the names.
    pub(super) first: &'static str,
    /// The header of the numbers.
    pub(super) headings: Vec<String>,
    /// Names, and their numbers as formatted text.
    pub(super) rows: Vec<(String, Vec<String>)>,
}

/// A chart, and a table of the same numbers beside it.
#[component]
pub(super) fn ChartAndTable(
    /// Its id on the page.
    id: &'static str,
    /// What is measured.
    title: &'static str,
    chart: Chart,
    table: Table,
) -> impl IntoView {
    view! {
        <section class="figures" aria-labelledby=id data-testid=id>
            <h2 id=id class="section-head">
                {title}
            </h2>
            <div class="figures-beside">
                <div inner_html=chart.inline(&format!("{id}-chart"))></div>
                <Figures label=title table />
            </div>
        </section>
    }
}

/// A table that scrolls by itself if it is too wide.
#[component]
pub(super) fn Figures(
    /// Its label.
    #[prop(into)]
    label: String,
    table: Table,
) -> impl IntoView {
    let headings = table
        .headings
        .into_iter()
        .map(|heading| view! { <th scope="col">{heading}</th> });
    let rows = table.rows.into_iter().map(|(name, cells)| {
        let cells = cells.into_iter().map(|cell| view! { <td>{cell}</td> });
        view! {
            <tr>
                <th scope="row">{name}</th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="figures-table" tabindex="0" role="region" aria-label=format!("{label}, as a table")>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{table.first}</th>
                        {headings.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
}

/// The verdict of counting the documents at the end, and every number that should be zero and is not.
#[component]
pub(super) fn VerdictTable(
    holds: bool,
    /// The verdict's text.
    judgement: Option<&'static str>,
    /// Test ids, names and numbers.
    sums: Vec<(&'static str, &'static str, u64)>,
    /// The violations, in words that follow the number.
    faults: Vec<(u64, &'static str)>,
) -> impl IntoView {
    let sums = sums.into_iter().map(|(id, name, number)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd data-testid=id>{grouped(number)}</dd>
            </div>
        }
    });
    let faults = faults
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| view! { <li>{format!("{} {words}.", grouped(number))}</li> });
    view! {
        <section class="verdict" data-holds=holds.to_string() data-testid="verdict" aria-labelledby="verdict">
            <h3 id="verdict">"What the documents say"</h3>
            <dl class="storm-sums">{sums.collect_view()}</dl>
            {judgement.map(|judgement| view! { <p class=holds.then_some("holds")>{judgement}</p> })}
            <ul class="faults">{faults.collect_view()}</ul>
        </section>
    }
}
