use bson::Document;
use leptos::prelude::*;

use super::code::Code;
use super::grouped;
use super::tree::{Branch, Mark, Part, changed, compared, tree};

/// A document in Extended JSON. It can be folded, and so can each array and document in it; changes since the last
/// look are marked. Text copied from it is JSON: the style sheet keeps counts, notes and removed parts out of
/// selections.
#[component]
pub fn ShownDocument(
    /// The document's name.
    what: String,
    /// More about it, such as its size.
    #[prop(optional, into)]
    note: Option<String>,
    /// The document with its changes.
    branch: Branch,
) -> impl IntoView {
    let news = match branch.mark {
        Mark::New => Some("new"),
        Mark::Gone => Some("gone"),
        Mark::Same => changed(&branch).then_some("changed"),
    };
    let Branch {
        mark,
        opening,
        parts: inside,
        closing,
        ..
    } = branch;
    view! {
        <details class="document" open data-news=news>
            <summary>
                <span class="document-what">{what.clone()}</span>
                {note.map(|note| view! { <span class="document-note">{note}</span> })}
                {news.map(|news| view! { <span class="document-news">{news}</span> })}
            </summary>
            <div class="document-body" tabindex="0" role="group" aria-label=what>
                {line(mark, view! { <code>{opening}</code> }.into_any())}
                <div class="branch-parts">{parts(inside)}</div>
                {line(mark, view! { <code>{closing}</code> }.into_any())}
            </div>
        </details>
    }
}

/// A document as it is.
pub fn unchanged(document: &Document) -> Branch {
    tree(document, Mark::Same)
}

/// A document compared with its earlier version: either may be missing.
pub fn beside(before: Option<&Document>, after: Option<&Document>) -> Option<Branch> {
    match (before, after) {
        (Some(before), Some(after)) => Some(compared(before, after)),
        (None, Some(after)) => Some(tree(after, Mark::New)),
        (Some(before), None) => Some(tree(before, Mark::Gone)),
        (None, None) => None,
    }
}

fn parts(parts: Vec<Part>) -> AnyView {
    parts.into_iter().map(part).collect_view().into_any()
}

fn part(part: Part) -> AnyView {
    match part {
        Part::Line(mark, text) => line(mark, view! { <Code text /> }.into_any()),
        Part::Rest(mark, more) => {
            let more = format!("… {} more", grouped(more as u64));
            line(mark, view! { <span class="code-rest">{more}</span> }.into_any())
        }
        Part::Branch(Branch {
            mark,
            opening,
            items,
            parts: inside,
            closing,
        }) => {
            let items = items.map(|items| match items {
                1 => "1 item".to_owned(),
                items => format!("{} items", grouped(items as u64)),
            });
            let end = line(mark, view! { <code>{closing}</code> }.into_any());
            view! {
                <details class="branch" open>
                    <summary>
                        {line(mark, view! { <Code text=opening /> }.into_any())}
                        {items.map(|items| view! { <span class="branch-items">{items}</span> })}
                    </summary>
                    <div class="branch-parts">{parts(inside)}</div>
                </details>
                {end}
            }
            .into_any()
        }
    }
}

/// A line with its mark: an insertion, a deletion, or neither.
fn line(mark: Mark, text: AnyView) -> AnyView {
    match mark {
        Mark::Same => view! { <span class="line">{text}</span> }.into_any(),
        Mark::New => view! { <ins class="line">{text}</ins> }.into_any(),
        Mark::Gone => view! { <del class="line">{text}</del> }.into_any(),
    }
}
