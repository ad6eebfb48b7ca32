//! A list in the page: stretches one below the other. However far a reader scrolls, only the stretches near them
//! hold their items; each of the others is an empty element of the same height, which is filled again when it
//! comes near.

use std::cell::Cell;

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlElement};

use super::dom::{all, around, attribute, document, empty, find, number, set, unset, when_near, window};
use super::stretch::Stretch;
use crate::islands::numbers;

/// The number of items from which the farthest stretches are emptied.
const MOST_ITEMS: usize = 3_200;

/// Selects items that the server has stored, not one that is still being sent.
const ARRIVED: &str = ".entry:not(.entry-pending)";

/// A list in the page.
#[derive(Clone)]
pub struct List {
    feed: Element,
}

impl List {
    /// The list that an element belongs to.
    pub fn around(element: &Element) -> Option<Self> {
        Some(Self {
            feed: find(&around(element, ".list")?, ".feed")?,
        })
    }

    /// Wakes the posts that the page came with.
    pub fn wake(&self) {
        bind_posts(&self.feed);
    }

    /// The element with the list's role.
    pub fn feed(&self) -> &Element {
        &self.feed
    }

    /// Whether the page shows the list from its beginning.
    pub fn is_from_the_beginning(&self) -> bool {
        self.first().is_some_and(|first| href(&first).is_empty())
    }

    /// Appends a stretch.
    pub fn append(&self, stretch: &Stretch) {
        remove_duplicates(&stretch.part);
        if self.feed.append_child(&stretch.part).is_ok() {
            self.arrived(&stretch.part);
            self.make_room();
        }
    }

    /// Shows the newest items, which `stretch` holds. The items of the page stay where they are, with the new ones
    /// above them; a reader who missed more than a stretch starts from the top.
    pub fn refresh(&self, stretch: &Stretch) {
        let Some(first) = self.first() else { return };
        set(&self.feed, "role", "feed");
        let items = all(&stretch.part, ":scope > *");
        // A post that was shared meanwhile is here, too, but not where it was.
        let stays = |item: &Element| standing(item).is_some_and(|old| share_of(item) == share_of(&old));
        let overlaps = items.iter().any(stays);
        let mut moved = Vec::new();
        if overlaps || all(&first, ARRIVED).is_empty() {
            for item in items.iter().rev().filter(|item| !item.id().is_empty()) {
                if let Some(old) = standing(item) {
                    if share_of(item) <= share_of(&old) {
                        continue;
                    }
                    moved.extend(number(&old, "aria-posinset"));
                    empty(&old);
                    old.remove();
                }
                if first.insert_before(item, first.first_child().as_ref()).is_ok() {
                    bind_posts(item);
                    set(item, "data-arrived", "");
                }
            }
        } else {
            empty(&self.feed);
            unset(&self.feed, "data-came");
            if self.feed.append_child(&stretch.part).is_ok() {
                bind_posts(&stretch.part);
            }
            if let Some(end) = around(&self.feed, ".list").and_then(|list| find(&list, ".feed-more")) {
                stretch.put_end_into(&end);
            }
        }
        if let Some(newest) = stretch.feed().and_then(|feed| attribute(&feed, "data-newest")) {
            set(&self.feed, "data-newest", &newest);
        }
        self.renumber(&moved);
    }

    /// Shows an item that is being sent to the server, at the top.
    pub fn show_pending(&self, item: &Element) {
        if let Some(first) = self.first() {
            set(&self.feed, "role", "feed");
            drop(first.insert_before(item, first.first_child().as_ref()));
        }
    }

    /// Inserts empty elements in front, for stretches that the reader had read above this one.
    pub fn put_above(&self, stretches: &[(i32, String)]) {
        let first = self.first();
        for (height, href) in stretches {
            let Ok(part) = document().create_element("div") else {
                return;
            };
            part.set_class_name("stretch");
            set(&part, "data-href", href);
            if self
                .feed
                .insert_before(&part, first.as_ref().map(AsRef::as_ref))
                .is_ok()
            {
                self.set_aside(&part, *height);
            }
        }
    }

    /// The stretches above one, with their heights.
    pub fn above(&self, part: &Element) -> Vec<(i32, String)> {
        self.stretches()
            .into_iter()
            .take_while(|stretch| stretch != part)
            .map(|stretch| (height(&stretch), href(&stretch)))
            .collect()
    }

    /// The stretch with an address.
    pub fn stretch_of(&self, address: &str) -> Option<Element> {
        self.stretches()
            .into_iter()
            .find(|stretch| href(stretch) == address)
    }

    /// The first stretch.
    pub fn first(&self) -> Option<Element> {
        find(&self.feed, ".stretch")
    }

    fn stretches(&self) -> Vec<Element> {
        all(&self.feed, ".stretch")
    }

    /// Wakes the posts of a new stretch, and continues the numbering from the stretch above.
    fn arrived(&self, part: &Element) {
        bind_posts(part);
        let came = number(&self.feed, "data-came").unwrap_or(0);
        if came > 0 {
            for item in all(part, ".entry") {
                if let Some(position) = number(&item, "aria-posinset") {
                    set(&item, "aria-posinset", &(position + came).to_string());
                }
            }
        }
    }

    /// Numbers the new items from one, and shifts the others: by the number of new items, less those that stood before
    /// them and `moved` to the top.
    fn renumber(&self, moved: &[u64]) {
        let items = all(&self.feed, ARRIVED);
        let arrived = |item: &&Element| item.has_attribute("data-arrived");
        let came = items.iter().filter(arrived).count() as u64;
        let before = number(&self.feed, "data-came").unwrap_or(0);
        let net = (before + came).saturating_sub(moved.len() as u64);
        set(&self.feed, "data-came", &net.to_string());
        let mut place = 0;
        for item in items {
            place = match number(&item, "aria-posinset") {
                Some(stood) if !arrived(&&item) => {
                    let gone = moved.iter().filter(|was| **was < stood).count() as u64;
                    stood + came - gone
                }
                _ => place + 1,
            };
            unset(&item, "data-arrived");
            set(&item, "aria-posinset", &place.to_string());
        }
    }

    /// Empties the farthest stretches until there are few enough items. The first stays, because new items join
    /// it.
    fn make_room(&self) {
        let focused = document().active_element();
        let mut items = all(&self.feed, ".entry").len();
        let mut filled: Vec<(i32, Element)> = self
            .stretches()
            .into_iter()
            .skip(1)
            .filter(|part| !part.has_attribute("data-away") && !part.contains(focused.as_deref()))
            .map(|part| (distance(&part), part))
            .collect();
        while items > MOST_ITEMS {
            let farthest = filled.iter().map(|(distance, _)| *distance).max();
            let Some(place) = filled
                .iter()
                .position(|(distance, _)| Some(*distance) == farthest)
            else {
                return;
            };
            let (_, part) = filled.swap_remove(place);
            items -= all(&part, ".entry").len();
            let height = height(&part);
            empty(&part);
            self.set_aside(&part, height);
        }
    }

    /// Keeps the place of an empty stretch until it comes near.
    fn set_aside(&self, part: &Element, height: i32) {
        set(part, "data-away", "");
        set_height(part, &format!("{height}px"));
        let (list, kept, reading) = (self.clone(), part.clone(), Cell::new(false));
        when_near(part, move || {
            let still_away = kept.has_attribute("data-away");
            if still_away && !reading.replace(true) {
                let (list, part) = (list.clone(), kept.clone());
                spawn_local(async move { list.fill(&part).await });
            }
            still_away
        });
    }

    async fn fill(&self, part: &Element) {
        let address = href(part);
        let Some(stretch) = Stretch::fetch(&here(&address)).await else {
            return point_to(part, &address, "Spillway did not answer. Try again");
        };
        let next = part.next_element_sibling().map(|next| href(&next));
        if address.is_empty() && stretch.next() != next {
            // Many items were added since: the new ones end somewhere above the items that were read.
            return point_to(part, "", "There are newer items. Back to the newest");
        }
        remove_duplicates(&stretch.part);
        part.set_inner_html(&stretch.part.inner_html());
        unset(part, "data-away");
        set_height(part, "");
        self.arrived(part);
        self.make_room();
    }
}

/// A link in place of a stretch that cannot be shown again.
fn point_to(part: &Element, address: &str, words: &str) {
    let Ok(link) = document().create_element("a") else {
        return;
    };
    set(&link, "class", "button");
    set(&link, "href", &here(address));
    link.set_text_content(Some(words));
    part.set_inner_html("");
    drop(part.append_child(&link));
}

/// An address of this page's list: `data-href` is empty for the beginning.
pub fn here(href: &str) -> String {
    let path = window().location().pathname().unwrap_or_default();
    format!("{path}{href}")
}

/// The address of a stretch.
pub fn href(part: &Element) -> String {
    attribute(part, "data-href").unwrap_or_default()
}

/// Removes items from a stretch that the page already shows: a boundary moves by one when an item before it is
/// deleted.
fn remove_duplicates(part: &Element) {
    for item in all(part, ".entry").iter().filter(|item| standing(item).is_some()) {
        item.remove();
    }
}

/// An item of the page with the same id.
fn standing(item: &Element) -> Option<Element> {
    document().get_element_by_id(&item.id())
}

/// When the share was that put a post where it stands.
fn share_of(item: &Element) -> Option<u64> {
    number(&find(item, ".shared-by")?, "data-share")
}

/// Wakes the posts in a part of the page. This only binds to their elements, and nothing of it outlives the part.
fn bind_posts(part: &Element) {
    for post in all(part, ".post-main") {
        numbers::bind(&post);
    }
}

fn height(part: &Element) -> i32 {
    pixels(part.get_bounding_client_rect().height())
}

/// The distance of an element from the visible part of the page, in pixels.
fn distance(part: &Element) -> i32 {
    let place = part.get_bounding_client_rect();
    pixels(if place.top() > 0.0 {
        place.top()
    } else {
        -place.bottom()
    })
}

/// Whole pixels: the code that writes and reads fractions would be a tenth of what the browser downloads.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a page is far shorter than 2^31 pixels"
)]
pub fn pixels(length: f64) -> i32 {
    length.round() as i32
}

fn set_height(part: &Element, height: &str) {
    if let Some(part) = part.dyn_ref::<HtmlElement>() {
        drop(part.style().set_property("height", height));
    }
}
