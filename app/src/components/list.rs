use std::collections::HashMap;

use feed::ActivityEntry;
use leptos::prelude::*;
use model::{Comment, FoundPerson, Items, Listing, Member, Notification, PostCard, Relation, Topic};
use ui::components::beginning;
use ui::islands::{InfiniteScroll, NewItems};

use super::activity::object;
use super::notification::what;
use super::{Seam, verb};
use crate::pages::{ListPosition, OLDEST};

/// An item that a list shows.
pub trait Entry {
    /// The item's test id.
    const TEST_ID: Option<&'static str>;
    /// The prefix of the item's element id, for links to it.
    const ANCHOR: &'static str;
    /// Whether the list can also be read from its oldest item.
    const HAS_TWO_ENDS: bool;

    /// The item's id in its list; a [`model::Seam`] uses it to name the item before the boundary.
    fn key(&self) -> String;

    /// A label for screen readers that distinguishes the item from its neighbours.
    fn name(&self) -> String;
}

macro_rules! entry {
    ($type:ty, $anchor:literal, $test_id:expr, $has_two_ends:literal, $key:expr, $name:expr) => {
        impl Entry for $type {
            const TEST_ID: Option<&'static str> = $test_id;
            const ANCHOR: &'static str = $anchor;
            const HAS_TWO_ENDS: bool = $has_two_ends;

            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }

            fn name(&self) -> String {
                let name: fn(&Self) -> String = $name;
                name(self)
            }
        }
    };
}

entry!(
    PostCard,
    "post",
    Some("post"),
    false,
    |card| card.post.id.to_string(),
    |card| format!(
        "{}: {}",
        card.post.author.name,
        beginning(card.post.text.as_str())
    )
);
entry!(
    Member,
    "member",
    None,
    true,
    |member| member.id.to_string(),
    |member| member.user.name.to_string()
);
entry!(
    FoundPerson,
    "person",
    None,
    false,
    |person| person.handle.to_string(),
    |person| person.name.to_string()
);
entry!(
    Comment,
    "comment",
    Some("comment"),
    true,
    |comment| comment.id.to_string(),
    |comment| format!("Comment by {}", comment.user.name)
);
entry!(
    ActivityEntry,
    "activity",
    None,
    true,
    |entry| entry.activity.id.to_string(),
    |entry| format!("{} {}", verb(entry.activity.kind), object(entry))
);

entry!(
    Notification,
    "notification",
    None,
    false,
    |notification| notification.id.to_string(),
    |notification| format!("{} {}", notification.by.name, what(notification))
);

/// A stretch of a list: its items with the seams between them, and where the list continues.
#[component]
pub fn List<T, Row, Shown, Empty>(
    /// The stretch.
    listing: Listing<T>,
    /// Where in the list it begins.
    place: ListPosition,
    /// How the page learns of new items at the top, if it does.
    #[prop(optional_no_strip)]
    fresh: Option<UpdateSource>,
    /// The list's label for screen readers.
    label: &'static str,
    /// The text for an empty list.
    empty: Empty,
    /// Shows one item.
    row: Row,
    /// The form for new items, if there is one.
    #[prop(optional_no_strip)]
    form: Option<AnyView>,
) -> impl IntoView
where
    T: Entry + Send + 'static,
    Row: Fn(T) -> Shown + Send + 'static,
    Shown: IntoView + 'static,
    Empty: IntoView + 'static,
{
    let Listing {
        items,
        next,
        seams,
        total,
    } = listing;
    let before = place.before;
    let read = before + items.len() as u64;
    let next = next.map(|cursor| place.href_after(&cursor, read));
    let here = place.href();
    let end = place.paging.end;
    let fresh = fresh.filter(|_| place.is_at_the_newest());
    let way_to_the_oldest = T::HAS_TWO_ENDS && place.is_at_the_newest() && next.is_some();
    let (posts, newest) = fresh.as_ref().and_then(UpdateSource::of_posts).unzip();
    let set_size = if total >= read && total > 0 {
        total.to_string()
    } else {
        "-1".to_owned()
    };

    let mut seams: HashMap<String, model::Seam> =
        seams.into_iter().map(|seam| (seam.after.clone(), seam)).collect();
    let after: Vec<_> = items.iter().map(|item| seams.remove(&item.key())).collect();
    // A seam after the last item of the previous stretch comes first.
    let first = seams
        .into_values()
        .map(|seam| view! { <Seam seam end /> })
        .collect_view();
    let is_empty = items.is_empty() && before == 0 && next.is_none();
    let items = items
        .into_iter()
        .zip(after)
        .zip(before + 1..)
        .map(|((item, after), position)| {
            let (key, name) = (item.key(), item.name());
            view! {
                <article
                    id=format!("{}-{key}", T::ANCHOR)
                    class="entry"
                    class:post=T::ANCHOR == "post"
                    data-testid=T::TEST_ID
                    aria-label=name
                    aria-posinset=position
                    aria-setsize=set_size.clone()
                    tabindex="-1"
                >
                    {row(item)}
                </article>
                {after.map(|seam| view! { <Seam seam end /> })}
            }
        })
        .collect_view();

    view! {
        <div class="list">
            {form}
            {(!place.is_at_the_newest())
                .then(|| {
                    view! {
                        <p class="feed-newest">
                            <a class="button" href=place.href_of_the_newest()>
                                "Back to the newest"
                            </a>
                        </p>
                    }
                })}
            {way_to_the_oldest
                .then(|| {
                    view! {
                        <p class="feed-oldest">
                            <a href=OLDEST>"Oldest first"</a>
                        </p>
                    }
                })}
            {fresh.map(|fresh| view! { <NewItems>{fresh.button(total)}</NewItems> })}
            <div
                class="feed"
                // A feed must have items. An empty list is only a place for them.
                role=if is_empty { "group" } else { "feed" }
                aria-label=label
                aria-busy="false"
                data-testid="feed"
                data-posts=posts
                data-newest=newest
            >
                <div class="stretch" data-href=here.unwrap_or_default()>
                    {first}
                    {items}
                </div>
            </div>
            {is_empty.then(|| view! { <p class="empty">{empty}</p> })}
            {(!is_empty)
                .then(|| {
                    view! {
                        <InfiniteScroll>
                            <ListEnd next />
                        </InfiniteScroll>
                    }
                })}
        </div>
    }
}

/// How a page learns of new items at the top of its list.
pub enum UpdateSource {
    /// Posts newer than the newest here.
    Posts {
        /// Which posts: `home` or a handle.
        of: String,
        /// The cursor of the newest post that the page shows.
        newest: String,
    },
    /// More items of one of an owner's lists.
    Items {
        /// The owner.
        topic: Topic,
        /// Which list.
        relation: Relation,
    },
}

impl UpdateSource {
    fn of_posts(&self) -> Option<(String, String)> {
        match self {
            Self::Posts { of, newest } => Some((of.clone(), newest.clone())),
            Self::Items { .. } => None,
        }
    }

    /// The button that an island shows once there are new items.
    fn button(self, total: u64) -> impl IntoView {
        let (one, more, item) = match self {
            Self::Posts { .. } => ("new post", "new posts", None),
            Self::Items { topic, relation } => {
                let (one, more) = relation.description().news;
                (one, more, Some((topic.to_string(), relation)))
            }
        };
        let by_itself = item
            .as_ref()
            .is_some_and(|(_, relation)| relation.description().items == Items::Comments);
        let (topic, relation) = item.map(|(topic, relation)| (topic, relation.as_str())).unzip();
        view! {
            <div role="status">
                <button
                    class="button button-primary new-posts"
                    type="button"
                    data-testid="new-posts"
                    data-one=one
                    data-more=more
                    data-topic=topic
                    data-relation=relation
                    data-count=total
                    data-by-itself=by_itself
                    hidden
                ></button>
            </div>
        }
    }
}

/// The link to the next stretch, or the end of the list.
#[component]
fn ListEnd(next: Option<String>) -> impl IntoView {
    match next {
        None => view! { <p class="feed-end" data-testid="feed-end">"End of the list."</p> }.into_any(),
        Some(href) => view! {
            <div class="feed-skeleton" aria-hidden="true"></div>
            <p class="feed-failed" role="alert">
                "Spillway does not answer. The items above stay on the page."
            </p>
            <a class="button load-more" data-testid="load-more" href=href>
                "Show more"
            </a>
        }
        .into_any(),
    }
}
