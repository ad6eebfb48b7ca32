//! The byte map: each part of the document, and how far the whole is from MongoDB's limit.

use bson::{Document, RawDocumentBuf};
use leptos::prelude::*;
use model::RelationOverflow;
use store::inspect::{BytePart, InspectedOwner, Purpose};
use ui::components::{Headings, MAX_DOCUMENT_BYTES, grouped, size};

/// The size of a document; nothing for one that is too large to store.
pub fn of_document(document: &Document) -> Option<u64> {
    let raw = RawDocumentBuf::try_from(document).ok()?;
    Some(raw.as_bytes().len() as u64)
}

/// The size of a head that is full of items like those that it has.
fn full(list: &RelationOverflow) -> u64 {
    let when_full = (list.head_bytes * list.threshold).checked_div(list.head);
    when_full.unwrap_or(0).max(list.head_bytes)
}

/// The size of the document with all heads full.
fn all_full(whole: &InspectedOwner) -> u64 {
    let room: u64 = whole
        .lists
        .values()
        .map(|list| full(list) - list.head_bytes)
        .sum();
    whole.bytes.total() + room
}

/// The size of the document if it held all items of its lists, each like those in its head.
fn unbounded(whole: &InspectedOwner) -> u64 {
    let beside = |list: &RelationOverflow| {
        let whole = list.with_one_array();
        whole.map_or(0, |whole| whole.saturating_sub(list.owner_bytes))
    };
    whole.bytes.total() + whole.lists.values().map(beside).sum::<u64>()
}

/// The document as a bar, in which each head has the room that its threshold leaves, and as a table.
#[component]
pub fn Bytes(whole: InspectedOwner) -> impl IntoView {
    let (total, scale) = (whole.bytes.total(), all_full(&whole));
    let mut from = 0;
    let mut piece = |class: &'static str, bytes: u64| {
        let left = from;
        from += bytes;
        view! { <rect class=class x=left width=bytes height="1" /> }
    };
    let mut bar = Vec::new();
    for part in whole.bytes.parts() {
        bar.push(piece(class(&part.purpose), part.bytes));
        if let Purpose::Head(relation) = part.purpose
            && let Some(list) = whole.lists.get(&relation)
        {
            bar.push(piece("byte-room", full(list) - list.head_bytes));
        }
    }
    let rows = whole.bytes.parts().iter().map(|part| row(part, &whole, total));
    view! {
        <svg
            class="byte-bar"
            viewBox=format!("0 0 {scale} 1")
            preserveAspectRatio="none"
            role="img"
            aria-label=format!("{} of {} that it has when all heads are full", size(total), size(scale))
        >
            {bar}
        </svg>
        <p class="byte-ends">
            <span>{format!("{} now", size(total))}</span>
            <span>{format!("with the free room of the heads: about {}", size(scale))}</span>
        </p>
        <div class="stored-table" tabindex="0" role="group" aria-label="The parts of the document">
            <table class="bytes" data-testid="byte-map">
                <Headings columns=vec!["Part", "Bytes", "Share", "Items"] />
                <tbody>{rows.collect_view()}</tbody>
                <tfoot>
                    <tr data-testid="bson-size" data-bytes=total.to_string()>
                        <th scope="row">"Together, " <code>"$bsonSize"</code></th>
                        <td>{grouped(total)}</td>
                        <td>"100 %"</td>
                        <td></td>
                    </tr>
                </tfoot>
            </table>
        </div>
    }
}

fn row(part: &BytePart, whole: &InspectedOwner, total: u64) -> impl IntoView + use<> {
    let (name, rest) = match &part.purpose {
        Purpose::Frame => (None, "the document’s length and end"),
        Purpose::Field(name) if !whole.document.contains_key(name) => {
            (Some(name.clone()), ", which is never shown")
        }
        Purpose::Field(name) => (Some(name.clone()), ""),
        Purpose::Head(relation) => (Some(format!("{relation}.head")), ""),
        Purpose::Rest(relation) => (Some(relation.to_string()), ", its other fields"),
    };
    let items = match &part.purpose {
        Purpose::Head(relation) => whole
            .lists
            .get(relation)
            .map(|list| format!("{} of {}", grouped(list.head), grouped(list.threshold))),
        _ => None,
    };
    view! {
        <tr data-bytes=part.bytes.to_string()>
            <th scope="row">
                <span class=format!("swatch {}", class(&part.purpose)) aria-hidden="true"></span>
                {name.map(|name| view! { <code>{name}</code> })}
                {rest}
            </th>
            <td>{grouped(part.bytes)}</td>
            <td>{share(part.bytes, total)}</td>
            <td>{items}</td>
        </tr>
    }
}

fn class(purpose: &Purpose) -> &'static str {
    match purpose {
        Purpose::Head(_) => "byte-head",
        Purpose::Rest(_) => "byte-rest",
        Purpose::Field(_) | Purpose::Frame => "byte-field",
    }
}

fn share(bytes: u64, total: u64) -> String {
    let tenths = (bytes * 1000 + total / 2) / total.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The width of a bar, in thousandths of the limit. A small document is still seen.
fn place(bytes: u64) -> u64 {
    let thousandths = bytes.min(MAX_DOCUMENT_BYTES) * 1000 / MAX_DOCUMENT_BYTES;
    thousandths.max(2)
}

/// The document now, with full heads, and as it would be without pages, as parts of MongoDB's limit.
#[component]
pub fn Wall(whole: InspectedOwner) -> impl IntoView {
    let (total, unbounded) = (whole.bytes.total(), unbounded(&whole));
    let rows = [
        (
            "The document now",
            total,
            "byte-head",
            format!(
                "{} of it would fit below the limit",
                grouped(MAX_DOCUMENT_BYTES / total.max(1))
            ),
        ),
        (
            "With all heads full",
            all_full(&whole),
            "byte-rest",
            "it does not grow beyond this, however many items are added".to_owned(),
        ),
        ("With all items in it", unbounded, "byte-much", growth(unbounded)),
        (
            "The wall",
            MAX_DOCUMENT_BYTES,
            "byte-wall",
            "MongoDB refuses anything larger".to_owned(),
        ),
    ];
    let rows = rows.into_iter().map(|(what, bytes, class, more)| {
        let about = if class == "byte-rest" || class == "byte-much" {
            "about "
        } else {
            ""
        };
        view! {
            <div>
                <dt>{what}</dt>
                <dd>
                    <svg class="scale" viewBox="0 0 1000 1" preserveAspectRatio="none" aria-hidden="true">
                        <rect class=class width=place(bytes) height="1" />
                        <path class="scale-lines" d="M250 0v1M500 0v1M750 0v1" />
                    </svg>
                    <b>{format!("{about}{}", size(bytes))}</b>
                    {format!(" · {more}")}
                </dd>
            </div>
        }
    });
    view! {
        <dl class="wall">{rows.collect_view()}</dl>
        <p class="lab-source">
            "Each bar is a part of MongoDB's 16 MB; the lines are at 4, 8 and 12 MB. The size of one array is estimated from the items in the heads."
        </p>
    }
}

/// The consequences of keeping all items in one document.
fn growth(unbounded: u64) -> String {
    if unbounded >= MAX_DOCUMENT_BYTES {
        return "it could not be stored".to_owned();
    }
    format!(
        "one array for each list, rewritten by every append; {} % of the limit",
        unbounded * 100 / MAX_DOCUMENT_BYTES
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_part_of_the_limit() {
        let places = [0, 16 << 10, 1 << 20, 4 << 20, 16 << 20, u64::MAX].map(place);
        assert_eq!(places, [2, 2, 62, 250, 1000, 1000]);
    }

    #[test]
    fn a_head_without_items_has_no_mean_size() {
        let list = RelationOverflow {
            count: 0,
            head: 0,
            threshold: 160,
            pages: 0,
            page_size: 128,
            has_overflow: false,
            head_bytes: 5,
            owner_bytes: 400,
            unread: None,
        };
        assert_eq!(full(&list), 5);
        let some = RelationOverflow {
            head: 2,
            head_bytes: 130,
            ..list
        };
        assert_eq!(full(&some), 160 * 65);
    }
}
