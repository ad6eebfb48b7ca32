//! Where a database keeps the description of its lists, so that tools and programs in any language need no flags.

use bson::{Bson, doc};
use document::{Engine, Error, Find, Result, Update};
use serde::{Deserialize, Serialize};

use crate::{Collection, Limits, ListSpec, Lists, Order, OrderBy};

/// The collection with one document for each kind of list in its database.
pub const DESCRIPTIONS: &str = "outlierLists";

/// The version of the format that this crate reads and writes; docs/format.md describes it.
const VERSION: i32 = 1;

/// The types that `_id`s of owners may have, as `$type` names them.
pub const ID_TYPES: [&str; 7] = [
    "objectId", "string", "number", "binData", "date", "bool", "object",
];

/// The description of the lists at one path of one collection.
#[derive(Debug, Clone)]
pub struct Description {
    /// The lists. They accept every item that has the fields of their order and their key.
    pub spec: ListSpec,
    /// The type of the owners' `_id`s, one of [`ID_TYPES`].
    pub ids: &'static str,
    /// An undo was begun, so nothing is to be converted until it has ended.
    pub undoing: bool,
}

/// A description as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    version: i32,
    owners: String,
    path: String,
    pages: String,
    key: Option<String>,
    order: StoredOrder,
    limits: StoredLimits,
    largest_item: i64,
    ids: String,
    undoing: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredOrder {
    at: String,
    /// Dates, if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    id: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredLimits {
    threshold: i64,
    page_size: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head_bytes: Option<i64>,
}

impl Description {
    /// Reads the description of the lists at a path of a collection; `None` if there is none.
    ///
    /// # Errors
    /// The engine's, and [`Error::Malformed`] for a description that this version does not understand.
    pub async fn load(engine: &Engine, owners: &str, path: &str) -> Result<Option<Self>> {
        let find = Find::matching(doc! { "_id": id_of(owners, path) }).limit(1);
        let found = engine.find(DESCRIPTIONS, find).await?.into_iter().next();
        found
            .map(|found| match bson::deserialize_from_document(found) {
                Ok(stored) => Self::read(stored),
                Err(error) => Err(unreadable(owners, path, &error.to_string())),
            })
            .transpose()
    }

    /// Stores the description, in place of an earlier one.
    ///
    /// # Errors
    /// The engine's.
    pub async fn save(&self, engine: &Engine) -> Result<()> {
        let ListSpec {
            owners,
            path,
            pages,
            key,
            order,
            limits,
            head_bytes,
            largest_item,
            ..
        } = &self.spec;
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let stored = Stored {
            version: VERSION,
            owners: owners.to_string(),
            path: path.to_string(),
            pages: pages.to_string(),
            key: key.as_ref().map(ToString::to_string),
            order: StoredOrder {
                at: order.at.to_string(),
                by: (order.by != OrderBy::Date).then(|| order.by.name().to_owned()),
                id: order.id.to_string(),
            },
            limits: StoredLimits {
                threshold: number(limits.threshold),
                page_size: number(limits.page_size),
                head_bytes: head_bytes.map(number),
            },
            largest_item: number(*largest_item),
            ids: self.ids.to_owned(),
            undoing: self.undoing,
        };
        let stored = bson::serialize_to_document(&stored).map_err(Error::Corrupt)?;
        let save = Update::one(doc! { "_id": id_of(owners, path) }, doc! { "$set": stored });
        engine.update(DESCRIPTIONS, save.or_insert()).await.map(drop)
    }

    /// Removes the description.
    ///
    /// # Errors
    /// The engine's.
    pub async fn remove(&self, engine: &Engine) -> Result<()> {
        let id = id_of(&self.spec.owners, &self.spec.path);
        engine
            .delete(DESCRIPTIONS, doc! { "_id": id }, false)
            .await
            .map(drop)
    }

    /// The collection with these lists, for the tools that go through all of them. Arrays that old code writes are
    /// read by [`plain::elements`](crate::plain::elements).
    #[must_use]
    pub fn collection(&self) -> Collection {
        let mut collection = Collection::new(vec![Lists::new(self.spec.clone())], self.ids);
        collection.elements = |spec, _, _, array| crate::plain::elements(spec, array);
        collection
    }

    fn read(stored: Stored) -> Result<Self> {
        let (owners, path) = (&stored.owners, &stored.path);
        if stored.version != VERSION {
            return Err(unreadable(owners, path, "it is of another version"));
        }
        let ids = ID_TYPES.into_iter().find(|ids| *ids == stored.ids);
        let ids = ids.ok_or_else(|| unreadable(owners, path, "`ids` is no type of an owner's `_id`"))?;
        let by = match stored.order.by.as_deref() {
            None => OrderBy::Date,
            Some(by) => [OrderBy::Date, OrderBy::Number]
                .into_iter()
                .find(|known| known.name() == by)
                .ok_or_else(|| unreadable(owners, path, "`order.by` is neither `date` nor `number`"))?,
        };
        let most = |number: i64, what: &str| match usize::try_from(number) {
            Ok(number @ 1..) => Ok(number),
            _ => Err(unreadable(
                owners,
                path,
                &format!("`{what}` is not a positive number"),
            )),
        };
        let largest_item = most(stored.largest_item, "largestItem")?;
        let head_bytes = stored.limits.head_bytes;
        let head_bytes = head_bytes
            .map(|bytes| most(bytes, "limits.headBytes"))
            .transpose()?;
        if head_bytes.is_some_and(|most| most < largest_item) {
            return Err(unreadable(
                owners,
                path,
                "`limits.headBytes` is below `largestItem`",
            ));
        }
        Ok(Self {
            ids,
            undoing: stored.undoing,
            spec: ListSpec {
                limits: Limits {
                    threshold: most(stored.limits.threshold, "limits.threshold")?,
                    page_size: most(stored.limits.page_size, "limits.pageSize")?,
                },
                head_bytes,
                largest_item,
                owners: stored.owners.into(),
                path: stored.path.into(),
                pages: stored.pages.into(),
                key: stored.key.map(Into::into),
                order: Order {
                    at: stored.order.at.into(),
                    by,
                    id: stored.order.id.into(),
                },
                read: Ok,
            },
        })
    }
}

fn id_of(owners: &str, path: &str) -> Bson {
    Bson::String(format!("{owners}/{path}"))
}

fn unreadable(owners: &str, path: &str, why: &str) -> Error {
    Error::malformed(format!(
        "the description of the lists at `{path}` of {owners}, in {DESCRIPTIONS}, cannot be read: {why}"
    ))
}
