use std::collections::HashMap;

use leptos::prelude::*;
use model::{Activity, Comment, Listing, Member, PostCard};

use super::Seam;
use crate::islands::ReadOn;

/// Something that a list holds.
pub trait Entry {
    /// What a test finds it by.
    const TEST_ID: Option<&'static str>;
    /// What its place in the page begins with, for a link to it.
    const ANCHOR: &'static str;

    /// What identifies it in its list; a [`model::Seam`] names the item that it follows by this.
    fn key(&self) -> String;
}

macro_rules! entry {
    ($type:ty, $anchor:literal, $test_id:expr, $key:expr) => {
        impl Entry for $type {
            const TEST_ID: Option<&'static str> = $test_id;
            const ANCHOR: &'static str = $anchor;

            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }
        }
    };
}

entry!(PostCard, "post", Some("post"), |card| card.post.id.to_string());
entry!(Member, "member", None, |member| member.id.to_string());
entry!(Comment, "comment", Some("comment"), |comment| comment
    .id
    .to_string());
entry!(Activity, "activity", None, |activity| activity.id.to_string());

/// A stretch of a list: its items with the seams between them, and where it goes on.
#[component]
pub fn List<T, Row, Shown>(
    /// The stretch.
    listing: Listing<T>,
    /// How many items come before it.
    before: u64,
    /// What the list is, for who cannot see it.
    label: &'static str,
    /// What to say when there is nothing in it.
    empty: &'static str,
    /// Shows one item.
    row: Row,
    /// Where new items are written, if they are.
    #[prop(optional_no_strip)]
    form: Option<AnyView>,
) -> impl IntoView
where
    T: Entry + Send + 'static,
    Row: Fn(T) -> Shown + Send + 'static,
    Shown: IntoView + 'static,
{
    let Listing {
        items,
        next,
        seams,
        total,
    } = listing;
    let read = before + items.len() as u64;
    let next = next.map(|cursor| format!("?cursor={cursor}&from={read}"));
    let set_size = if total >= read && total > 0 {
        total.to_string()
    } else {
        "-1".to_owned()
    };

    let mut seams: HashMap<String, model::Seam> =
        seams.into_iter().map(|seam| (seam.after.clone(), seam)).collect();
    let after: Vec<_> = items.iter().map(|item| seams.remove(&item.key())).collect();
    // A seam after the last item of the stretch before this one comes first.
    let first = seams
        .into_values()
        .map(|seam| view! { <Seam seam /> })
        .collect_view();
    let is_empty = items.is_empty() && before == 0;
    let items = items
        .into_iter()
        .zip(after)
        .zip(before + 1..)
        .map(|((item, after), position)| {
            let key = item.key();
            view! {
                <article
                    id=format!("{}-{key}", T::ANCHOR)
                    class="entry"
                    data-testid=T::TEST_ID
                    data-id=key
                    aria-posinset=position
                    aria-setsize=set_size.clone()
                    tabindex="-1"
                >
                    {row(item)}
                </article>
                {after.map(|seam| view! { <Seam seam /> })}
            }
        })
        .collect_view();

    view! {
        <div class="list">
            {form}
            <div class="feed" role="feed" aria-label=label data-testid="feed">
                {first}
                {items}
            </div>
            {is_empty.then(|| view! { <p class="empty">{empty}</p> })}
            {(!is_empty)
                .then(|| {
                    view! {
                        <ReadOn>
                            <ListEnd next />
                        </ReadOn>
                    }
                })}
        </div>
    }
}

/// Where a list goes on, or that it does not.
#[component]
fn ListEnd(next: Option<String>) -> impl IntoView {
    match next {
        None => view! { <p class="feed-end" data-testid="feed-end">"That is all of it."</p> }.into_any(),
        Some(href) => view! {
            <p class="feed-failed" role="alert">
                "Spillway does not answer. What you have read stays."
            </p>
            <a class="button load-more" data-testid="load-more" href=href>
                "Show more"
            </a>
        }
        .into_any(),
    }
}
