//! Shows where every byte of an owner is: its document, the map of its bytes, and the chain of its pages.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

pub(super) mod bytes;
pub(super) mod chain;
mod find;

use feed::Inspection;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::{Kind, Problem, RelationOverflow, Topic};
use ui::components::{ShownDocument, grouped, size, unchanged};
use ui::islands::Pane;
use ui::problem::answer_with;
use ui::request::{feed, loaded, query};
use ui::session;

pub(super) use self::bytes::of_document as bytes_of;
use self::bytes::{Bytes, Wall};
use self::chain::Chain;
use self::find::{Finder, Suggestions, sought};
use super::controls::{Tab, Tabs};
use super::owner::{self, about, address, list_of};
use super::stations::{INSPECT, StationHead};
use super::words;

/// The station's first page: choosing an owner.
#[component]
pub fn InspectStartPage() -> impl IntoView {
    loaded(async {
        let typed = query("find").unwrap_or_default();
        let problem = if typed.is_empty() {
            None
        } else {
            match found(&typed).await {
                Ok(owner) => {
                    leptos_axum::redirect(&address(&owner));
                    None
                }
                Err(problem) => Some(problem),
            }
        };
        if let Some(problem) = &problem {
            answer_with(problem.kind);
        }
        let notable = feed()?.posts().notable().await?;
        Ok(view! {
            <StationHead station=&INSPECT />
            <div class="lab-choice">
                <p class="lab-source">
                    "The newest likes of a post are in its own document: the head, the first box. When the head is full, its oldest likes move into another document: a page. Open one, and see every byte of its documents."
                </p>
                <Suggestions notable />
                <Finder typed problem />
            </div>
        })
    })
}

/// The owner that somebody typed, if there is one.
async fn found(typed: &str) -> Result<Topic, Problem> {
    let owner = sought(typed)?;
    let account = session::viewer();
    about(&owner, account.as_ref().map(|account| &account.handle)).await?;
    Ok(owner)
}

/// An owner's documents and bytes.
#[component]
pub fn InspectPage() -> impl IntoView {
    loaded(async {
        let owner = use_params_map()
            .with_untracked(|params| params.get("owner"))
            .unwrap_or_default();
        let owner: Topic = owner.parse().map_err(|_| {
            let message = "An address here ends in post:{id} or user:{handle}. Begin at /lab/inspect.";
            Problem::new(Kind::NotFound, message)
        })?;
        let account = session::viewer();
        let reader = account.as_ref().map(|account| &account.handle);
        let relation = match query("list") {
            Some(name) => Some(list_of(&owner, reader, &name)?),
            None => None,
        };
        let page = match query("page") {
            Some(number) => Some(number.parse().map_err(|_| {
                Problem::invalid("page", format!("`page` is a page’s number, not “{number}”."))
            })?),
            None => None,
        };
        let about = about(&owner, reader).await?;
        let feed = feed()?;
        let inspection = feed.storage(reader).inspect(&owner, relation, page).await?;
        Ok(view! {
            <StationHead station=&INSPECT />
            <p class="lab-subject">
                <a href=about.href>{about.words}</a>
                <span>
                    <a class="button" href=format!("/lab/trace?owner={owner}")>
                        "What reading costs"
                    </a>
                    " "
                    <a class="button" href=owner::INSPECT>
                        "Inspect another"
                    </a>
                </span>
            </p>
            <Pane>
                <Stage owner inspection />
            </Pane>
        })
    })
}

#[component]
fn Stage(owner: Topic, inspection: Inspection) -> impl IntoView {
    let said = announcement(&inspection);
    let Inspection {
        whole,
        relation,
        list,
        chain,
        page,
        document,
    } = inspection;
    let tabs = whole.lists.iter().map(|(other, list)| Tab {
        id: format!("list-{other}"),
        href: format!("?list={other}"),
        current: *other == relation,
        text: format!("{} {}", words::capital(other.as_str()), grouped(list.count)),
    });
    let collection = match owner {
        Topic::Post(_) => "db.posts",
        Topic::User(_) => "db.users",
    };
    let shown_page = page.map(|number| {
        if let Some(document) = document {
            let what = format!("db.pages, page {number} of {relation}");
            let note = bytes::of_document(&document).map(size).unwrap_or_default();
            view! { <ShownDocument what note branch=unchanged(&document) /> }.into_any()
        } else {
            let gone = format!("Page {number} of {relation} is empty by now: all of its items were removed.");
            view! { <p class="lab-source">{gone}</p> }.into_any()
        }
    });
    let note = size(whole.bytes.total());
    view! {
        <Tabs label="Which list" tabs=tabs.collect() said topic=owner.to_string() />
        <p class="verdict" data-testid="conclusion">
            {verdict(&list)}
        </p>
        <Chain at=format!("?list={relation}") list chain page />
        <div class="writers">
            <section aria-labelledby="bytes">
                <h2 id="bytes" class="section-head">
                    "Where the bytes are"
                </h2>
                <Bytes whole=whole.clone() />
            </section>
            <section aria-labelledby="documents">
                <h2 id="documents" class="section-head">
                    "The documents"
                </h2>
                <ShownDocument what=collection.to_owned() note branch=unchanged(&whole.document) />
                {shown_page}
            </section>
        </div>
        <section aria-labelledby="wall">
            <h2 id="wall" class="section-head">
                "How far it is to the 16 MB limit"
            </h2>
            <Wall whole />
        </section>
    }
}

/// What the documents of a list show, in a sentence or two.
fn verdict(list: &RelationOverflow) -> String {
    let (items, now) = (words::items(list.count), size(list.owner_bytes));
    if list.pages == 0 {
        return format!("The list has {items}, all in the owner’s document, which has {now}.");
    }
    let (head, pages) = (grouped(list.head), words::pages(list.pages));
    let mut verdict = format!(
        "The list has {items}. The newest {head} are in its owner’s document, which is only {now} large; the others are in {pages}."
    );
    if let Some(unbounded) = list.with_one_array() {
        let array = format!(
            " One array would have about {}, rewritten by every append.",
            size(unbounded)
        );
        verdict.push_str(&array);
    }
    verdict
}

/// The text for screen readers after a choice.
fn announcement(inspection: &Inspection) -> String {
    let Inspection {
        relation,
        list,
        page,
        document,
        ..
    } = inspection;
    let (relation, items) = (words::capital(relation.as_str()), words::items(list.count));
    let in_head = format!(
        "{} of {} in the head",
        grouped(list.head),
        grouped(list.threshold)
    );
    let Some(page) = page else {
        return format!("{relation}: {items}, {in_head}, no page.");
    };
    let in_page = document
        .as_ref()
        .and_then(|page| page.get_array("items").ok())
        .map_or(0, Vec::len);
    let (pages, in_page) = (words::pages(list.pages), words::items(in_page as u64));
    format!("{relation}: {items}, {in_head}, {pages}. Page {page} has {in_page}.")
}
