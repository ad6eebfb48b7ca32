use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use model::{Activity, Comment, Listing, Member, PostCard};

use super::Seam;
use crate::refusal::Refused;

/// Something that a list holds.
pub trait Entry: Clone + Send + Sync + 'static {
    /// What identifies it in its list; a [`model::Seam`] names the item that it follows by this.
    fn key(&self) -> String;

    /// What identifies it in the page, for a link to it.
    fn anchor(&self) -> String;

    /// What a test finds it by.
    const TEST_ID: Option<&'static str>;
}

macro_rules! entry {
    ($type:ty, $key:expr, $anchor:literal, $test_id:expr) => {
        impl Entry for $type {
            const TEST_ID: Option<&'static str> = $test_id;

            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }

            fn anchor(&self) -> String {
                format!(concat!($anchor, "-{}"), self.key())
            }
        }
    };
}

entry!(PostCard, |card| card.post.id.to_string(), "post", Some("post"));
entry!(Member, |member| member.id.to_string(), "member", None);
entry!(
    Comment,
    |comment| comment.id.to_string(),
    "comment",
    Some("comment")
);
entry!(Activity, |activity| activity.id.to_string(), "activity", None);

/// A list as far as it has been read, in the stretches in which it came. A stretch never changes once it is there,
/// so reading on costs the same however long the list has become.
pub struct Stretches<T> {
    parts: RwSignal<Vec<Arc<Stretch<T>>>>,
    next: RwSignal<Option<String>>,
    read: RwSignal<u64>,
    total: RwSignal<u64>,
    step: RwSignal<Step>,
}

impl<T> Clone for Stretches<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stretches<T> {}

struct Stretch<T> {
    number: i64,
    before: u64,
    listing: Listing<T>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Resting,
    Reading,
    Failed(String),
}

impl<T: Entry> Stretches<T> {
    /// A list that begins with this stretch, before which there are `before` items that are not shown.
    pub fn new(first: Listing<T>, before: u64) -> Self {
        let list = Self {
            parts: RwSignal::new(Vec::new()),
            next: RwSignal::new(None),
            read: RwSignal::new(before),
            total: RwSignal::new(0),
            step: RwSignal::new(Step::Resting),
        };
        list.append(first);
        list
    }

    /// Puts something new in front.
    pub fn prepend(self, item: T) {
        let listing = Listing {
            items: vec![item],
            next: None,
            seams: Vec::new(),
            total: 0,
        };
        self.total.update(|total| *total += u64::from(*total > 0));
        self.parts.update(|stretches| {
            let number = stretches.first().map_or(0, |first| first.number) - 1;
            stretches.insert(
                0,
                Arc::new(Stretch {
                    number,
                    before: 0,
                    listing,
                }),
            );
        });
    }

    fn append(self, listing: Listing<T>) {
        let before = self.read.get_untracked();
        self.read.set(before + listing.items.len() as u64);
        self.next.set(listing.next.clone());
        self.total.set(listing.total);
        self.parts.update(|stretches| {
            let number = stretches.last().map_or(0, |last| last.number + 1);
            stretches.push(Arc::new(Stretch {
                number,
                before,
                listing,
            }));
        });
    }

    fn read_on<Load, Loaded>(self, load: Load)
    where
        Load: FnOnce(String) -> Loaded,
        Loaded: Future<Output = Result<Listing<T>, Refused>> + 'static,
    {
        let Some(next) = self.next.get_untracked() else {
            return;
        };
        if self.step.get_untracked() == Step::Reading {
            return;
        }
        self.step.set(Step::Reading);
        let loading = load(next);
        spawn_local(async move {
            match loading.await {
                Ok(listing) => {
                    self.append(listing);
                    self.step.set(Step::Resting);
                }
                Err(Refused(problem)) => self.step.set(Step::Failed(problem.message)),
            }
        });
    }

    fn is_empty(self) -> bool {
        self.parts
            .with(|stretches| stretches.iter().all(|stretch| stretch.listing.items.is_empty()))
    }

    fn set_size(self) -> String {
        let (total, read) = (self.total.get(), self.read.get());
        if total >= read && total > 0 {
            total.to_string()
        } else {
            "-1".to_owned()
        }
    }
}

/// A list that goes on as the reader scrolls. Without JavaScript it goes on at a link.
#[component]
pub fn Scroll<T, Load, Loaded, Row, Shown>(
    /// What the list holds so far.
    list: Stretches<T>,
    /// What the list is, for who cannot see it.
    label: &'static str,
    /// What to say when there is nothing in it.
    empty: &'static str,
    /// Reads on after a cursor.
    load: Load,
    /// Shows one item.
    row: Row,
) -> impl IntoView
where
    T: Entry,
    Load: Fn(String) -> Loaded + Copy + Send + Sync + 'static,
    Loaded: Future<Output = Result<Listing<T>, Refused>> + 'static,
    Row: Fn(T) -> Shown + Copy + Send + Sync + 'static,
    Shown: IntoView + 'static,
{
    let more = NodeRef::<Div>::new();
    let read_on = move || list.read_on(load);
    read_on_when_near(more, list, read_on);

    let stretch = move |stretch: Arc<Stretch<T>>| view_stretch(&stretch, list, row);
    view! {
        <div
            class="feed"
            role="feed"
            aria-label=label
            aria-busy=move || (list.step.get() == Step::Reading).to_string()
            data-testid="feed"
        >
            <For each=move || list.parts.get() key=|stretch| stretch.number children=stretch />
        </div>
        <Show when=move || list.is_empty()>
            <p class="empty">{empty}</p>
        </Show>
        <div class="feed-more" node_ref=more>
            {move || match (list.next.get(), list.step.get()) {
                (None, _) if list.is_empty() => ().into_any(),
                (None, _) => view! { <p class="feed-end" data-testid="feed-end">"That is all of it."</p> }.into_any(),
                (Some(_), Step::Failed(message)) => view! { <Retry message again=read_on /> }.into_any(),
                (Some(next), step) => {
                    view! { <More next before=list.read.get() reading=step == Step::Reading read_on /> }.into_any()
                }
            }}
        </div>
    }
}

/// The link to the rest, which an island follows by itself.
#[component]
fn More<F: Fn() + Copy + 'static>(next: String, before: u64, reading: bool, read_on: F) -> impl IntoView {
    let take_over = move |click: MouseEvent| {
        click.prevent_default();
        read_on();
    };
    view! {
        <a
            class="button load-more"
            data-testid="load-more"
            href=format!("?cursor={next}&from={before}")
            on:click=take_over
        >
            {if reading { "Reading on…" } else { "Show more" }}
        </a>
    }
}

#[component]
fn Retry<F: Fn() + Copy + 'static>(message: String, again: F) -> impl IntoView {
    view! {
        <p class="feed-failed" role="alert">
            {message}
        </p>
        <button class="button" on:click=move |_| again()>
            "Try again"
        </button>
    }
}

fn view_stretch<T, Row, Shown>(
    stretch: &Stretch<T>,
    list: Stretches<T>,
    row: Row,
) -> impl IntoView + use<T, Row, Shown>
where
    T: Entry,
    Row: Fn(T) -> Shown,
    Shown: IntoView + 'static,
{
    let items = &stretch.listing.items;
    let mut seams: HashMap<_, _> = stretch
        .listing
        .seams
        .iter()
        .map(|seam| (seam.after.clone(), seam))
        .collect();
    let after: Vec<_> = items.iter().map(|item| seams.remove(&item.key())).collect();
    // A seam after an item of the previous stretch comes before the first one of this.
    let mut first: Vec<_> = seams.into_values().collect();
    first.sort_by_key(|seam| seam.page);

    let seam = |seam: &model::Seam| view! { <Seam seam=seam.clone() /> };
    let first = first.into_iter().map(seam).collect_view();
    let rest = items
        .iter()
        .zip(after)
        .zip(stretch.before + 1..)
        .map(|((item, after), position)| {
            view! {
                <article
                    id=item.anchor()
                    class="entry"
                    data-testid=T::TEST_ID
                    data-id=item.key()
                    aria-posinset=position
                    aria-setsize=move || list.set_size()
                    tabindex="-1"
                >
                    {row(item.clone())}
                </article>
                {after.map(seam)}
            }
        })
        .collect_view();
    (first, rest)
}

/// Reads on each time the end of the list comes near the visible part of the page.
fn read_on_when_near<T: Entry>(more: NodeRef<Div>, list: Stretches<T>, read_on: impl Fn() + 'static) {
    #[cfg(target_arch = "wasm32")]
    {
        use crate::browser::Nearness;

        let nearness = StoredValue::new_local(Nearness::watch(move || {
            // After a failure the reader decides when to try again.
            if list.step.get_untracked() == Step::Resting {
                read_on();
            }
        }));
        Effect::new(move || {
            let resting = list.step.get() == Step::Resting && list.next.with(Option::is_some);
            if let (true, Some(element)) = (resting, more.get()) {
                nearness.with_value(|nearness| {
                    if let Some(nearness) = nearness {
                        nearness.of(&element);
                    }
                });
            }
        });
    }
    #[cfg(not(target_arch = "wasm32"))]
    let _: (NodeRef<Div>, Stretches<T>, _) = (more, list, read_on);
}
