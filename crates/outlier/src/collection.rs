//! The collections whose lists the operator's tools go through.

use bson::{Bson, Document};
use document::{Engine, Result};

use crate::{Item, ListSpec, Lists, Owner};

/// A collection of owners with the kinds of lists that they have: what [`check`](crate::check) and the other tools for
/// a whole store work on.
#[derive(Debug, Clone)]
pub struct Collection {
    lists: Vec<Lists>,
    /// The type of the owners' `_id`s, as `$type` names it, e.g. `objectId`. Other documents are reported and left out.
    pub ids: &'static str,
    /// The owner with an `_id`; `None` if no owner has such an `_id`.
    pub owner: fn(&Bson) -> Option<Owner>,
    /// What is wrong with an owner apart from its lists, in words.
    pub faults: fn(&Document) -> Vec<String>,
    /// What is wrong with an item of a list besides what [`ListSpec::read`] refuses, in words.
    pub item: fn(&ListSpec, &Document) -> std::result::Result<(), String>,
    /// Reads the elements of an array that is to become a list, as often as it likes with the same result. The document
    /// has [`Collection::beside`] and the list.
    pub elements: fn(&ListSpec, &Owner, &Document, &[Bson]) -> Elements,
    /// The fields that [`Collection::elements`] needs besides the list.
    pub beside: &'static [&'static str],
    /// The most items that a head or a page may ever hold, whatever the limits are now.
    pub most: usize,
}

/// The items that an array represents.
#[derive(Debug, Default)]
pub struct Elements {
    /// In the array's order.
    pub items: Vec<Item>,
    /// How many of them were not items yet, such as plain names.
    pub converted: u64,
    /// Elements that cannot be items: their indices, and why.
    pub unfit: Vec<(usize, String)>,
    /// The form that they should have.
    pub form: String,
}

impl Elements {
    /// The elements that are items already.
    fn of(spec: &ListSpec, array: &[Bson]) -> Self {
        let mut elements = Self {
            form: spec.form(),
            ..Self::default()
        };
        for (place, element) in array.iter().enumerate() {
            match spec.element(element.clone()) {
                Ok(item) => elements.items.push(item),
                Err(why) => elements.unfit.push((place, why.to_string())),
            }
        }
        elements
    }
}

impl Collection {
    /// A collection of owners with `_id`s of this type, of which nothing but the lists is known. For pages that are in
    /// no list to be found, these must be all kinds of lists that have pages in their collections.
    ///
    /// # Panics
    /// If there is no list, or not all are of one collection.
    #[must_use]
    pub fn new(lists: Vec<Lists>, ids: &'static str) -> Self {
        let of_one = lists
            .windows(2)
            .all(|two| two[0].spec().owners == two[1].spec().owners);
        assert!(
            !lists.is_empty() && of_one,
            "these are the lists of one collection"
        );
        Self {
            lists,
            ids,
            owner: |id| Some(Owner::from(id.clone())),
            faults: |_| Vec::new(),
            item: |_, _| Ok(()),
            elements: |spec, _, _, array| Elements::of(spec, array),
            beside: &[],
            most: usize::MAX,
        }
    }

    /// The name of the collection.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.lists[0].spec().owners
    }

    /// The kinds of lists that its owners have.
    #[must_use]
    pub fn lists(&self) -> &[Lists] {
        &self.lists
    }

    /// The owner that a document is; `None` if it is none.
    #[must_use]
    pub fn owner_of(&self, document: &Document) -> Option<Owner> {
        (self.owner)(document.get("_id")?)
    }
}

/// How many owners there are.
pub(crate) async fn owners(engine: &Engine, collections: &[Collection]) -> Result<u64> {
    let mut owners = 0;
    for collection in collections {
        owners += engine.count(collection.name(), Document::new()).await?;
    }
    Ok(owners)
}

/// The collections of pages of all these lists, each once.
pub(crate) fn pages_of(collections: &[Collection]) -> Vec<&str> {
    let mut names = Vec::new();
    for lists in collections.iter().flat_map(Collection::lists) {
        let pages = &*lists.spec().pages;
        if !names.contains(&pages) {
            names.push(pages);
        }
    }
    names
}

/// The kinds of lists of all these collections.
pub(crate) fn kinds(collections: &[Collection]) -> impl Iterator<Item = (&Collection, &Lists)> {
    let kinds = |collection| std::iter::repeat(collection).zip(Collection::lists(collection));
    collections.iter().flat_map(kinds)
}

/// The list that a page says it is in, if it is one of these.
pub(crate) fn lists_of<'a>(
    collections: &'a [Collection],
    pages: &str,
    page: &Document,
) -> Option<(&'a Collection, &'a Lists)> {
    let path = page.get_str("relation").ok()?;
    kinds(collections).find(|(_, lists)| lists.spec().path == path && lists.spec().pages == pages)
}
