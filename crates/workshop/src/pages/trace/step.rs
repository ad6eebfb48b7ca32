//! One step through a list: what it read, and what it showed.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

use document::trace::Read;
use leptos::prelude::*;
use model::RelationOverflow;
use store::overflow::{PAGES, Stretch};
use ui::components::{grouped, size};

use super::super::bars::{Bar, Bars, most};
use super::super::sheets::Sheet;
use super::super::words;
use crate::Traced;

/// How many of the documents that a step reads are drawn.
const DRAWN: usize = 8;

/// The cost of a step.
pub(super) struct Cost {
    pub(super) commands: usize,
    pub(super) documents: u64,
    pub(super) pages: u64,
    pub(super) bytes: u64,
    /// Nothing where a server does not report it.
    pub(super) entries: Option<u64>,
}

impl Cost {
    pub(super) fn of(reads: &[Read]) -> Self {
        let of_pages = reads.iter().filter(|read| read.collection == PAGES);
        Self {
            commands: reads.len(),
            documents: reads.iter().map(|read| read.documents).sum(),
            pages: of_pages.map(|read| read.documents).sum(),
            bytes: reads.iter().map(|read| read.bytes).sum(),
            entries: reads.iter().map(|read| read.entries).sum(),
        }
    }
}

/// What the last step read, drawn: each document of each command, and the bytes beside those of one array.
#[component]
pub(super) fn LastStep(
    last: Traced,
    /// How its list is stored.
    whole: RelationOverflow,
    /// The bytes of one array with all of them.
    unbounded: u64,
) -> impl IntoView {
    let cost = Cost::of(&last.reads);
    let shown = last.found.as_ref().map_or(0, |found| found.items.len() as u64);
    let bars = vec![
        Bar {
            name: "Head and pages",
            documents: cost.documents,
            bytes: cost.bytes,
        },
        Bar {
            name: "One array",
            documents: 1,
            bytes: unbounded,
        },
    ];
    let documents = last.reads.iter().flat_map(|read| {
        let name = if read.collection == PAGES { "page" } else { "head" };
        let each = usize::try_from(read.documents).unwrap_or(DRAWN);
        std::iter::repeat_n(name, each)
    });
    let drawn = documents.take(DRAWN).map(|name| {
        let (items, most) = if name == "head" {
            (whole.head, whole.threshold)
        } else {
            (whole.page_size, whole.page_size)
        };
        view! {
            <li class="sheet-head">
                <Sheet items most class="meter-water" />
                <span>{name}</span>
            </li>
        }
    });
    let more = cost.documents.checked_sub(DRAWN as u64).filter(|more| *more > 0);
    let more =
        more.map(|more| view! { <li class="sheets-between">{format!("and {} more", grouped(more))}</li> });
    let again = (cost.pages > 0).then(|| {
        view! {
            <p class="lab-source">
                "The head’s document is read once more after the pages: if an item was removed meanwhile, all of it is read again."
            </p>
        }
    });
    view! {
        <p class="verdict" data-testid="conclusion">
            {format!(
                "To show {} of {}, this step read {} and {}. With one array it would have read {}.",
                words::items(shown),
                grouped(whole.count),
                words::documents(cost.documents),
                size(cost.bytes),
                size(unbounded),
            )}
        </p>
        <section class="read" data-testid="read" aria-labelledby="read">
            <h2 id="read" class="section-head">
                "The documents that this step read, in order"
            </h2>
            <ol class="sheets">{drawn.collect_view()} {more}</ol>
            <Bars title="In bytes" most=most(bars.iter()) bars />
            {again}
        </section>
    }
}

/// The commands of one step.
#[component]
pub(super) fn Commands(reads: Vec<Read>) -> impl IntoView {
    let commands = reads.into_iter().map(|read| {
        let documents = words::documents(read.documents);
        let keys = read.entries.map(|entries| match entries {
            1 => ", 1 key".to_owned(),
            entries => format!(", {} keys", grouped(entries)),
        });
        view! {
            <li>
                <code>{format!("db.{}", read.collection)}</code>
                {format!(": {documents}, {}", size(read.bytes))}
                {keys}
            </li>
        }
    });
    view! {
        <section class="writer" aria-labelledby="commands">
            <h2 id="commands">"The last step, command by command"</h2>
            <ol>{commands.collect_view()}</ol>
        </section>
    }
}

/// The items that a step showed.
#[component]
pub(super) fn Shown(found: Stretch) -> impl IntoView {
    let who = found
        .items
        .iter()
        .filter_map(|item| item.by.as_ref())
        .map(ToString::to_string);
    let who: Vec<String> = who.collect();
    let ends = match who.as_slice() {
        [] => None,
        [only] => Some(format!("By {only}.")),
        [first, .., last] => Some(format!("From {first} to {last}.")),
    };
    let seams = found
        .seams
        .iter()
        .map(|seam| view! { <li>{format!("It crosses into page {}.", seam.page)}</li> });
    view! {
        <section class="writer" aria-labelledby="shown">
            <h2 id="shown">"What it showed"</h2>
            <p>{words::items(found.items.len() as u64)} ". " {ends}</p>
            <ul>{seams.collect_view()}</ul>
        </section>
    }
}
