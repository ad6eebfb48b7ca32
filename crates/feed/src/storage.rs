//! How lists are stored: the cost of a page boundary, and the documents themselves.

use std::collections::HashSet;

use bson::{Bson, Document};
use model::{Handle, Listing, Overflow, Problem, Relation, RelationOverflow, SeamCost, Timestamp, Topic};
use store::inspect::{Documents, InspectedOwner};
use uuid::Uuid;

use super::Storage;
use super::problems::to_problem;

/// An owner with its exact sizes, and one of its lists page by page.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The owner's document.
    pub whole: InspectedOwner,
    /// The selected list.
    pub relation: Relation,
    /// How that list is stored.
    pub list: RelationOverflow,
    /// How many items each of the list's pages holds, by page number.
    pub chain: Vec<u64>,
    /// The selected page, if the list has any.
    pub page: Option<u32>,
    /// That page's document, unless the page was emptied and removed.
    pub document: Option<Document>,
}

impl Storage<'_> {
    /// Adds to the seams of a stretch what was read for it, compared with one unbounded array. Few stretches have
    /// a seam; the others cost nothing.
    pub async fn with_costs<T>(
        self,
        owner: &Topic,
        relation: Relation,
        mut listing: Listing<T>,
    ) -> Result<Listing<T>, Problem> {
        if listing.seams.is_empty() {
            return Ok(listing);
        }
        let pages: Vec<u32> = listing.seams.iter().map(|seam| seam.page).collect();
        let weights = self
            .0
            .store()
            .list_sizes(owner, self.view(owner), relation, &pages)
            .await
            .map_err(to_problem)?;
        let RelationOverflow {
            count, owner_bytes, ..
        } = weights.list;
        let one_array = weights.list.with_one_array();
        for seam in &mut listing.seams {
            seam.cost = weights.pages.get(&seam.page).map(|page| SeamCost {
                // The owner is read once more after the page: it tells whether the page was moved meanwhile.
                documents: 3,
                bytes: 2 * owner_bytes + page.bytes,
                unbounded: one_array.unwrap_or(page.bytes * count / page.items.max(1)),
            });
        }
        Ok(listing)
    }

    /// Looks at an owner and at one page of one of its lists: the named list, or else the longest; the named page,
    /// or else the newest.
    pub async fn inspect(
        self,
        owner: &Topic,
        relation: Option<Relation>,
        page: Option<u32>,
    ) -> Result<Inspection, Problem> {
        self.0.require_visible(owner, self.1).await?;
        let store = self.0.store();
        let mut whole = store
            .inspect_owner(owner, self.view(owner))
            .await
            .map_err(to_problem)?;
        let longest = whole.lists.iter().max_by_key(|(_, list)| list.count);
        let relation = relation.or(longest.map(|(relation, _)| *relation));
        let Some((relation, list)) =
            relation.and_then(|relation| Some((relation, whole.lists.get(&relation)?)))
        else {
            let lists: Vec<&str> = whole.lists.keys().map(|list| list.as_str()).collect();
            let message = format!("`list` is one of: {}.", lists.join(", "));
            return Err(Problem::invalid("list", message));
        };
        let list = list.clone();
        if let Some(page) = page.filter(|page| u64::from(*page) >= list.pages) {
            return Err(Problem::invalid("page", beyond(relation, list.pages, page)));
        }
        let newest = list
            .pages
            .checked_sub(1)
            .and_then(|page| u32::try_from(page).ok());
        let page = page.or(newest);
        let chain = store.chain(owner, &whole, relation).await.map_err(to_problem)?;
        let mut document = match page {
            Some(page) => store
                .page_of(owner, &whole, relation, page)
                .await
                .map_err(to_problem)?,
            None => None,
        };
        let shown = [&mut whole.document].into_iter().chain(&mut document);
        self.mask(owner, shown).await?;
        Ok(Inspection {
            whole,
            relation,
            list,
            chain,
            page,
            document,
        })
    }

    /// How an owner's lists are stored, and their documents.
    pub async fn documents(self, owner: &Topic) -> Result<(Overflow, Documents), Problem> {
        self.0.require_visible(owner, self.1).await?;
        let store = self.0.store();
        let documents = store.documents(owner, self.view(owner)).await;
        let mut documents = documents.map_err(to_problem)?;
        let shown = [&mut documents.owner].into_iter().chain(&mut documents.pages);
        self.mask(owner, shown).await?;
        let overflow = store.overflow_in(owner, self.view(owner)).await;
        Ok((overflow.map_err(to_problem)?, documents))
    }
}

impl Storage<'_> {
    /// Replaces in the items of an owner's documents the names and texts of people whom the reader does not see, and the
    /// first texts of comments that were edited. Every length stays as it is.
    async fn mask(
        self,
        owner: &Topic,
        documents: impl Iterator<Item = &mut Document>,
    ) -> Result<(), Problem> {
        let mut items: Vec<&mut Document> = documents.flat_map(items_of).collect();
        let named = items
            .iter()
            .flat_map(|item| PEOPLE.map(|field| item.get_str(field).ok()?.parse().ok()));
        let named: HashSet<Handle> = named.flatten().collect();
        let hidden = self.hidden_among(&named).await?;
        let is_hidden = |item: &Document, field| {
            item.get_str(field)
                .is_ok_and(|name| hidden.iter().any(|hidden| hidden.as_str() == name))
        };
        let edited = match owner {
            Topic::Post(post) => {
                let written = items.iter().filter(|item| item.contains_key("text"));
                let ids: Vec<Uuid> = written
                    .filter_map(|item| identity(item))
                    .map(|(id, _)| id)
                    .collect();
                let comments = self.0.store().comments();
                comments.edited_among(*post, &ids).await.map_err(to_problem)?
            }
            Topic::User(_) => HashSet::new(),
        };
        for item in &mut items {
            let is_theirs =
                is_hidden(item, "by") || identity(item).is_some_and(|item| edited.contains(&item));
            for field in PEOPLE
                .into_iter()
                .filter(|field| is_hidden(item, field))
                .collect::<Vec<_>>()
            {
                mask(item, field);
            }
            if is_theirs {
                mask(item, "text");
            }
        }
        Ok(())
    }
}

/// The id of an item and its time, which tell it from a later one with the same id.
fn identity(item: &Document) -> Option<(Uuid, Timestamp)> {
    let id = match item.get("id")? {
        Bson::Binary(id) => id.to_uuid().ok()?.into(),
        _ => return None,
    };
    let at = item.get_datetime("at").ok()?;
    Some((id, Timestamp::from_millis(at.timestamp_millis())))
}

/// The fields of an item that name somebody: who did it, or who was followed.
const PEOPLE: [&str; 2] = ["by", "user"];

/// The items in the heads of an owner, or those of a page, without those of lists of whom the reader mutes or blocks.
fn items_of(document: &mut Document) -> Vec<&mut Document> {
    let restricting = [Relation::Mutes.as_str(), Relation::Blocks.as_str()];
    if restricting.contains(&document.get_str("relation").unwrap_or_default()) {
        return Vec::new();
    }
    let lists = document.iter_mut().filter_map(|(name, value)| match value {
        Bson::Array(items) if name == "items" => Some(items),
        Bson::Document(list) if !restricting.contains(&name.as_str()) => list.get_array_mut("head").ok(),
        _ => None,
    });
    lists.flatten().filter_map(Bson::as_document_mut).collect()
}

fn mask(item: &mut Document, field: &str) {
    if let Some(Bson::String(text)) = item.get_mut(field) {
        *text = "*".repeat(text.len());
    }
}

/// The problem for a page that does not exist.
fn beyond(relation: Relation, pages: u64, page: u32) -> String {
    match pages.checked_sub(1) {
        None => format!("The {relation} have no page yet. Omit `page`."),
        Some(last) => {
            format!("The {relation} have {pages} pages: `page` is a number from 0 to {last}, not {page}.")
        }
    }
}
