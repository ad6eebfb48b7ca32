//! How lists are stored: the cost of a page boundary, and the documents themselves.

use bson::Document;
use model::{Listing, Overflow, Problem, Relation, RelationOverflow, SeamCost, Topic};
use store::inspect::{Documents, InspectedOwner};

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
        let whole = store
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
        let document = match page {
            Some(page) => store
                .page_of(owner, &whole, relation, page)
                .await
                .map_err(to_problem)?,
            None => None,
        };
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
        let documents = store
            .documents(owner, self.view(owner))
            .await
            .map_err(to_problem)?;
        let overflow = store.overflow_in(owner, self.view(owner)).await;
        Ok((overflow.map_err(to_problem)?, documents))
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
