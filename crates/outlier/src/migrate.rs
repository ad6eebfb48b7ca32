//! From unbounded arrays to head and pages, while others write.

use std::borrow::Cow;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Engine, Error, Find, Result, session_of};

use crate::collection::owners;
use crate::fields::number;
use crate::item::documents;
use crate::measure::bytes_of;
use crate::scan::{Owners, Shape};
use crate::{Collection, Item, ListSpec, Lists, Owner, Progress, value_at};

/// How many elements that are not items to name per list.
const EXAMPLES: usize = 3;

/// How many bytes of owners a dry run has in memory at once, unless one owner alone has more.
const BYTES: u64 = 4 * 1024 * 1024;

/// What was migrated, or would be.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct MigrationReport {
    /// Owners that were examined.
    pub owners: u64,
    /// Lists that were arrays, or whose adoption was begun by another process, and are head and pages now.
    pub lists: u64,
    /// Lists that were missing and exist now, empty.
    pub made: u64,
    /// Items in these lists.
    pub items: u64,
    /// Of those, how many were not items yet, such as plain names.
    pub converted: u64,
    /// Pages that were written for them.
    pub pages: u64,
    /// What these pages hold, in bytes of BSON.
    pub bytes: u64,
    /// Items that were dropped because an earlier one has the same key.
    pub duplicates: u64,
    /// Lists that were left as they are, and why.
    pub refused: Vec<RefusedList>,
}

/// A list that cannot be migrated as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedList {
    /// The owner of the list.
    pub owner: String,
    /// The path of the list; `None` if the whole document is not an owner's.
    pub list: Option<Cow<'static, str>>,
    /// The reason, and what helps.
    pub why: String,
}

/// The result of converting an array.
#[derive(Debug, Default)]
struct Plan {
    items: u64,
    converted: u64,
    pages: u64,
    bytes: u64,
    duplicates: u64,
}

/// A collection, and the report of its migration.
struct Migrating<'a> {
    engine: &'a Engine,
    collection: &'a Collection,
    dry_run: bool,
    migrated: &'a mut MigrationReport,
}

/// Turns every list that is an unbounded array into head and pages; a `dry_run` only reports what it would do.
///
/// It may be stopped at any time and run again, beside other processes that do the same and beside writers. What
/// [`Collection::elements`] refuses stays as it is. An owner that cannot be migrated does not stop the others.
///
/// # Errors
/// The engine's error if it cannot be reached.
pub async fn migrate(
    engine: &Engine,
    collections: &[Collection],
    dry_run: bool,
    progress: Progress<'_>,
) -> Result<MigrationReport> {
    let total = owners(engine, collections).await?;
    let mut migrated = MigrationReport::default();
    for collection in collections {
        let mut owners = Owners::of(&**engine, collection);
        let mut migrating = Migrating {
            engine,
            collection,
            dry_run,
            migrated: &mut migrated,
        };
        loop {
            let batch = owners.next().await?;
            if batch.is_empty() {
                break;
            }
            if dry_run {
                migrating.plan_owners(&batch).await?;
                migrating.migrated.owners += batch.len() as u64;
                progress(migrating.migrated.owners.min(total), total);
                continue;
            }
            for document in &batch {
                migrating.migrated.owners += 1;
                migrating.owner(document).await?;
                progress(migrating.migrated.owners.min(total), total);
            }
        }
    }
    progress(total, total);
    Ok(migrated)
}

impl Migrating<'_> {
    /// Reports what migrating owners would do. They are read whole, as many at once as fit into memory.
    async fn plan_owners(&mut self, owners: &[Document]) -> Result<()> {
        let collection = self.collection;
        let wanted = owners
            .iter()
            .filter(|owner| collection.lists().iter().any(|lists| wants(owner, lists.spec())));
        let ids = wanted.filter_map(|owner| owner.get("_id").cloned()).collect();
        let paths = collection.lists().iter().map(|lists| &*lists.spec().path);
        let fields = fields(collection, paths);
        for group in by_size(&**self.engine, collection.name(), ids).await? {
            let find = Find::matching(doc! { "_id": { "$in": group } })
                .project(fields.clone())
                .sort(doc! { "_id": 1 });
            for document in self.engine.find(collection.name(), find).await? {
                self.owner(&document).await?;
            }
        }
        Ok(())
    }

    /// Migrates the lists of an owner. For a dry run the document is whole.
    async fn owner(&mut self, document: &Document) -> Result<()> {
        let lists = self.collection.lists().iter();
        for lists in lists.filter(|lists| wants(document, lists.spec())) {
            let Some(owner) = self.collection.owner_of(document) else {
                let id = document.get("_id").unwrap_or(&Bson::Null);
                self.migrated.refused.push(RefusedList {
                    owner: format!("{}/{id}", self.collection.name()),
                    list: None,
                    why: "its `_id` is not an owner's; rename it or delete it".to_owned(),
                });
                return Ok(());
            };
            match self.list(&owner, lists, document).await {
                Ok(()) | Err(Error::NoOwner(_)) => {}
                Err(error @ (Error::Unavailable(_) | Error::UnknownOutcome(_) | Error::Storage(_))) => {
                    return Err(error);
                }
                Err(error) => self.migrated.refused.push(RefusedList {
                    owner: owner.to_string(),
                    list: Some(lists.spec().path.clone()),
                    why: match error {
                        Error::Contended(_) => {
                            "others write to it faster than it can be converted; pause them and run this again"
                                .to_owned()
                        }
                        error => error.to_string(),
                    },
                }),
            }
        }
        Ok(())
    }

    async fn list(&mut self, owner: &Owner, lists: &Lists, whole: &Document) -> Result<()> {
        let spec = lists.spec();
        let path = &*spec.path;
        let document = if self.dry_run {
            Cow::Borrowed(whole)
        } else {
            Cow::Owned(self.one(owner, fields(self.collection, [path])).await?)
        };
        let list = lists.on(session_of(self.engine));
        let array = match Shape::of(&document, path) {
            Shape::Missing => {
                if !self.dry_run {
                    list.adopt(owner).await?;
                }
                self.migrated.made += 1;
                return Ok(());
            }
            Shape::Malformed(what) => return Err(Error::malformed(what)),
            Shape::List(list) if !list.adopting => return Ok(()),
            // An adoption that was begun still has the array, under another name.
            Shape::List(list) => list.head,
            Shape::Unbounded(_) => match value_at(&document, path) {
                Some(Bson::Array(array)) => array.clone(),
                _ => return Ok(()),
            },
        };
        let mut plan = self.plan(owner, lists, &document, &array)?;
        drop(array);
        if !self.dry_run {
            if plan.converted > 0 {
                let collection = self.collection;
                let items_of = |document: &Document| match value_at(document, path) {
                    Some(Bson::Array(array)) => {
                        fit(collection, spec, owner, document, array).map(|(items, _)| items)
                    }
                    _ => Ok(Vec::new()),
                };
                list.convert(owner, &items_of).await?;
            }
            // Also finishes what another process began.
            list.adopt(owner).await?;
            let numbers = doc! { format!("{path}.count"): 1, format!("{path}.pages"): 1 };
            if let Some(Bson::Document(list)) = value_at(&self.one(owner, numbers).await?, path) {
                plan.items = number(list, "count")?;
                plan.pages = number(list, "pages")?;
            }
        }
        self.migrated.lists += 1;
        self.migrated.items += plan.items;
        self.migrated.converted += plan.converted;
        self.migrated.pages += plan.pages;
        self.migrated.bytes += plan.bytes;
        self.migrated.duplicates += plan.duplicates;
        Ok(())
    }

    fn plan(&self, owner: &Owner, lists: &Lists, document: &Document, array: &[Bson]) -> Result<Plan> {
        let (mut items, converted) = fit(self.collection, lists.spec(), owner, document, array)?;
        let met = items.len() as u64;
        items.sort_unstable_by_key(|item| std::cmp::Reverse(item.order()));
        let (chunks, head) = lists.on(self.engine.clone()).divide(&items)?;
        let mut plan = Plan {
            converted,
            pages: chunks.len() as u64,
            items: head.len() as u64,
            ..Plan::default()
        };
        for chunk in chunks {
            plan.items += chunk.len() as u64;
            plan.bytes += bytes_of(&doc! { "items": documents(&chunk) }).unwrap_or(0) as u64;
        }
        plan.duplicates = met - plan.items;
        Ok(plan)
    }

    async fn one(&self, owner: &Owner, fields: Document) -> Result<Document> {
        let find = Find::matching(doc! { "_id": owner.id() })
            .project(fields)
            .limit(1);
        let found = self.engine.find(self.collection.name(), find).await?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| Error::NoOwner(owner.to_string()))
    }
}

/// What is read of an owner to migrate the lists at these paths.
fn fields<'a>(collection: &Collection, paths: impl IntoIterator<Item = &'a str>) -> Document {
    let fields = ["born"].into_iter().chain(collection.beside.iter().copied());
    fields
        .chain(paths)
        .map(|field| (field.to_owned(), Bson::Int32(1)))
        .collect()
}

/// Divides owners into groups of up to [`BYTES`] in total; into single owners if the engine does not compute sizes.
async fn by_size(engine: &dyn DocumentEngine, collection: &str, ids: Vec<Bson>) -> Result<Vec<Vec<Bson>>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    if !engine.capabilities().document_sizes {
        return Ok(ids.into_iter().map(|id| vec![id]).collect());
    }
    let pipeline = vec![
        doc! { "$match": { "_id": { "$in": &ids } } },
        doc! { "$sort": { "_id": 1 } },
        doc! { "$project": { "bytes": { "$bsonSize": "$$ROOT" } } },
    ];
    let sized = engine.aggregate(collection, pipeline).await?;
    let (mut groups, mut room): (Vec<Vec<Bson>>, u64) = (Vec::new(), 0);
    for mut owner in sized {
        let bytes = number(&owner, "bytes")?;
        let id = owner.remove("_id").unwrap_or(Bson::Null);
        match groups.last_mut() {
            Some(group) if bytes <= room => group.push(id),
            _ => {
                groups.push(vec![id]);
                room = BYTES;
            }
        }
        room = room.saturating_sub(bytes);
    }
    Ok(groups)
}

/// Whether there is something to migrate, as far as an owner's document shows without the items.
fn wants(owner: &Document, spec: &ListSpec) -> bool {
    match Shape::of(owner, &spec.path) {
        Shape::List(list) => list.adopting,
        // An array, or something else that a projection leaves out.
        Shape::Unbounded(_) | Shape::Missing | Shape::Malformed(_) => true,
    }
}

/// The items of an array and how many of them were not items yet, or a refusal that names the elements that do not fit.
fn fit(
    collection: &Collection,
    spec: &ListSpec,
    owner: &Owner,
    document: &Document,
    array: &[Bson],
) -> Result<(Vec<Item>, u64)> {
    let elements = (collection.elements)(spec, owner, document, array);
    if elements.unfit.is_empty() {
        return Ok((elements.items, elements.converted));
    }
    let examples: Vec<String> = elements
        .unfit
        .iter()
        .take(EXAMPLES)
        .map(|(place, why)| format!("`{}.{place}`: {why}", spec.path))
        .collect();
    Err(Error::refused(
        2,
        format!(
            "{} of {} elements are not items ({}). Bring them into the form {}, or take them out, and run this again.",
            elements.unfit.len(),
            array.len(),
            examples.join("; "),
            elements.form,
        ),
    ))
}
