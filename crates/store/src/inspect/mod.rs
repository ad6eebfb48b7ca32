//! The documents behind an owner's lists, for people who want to see them.

mod bytes;

use std::collections::HashMap;

use bson::{Bson, Document, RawDocumentBuf, doc};
use model::{Overflow, Relation, RelationOverflow, Topic};

use crate::Store;
use crate::overflow::{Owner, PAGES, measure, number, owner_collection, owner_id};
use document::{Error, Find, Result};

pub use bytes::{ByteMap, BytePart, Purpose};

/// An owner's document, and how its lists are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedOwner {
    /// The document without the secret fields.
    pub document: Document,
    /// Where its bytes are, including those of the secret fields.
    pub bytes: ByteMap,
    /// How its lists are stored.
    pub lists: Overflow,
}

/// An owner and the newest page document of each of its lists that has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    /// The owner without the secret fields.
    pub owner: Document,
    /// At most one page document per list, in the order of the lists.
    pub pages: Vec<Document>,
}

/// The sizes of an owner and of some pages of one of its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSizes {
    /// How the list is stored.
    pub list: RelationOverflow,
    /// The pages that exist, by their numbers.
    pub pages: HashMap<u32, PageSize>,
}

/// How large a page document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// How many items it holds.
    pub items: u64,
    /// Its size in bytes of BSON.
    pub bytes: u64,
}

/// The field that nobody may see: the password's hash.
const SECRET: &str = "password";

fn relations_of(owner: &Owner) -> [Relation; 3] {
    match owner {
        Topic::User(_) => Relation::OF_A_USER,
        Topic::Post(_) => Relation::OF_A_POST,
    }
}

impl Store {
    /// The owner's document and the newest page of each of its lists. A password's hash is left out.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn documents(&self, owner: &Owner) -> Result<Documents> {
        let mut document = self.owner_document(owner).await?;
        document.remove(SECRET);
        let mut pages = Vec::new();
        for relation in relations_of(owner) {
            let held = document.get_document(relation.as_str()).ok();
            let count = held.and_then(|list| list.get_i64("pages").ok()).unwrap_or(0);
            if count > 0 {
                pages.extend(self.page(owner, &document, relation, count - 1).await?);
            }
        }
        Ok(Documents {
            owner: document,
            pages,
        })
    }

    /// The owner's document with its exact sizes: one find.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn inspect_owner(&self, owner: &Owner) -> Result<InspectedOwner> {
        let mut document = self.owner_document(owner).await?;
        let bytes = ByteMap::of(&document)?;
        let lists = relations_of(owner)
            .into_iter()
            .map(|relation| {
                Ok((
                    relation,
                    measure(&document, relation, self.settings().of(relation))?,
                ))
            })
            .collect::<Result<_>>()?;
        document.remove(SECRET);
        Ok(InspectedOwner {
            document,
            bytes,
            lists,
        })
    }

    /// How many items each committed page of a list holds, by its number, as of when the owner was read. No page is
    /// read.
    pub async fn chain(&self, owner: &Owner, whole: &InspectedOwner, relation: Relation) -> Result<Vec<u64>> {
        let pages = whole.lists.get(&relation).map_or(0, |list| list.pages);
        let born = whole.document.get("born").cloned().unwrap_or(Bson::Null);
        self.list(relation).chain(owner, &born, pages).await
    }

    /// A page document of a list, if it exists.
    pub async fn page_of(
        &self,
        owner: &Owner,
        whole: &InspectedOwner,
        relation: Relation,
        page: u32,
    ) -> Result<Option<Document>> {
        self.page(owner, &whole.document, relation, i64::from(page)).await
    }

    /// The sizes of an owner and of these pages of one of its lists: one find each.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn list_sizes(&self, owner: &Owner, relation: Relation, pages: &[u32]) -> Result<ListSizes> {
        let document = self.owner_document(owner).await?;
        let find = Find::matching(doc! {
            "owner": owner_id(owner),
            "relation": relation.as_str(),
            "born": document.get("born").cloned(),
            "page": { "$in": pages.iter().map(|page| i64::from(*page)).collect::<Vec<_>>() },
        });
        let mut sizes = HashMap::new();
        for page in self.engine().find(PAGES, find).await? {
            let size = PageSize {
                items: page.get_array("items").map_or(0, Vec::len) as u64,
                bytes: RawDocumentBuf::try_from(&page)?.as_bytes().len() as u64,
            };
            let number = number(&page, "page")?;
            sizes.insert(u32::try_from(number).unwrap_or(u32::MAX), size);
        }
        Ok(ListSizes {
            list: measure(&document, relation, self.settings().of(relation))?,
            pages: sizes,
        })
    }

    async fn owner_document(&self, owner: &Owner) -> Result<Document> {
        let find = Find::matching(doc! { "_id": owner_id(owner) }).limit(1);
        let found = self.engine().find(owner_collection(owner), find).await?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| Error::NoOwner(owner.to_string()))
    }

    async fn page(
        &self,
        owner: &Owner,
        document: &Document,
        relation: Relation,
        page: i64,
    ) -> Result<Option<Document>> {
        let filter = doc! {
            "owner": owner_id(owner),
            "relation": relation.as_str(),
            "born": document.get("born").cloned(),
            "page": page,
        };
        let found = self.engine().find(PAGES, Find::matching(filter).limit(1)).await?;
        Ok(found.into_iter().next())
    }
}
