//! The list in the sandbox: its documents, and whether they cost what the rules predict.

use crate::report::{Progress, TunedCost, TunedList};
use crate::tune::{Documents, Figures, TunedState, Tuning};
use chart::numbers::bytes;
use leptos::prelude::*;
use model::Relation;
use store::Limits;
use ui::components::{ShownDocument, grouped, size, unchanged};
use ui::request::query;

use crate::pages::figures::{Figures as FiguresTable, Table};
use crate::pages::inspect::bytes::{Bytes, of_document};
use crate::pages::inspect::chain::Chain;

/// How often an open page fetches its contents again while a list is laid out, in milliseconds.
const LIVE: u32 = 500;

/// The list so far.
#[component]
pub(super) fn TunedListView(
    shown: TunedState,
    /// The address that the number of a page is added to.
    at: String,
) -> impl IntoView {
    let TunedState { list, documents } = shown;
    let running = list.progress == Progress::Running;
    let phase = format!("{:?}", list.progress).to_lowercase();
    let line = line(&list);
    let bar = running.then(|| {
        let most = list.items.min(list.page_size).min(list.threshold);
        view! {
            <progress data-again=LIVE max=most value=list.appended aria-label="Appends so far"></progress>
            <p class="lab-controls">
                <a class="button button-quiet" id="look-again" href=at.clone()>
                    "Refresh"
                </a>
            </p>
        }
    });
    let cost = list.cost.map(|cost| view! { <Cost list=list.clone() cost /> });
    let documents = documents.map(|documents| view! { <Stored documents=(*documents).clone() at /> });
    view! {
        <section aria-labelledby="laid-out" data-testid="laid-out" data-phase=phase>
            <h2 id="laid-out" class="section-head">
                "The list in the sandbox"
            </h2>
            <p class="lab-source">
                {line} " The same as JSON: " <a href="/api/v1/lab/tune">"/api/v1/lab/tune"</a> "."
            </p>
            {bar}
            {cost}
            {documents}
        </section>
    }
}

/// Its relation and its progress, in a sentence each.
fn line(list: &TunedList) -> String {
    let TunedList {
        by,
        relation,
        threshold,
        page_size,
        item_bytes,
        ..
    } = list;
    let chosen = format!(
        "@{by} chose {} for {relation}: {} items in the head and {} in a page, of {} bytes each.",
        size(list.budget),
        grouped(*threshold),
        grouped(*page_size),
        grouped(*item_bytes),
    );
    let so_far = match list.progress {
        Progress::Running => "It is being created.",
        Progress::Failed => "It failed. The server’s log has the details.",
        Progress::Idle | Progress::Stopped | Progress::Finished => {
            "It was created in this store, in collections of its own, which are empty again."
        }
    };
    format!("{chosen} {so_far}")
}

/// The measurements, beside the predictions of the rules.
#[component]
fn Cost(list: TunedList, cost: TunedCost) -> impl IntoView {
    let rules = rules(&list);
    let exact = |bytes: u64| format!("{} bytes", grouped(bytes));
    let unknown = || "not counted by this engine".to_owned();
    let row = |name: &str, rule: String, measured: String| (name.to_owned(), vec![rule, measured]);
    let rows = vec![
        row(
            "The owner with a full head",
            exact(rules.owner_bytes),
            exact(cost.owner_bytes),
        ),
        row(
            "What the list takes of it",
            format!("at most {}", exact(list.budget)),
            exact(cost.list_bytes),
        ),
        row(
            "The largest page",
            exact(rules.page_bytes),
            exact(cost.page_bytes),
        ),
        row(
            "Written for one append, on average",
            bytes(rules.written),
            bytes(cost.written),
        ),
        row(
            "Documents read for the first screen, right after a spill",
            rules.first_page_documents.to_string(),
            cost.first_page_documents
                .map_or_else(unknown, |documents| documents.to_string()),
        ),
        row(
            "Bytes read for it",
            exact(rules.first_page_bytes),
            cost.first_page_bytes.map_or_else(unknown, exact),
        ),
        row(
            "Seams to the oldest item",
            rules.seams.to_string(),
            format!("{} in {} items", cost.seams, grouped(list.items)),
        ),
    ];
    let table = Table {
        first: "What it costs",
        headings: vec!["By the rules".to_owned(), "In the documents".to_owned()],
        rows,
    };
    let verdict = if cost.as_predicted {
        "The measurements equal the predictions to the last byte."
    } else {
        "The measurements differ from the predictions."
    };
    view! {
        <div class="figures" data-testid="tuned-cost">
            <FiguresTable label="What the list in the sandbox costs" table />
        </div>
        <p class="verdict" data-holds=cost.as_predicted.to_string() data-testid="verdict">
            {verdict}
        </p>
    }
}

/// The predictions of the layout's rules for a list like this.
fn rules(list: &TunedList) -> Figures {
    let limit = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limits = Limits {
        threshold: limit(list.threshold),
        page_size: limit(list.page_size),
    };
    Tuning::new(limits, list.item_bytes).predicted()
}

/// The documents, as in the inspector.
#[component]
fn Stored(documents: Documents, at: String) -> impl IntoView {
    let Documents { owner, pages } = documents;
    let chosen = query("page").and_then(|number| number.parse::<usize>().ok());
    let number = chosen
        .filter(|number| *number < pages.len())
        .unwrap_or(pages.len().saturating_sub(1));
    let items = |page: &bson::Document| page.get_array("items").map_or(0, Vec::len) as u64;
    let chain = pages.iter().map(items).collect();
    let list = owner.lists.get(&Relation::Likes).cloned();
    let page = u32::try_from(number).ok();
    let shown_page = pages.get(number).map(|document| {
        let note = of_document(document).map(size).unwrap_or_default();
        view! { <ShownDocument what=format!("db.pages, page {number}") note branch=unchanged(document) /> }
    });
    let note = size(owner.bytes.total());
    view! {
        {list.map(|list| view! { <Chain at list chain page /> })}
        <div class="writers">
            <section aria-labelledby="bytes">
                <h3 id="bytes" class="section-head">
                    "Where the bytes are"
                </h3>
                <Bytes whole=owner.clone() />
            </section>
            <section aria-labelledby="documents">
                <h3 id="documents" class="section-head">
                    "The documents"
                </h3>
                <ShownDocument what="db.posts".to_owned() note branch=unchanged(&owner.document) />
                {shown_page}
            </section>
        </div>
    }
}
