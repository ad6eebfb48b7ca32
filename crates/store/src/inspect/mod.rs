//! The documents behind an owner's lists, for people who want to see them: only what their [`View`] shows, because a
//! private list is not in the documents from which all of it is computed.

mod bytes;

use std::collections::HashMap;

use bson::{Bson, Document, RawDocumentBuf, doc};
use model::{Overflow, Relation, RelationOverflow, View};

use crate::overflow::{Owner, PAGES, measure, number, owner_collection, owner_id, owners_of};
use crate::{Store, notifications, posts, recovery};
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

/// The fields that nobody may see: the password's hash, and what can replace it.
const SECRETS: [&str; 2] = ["password", recovery::FIELD];

fn shown(owner: &Owner, view: View) -> impl Iterator<Item = Relation> {
    let relations = owner.relations().iter().copied();
    relations.filter(move |relation| view.shows(*relation))
}

fn remove_secrets(document: &mut Document) {
    for secret in SECRETS {
        document.remove(secret);
    }
}

impl Store {
    /// How all lists of an owner are stored, also those that nobody may read, from one read of its document.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn overflow(&self, owner: &Owner) -> Result<Overflow> {
        let document = self.whole_document(owner).await?;
        self.measured(&document, owner.relations().iter().copied())
    }

    /// The same for the lists in a view, with how many notifications the owner has not marked as read.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn overflow_in(&self, owner: &Owner, view: View) -> Result<Overflow> {
        let document = self.owner_document(owner, view).await?;
        let mut overflow = self.measured(&document, shown(owner, view))?;
        if let Some(list) = overflow.get_mut(&Relation::Notifications) {
            list.unread = Some(notifications::Read::of(&document).unread(list.count));
        }
        Ok(overflow)
    }

    fn measured(&self, document: &Document, relations: impl Iterator<Item = Relation>) -> Result<Overflow> {
        let measured = |relation| -> Result<_> {
            let list = measure(document, relation, self.settings().of(relation))?;
            Ok((relation, list))
        };
        relations.map(measured).collect()
    }

    /// The owner's document and the newest page of each of its lists. Secrets are left out.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn documents(&self, owner: &Owner, view: View) -> Result<Documents> {
        let mut document = self.owner_document(owner, view).await?;
        remove_secrets(&mut document);
        let mut pages = Vec::new();
        for &relation in owner.relations() {
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
    pub async fn inspect_owner(&self, owner: &Owner, view: View) -> Result<InspectedOwner> {
        let mut document = self.owner_document(owner, view).await?;
        let bytes = ByteMap::of(&document)?;
        let lists = self.measured(&document, shown(owner, view))?;
        remove_secrets(&mut document);
        Ok(InspectedOwner {
            document,
            bytes,
            lists,
        })
    }

    /// How many items the longest list of a relation has.
    pub async fn longest_list(&self, relation: Relation) -> Result<u64> {
        let count = format!("{relation}.count");
        let first = Find::default()
            .project(doc! { &count: 1 })
            .sort(doc! { &count: -1, "_id": -1 })
            .limit(1);
        let found = self.engine().find(owners_of(relation), first).await?;
        let list = found
            .first()
            .and_then(|owner| owner.get_document(relation.as_str()).ok());
        list.map_or(Ok(0), |list| number(list, "count"))
    }

    /// How many items each committed page of a list holds, by its number, as of when the owner was read. No page is
    /// read.
    pub async fn chain(&self, owner: &Owner, whole: &InspectedOwner, relation: Relation) -> Result<Vec<u64>> {
        let pages = whole.lists.get(&relation).map_or(0, |list| list.pages);
        let born = whole.document.get("born").cloned().unwrap_or(Bson::Null);
        self.list(relation).chain(owner, &born, pages).await
    }

    /// A page document of one of these lists, if it exists.
    pub async fn page_of(
        &self,
        owner: &Owner,
        whole: &InspectedOwner,
        relation: Relation,
        page: u32,
    ) -> Result<Option<Document>> {
        if !whole.lists.contains_key(&relation) {
            return Ok(None);
        }
        self.page(owner, &whole.document, relation, i64::from(page)).await
    }

    /// The sizes of an owner and of these pages of one of its lists: one find each.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn list_sizes(
        &self,
        owner: &Owner,
        view: View,
        relation: Relation,
        pages: &[u32],
    ) -> Result<ListSizes> {
        let document = self.owner_document(owner, view).await?;
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

    /// The owner's document as if it had only the lists in the view, so that no size betrays another one. How much of a
    /// private list was read is private, too. A post that is hidden from everybody has no document to show.
    async fn owner_document(&self, owner: &Owner, view: View) -> Result<Document> {
        let mut document = self.whole_document(owner).await?;
        if document.contains_key(posts::WITHHELD) {
            return Err(Error::NoOwner(owner.to_string()));
        }
        for relation in owner
            .relations()
            .iter()
            .filter(|relation| !view.shows(**relation))
        {
            document.remove(relation.as_str());
        }
        if !view.shows(Relation::Notifications) {
            document.remove(notifications::READ);
            document.remove(notifications::SILENCED);
        }
        Ok(document)
    }

    async fn whole_document(&self, owner: &Owner) -> Result<Document> {
        let find = Find::matching(doc! { "_id": owner_id(owner) }).limit(1);
        let found = self.engine().find(owner_collection(owner), find).await?;
        let found = found.into_iter().next();
        found.ok_or_else(|| Error::NoOwner(owner.to_string()))
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
