use leptos::prelude::*;
use model::{Overflow, RelationOverflow, Topic};
use store::inspect::Documents;
use ui::components::{Headings, MAX_DOCUMENT_BYTES, ShownDocument, grouped, share_of_limit, size, unchanged};

use crate::pages::Wing;

/// How an owner is stored: its lists in numbers, and its documents as a shell would show them.
#[component]
pub fn Stored(
    /// The post or the person.
    of: Topic,
    /// How its lists are stored.
    overflow: Overflow,
    /// The owner and the newest page of each list.
    documents: Documents,
) -> impl IntoView {
    let owner_bytes = overflow.values().map(|list| list.owner_bytes).max().unwrap_or(0);
    let rows = overflow.into_iter().map(|(relation, list)| {
        let RelationOverflow {
            count,
            head,
            threshold,
            pages,
            page_size,
            head_bytes,
            ..
        } = list;
        view! {
            <tr>
                <th scope="row">{relation.to_string()}</th>
                <td>{grouped(count)}</td>
                <td>{format!("{} of {}", grouped(head), grouped(threshold))}</td>
                <td>{size(head_bytes)}</td>
                <td>{grouped(pages)}</td>
                <td>{grouped(page_size)}</td>
            </tr>
        }
    });
    let Documents { owner, pages } = documents;
    view! {
        <div class="stored">
            <p class="stored-sum">
                "The document itself is " <b>{size(owner_bytes)}</b>
                {format!(", {} of the {} that MongoDB allows.", share_of_limit(owner_bytes), size(MAX_DOCUMENT_BYTES))}
            </p>
            <div class="stored-table" tabindex="0" role="group" aria-label="The lists in numbers">
                <table>
                    <Headings columns=vec!["List", "Items", "In the head", "Head", "Pages", "Items a page"] />
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
            {Wing::is_open()
                .then(|| {
                    view! {
                        <p class="stored-more">
                            <a href=format!("/lab/inspect/{of}")>"Inspect every byte and every page"</a>
                        </p>
                    }
                })}
            <ShownDocument what="The document".to_owned() branch=unchanged(&owner) />
            {pages
                .into_iter()
                .map(|page| {
                    let relation = page.get_str("relation").unwrap_or_default();
                    let what = format!("The newest page document of {relation}");
                    view! { <ShownDocument what branch=unchanged(&page) /> }
                })
                .collect_view()}
        </div>
    }
}
