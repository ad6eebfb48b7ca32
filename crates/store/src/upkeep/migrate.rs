//! `migrate`: from unbounded arrays to head and pages, while others write.

use std::borrow::Cow;

use bson::{Bson, Document, doc};
use model::Relation;
use serde::Serialize;

use super::Progress;
use super::check::bytes_of;
use super::handles::parse_array;
use super::list_state::Shape;
use super::owners::{COLLECTIONS, Owners, owner_of, relations_of};
use crate::Store;
use crate::overflow::{Item, Owner, number, owner_collection, owner_id};
use document::{DocumentEngine, Error, Find, Result};

/// How many elements that are not items to name per list.
const EXAMPLES: usize = 3;

/// How many bytes of owners a dry run has in memory at once, unless one owner alone has more.
const BYTES: u64 = 4 * 1024 * 1024;

/// What was migrated, or would be.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MigrationReport {
    /// Owners that were examined.
    pub owners: u64,
    /// Lists that were arrays, or whose adoption was begun by another process, and are head and pages now.
    pub lists: u64,
    /// Lists that were missing and exist now, empty.
    pub made: u64,
    /// Items in these lists.
    pub items: u64,
    /// Of those, how many were plain handles.
    pub handles: u64,
    /// Pages that were written for them.
    pub pages: u64,
    /// What these pages hold, in bytes of BSON.
    pub bytes: u64,
    /// Items that were dropped because an earlier one has the same actor or id.
    pub duplicates: u64,
    /// Lists that were left as they are, and why.
    pub refused: Vec<RefusedList>,
}

/// A list that cannot be migrated as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedList {
    /// The owner of the list.
    pub owner: String,
    /// The relation; `None` if the whole document is not an owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// The reason, and what helps.
    pub why: String,
}

/// The result of converting an array.
#[derive(Debug, Default)]
struct Plan {
    items: u64,
    handles: u64,
    pages: u64,
    bytes: u64,
    duplicates: u64,
}

/// Turns every list that is an unbounded array into head and pages; a `dry_run` only reports what it would do.
///
/// It may be stopped at any time and run again, beside other processes that do the same and beside writers. Elements
/// may be items `{id, by, at, …}` or plain handles. An owner that cannot be migrated does not stop the others.
///
/// # Errors
/// The engine's error if it cannot be reached.
pub async fn migrate(store: &Store, dry_run: bool, progress: Progress<'_>) -> Result<MigrationReport> {
    let mut total = 0;
    for collection in COLLECTIONS {
        total += store.engine().count(collection, Document::new()).await?;
    }
    let mut migrated = MigrationReport::default();
    for collection in COLLECTIONS {
        let mut owners = Owners::of(&**store.engine(), collection);
        loop {
            let batch = owners.next().await?;
            if batch.is_empty() {
                break;
            }
            if dry_run {
                plan_owners(store, collection, &batch, &mut migrated).await?;
                migrated.owners += batch.len() as u64;
                progress(migrated.owners.min(total), total);
                continue;
            }
            for document in &batch {
                migrated.owners += 1;
                migrate_owner(store, collection, document, dry_run, &mut migrated).await?;
                progress(migrated.owners.min(total), total);
            }
        }
    }
    progress(total, total);
    Ok(migrated)
}

/// Reports what migrating owners would do. They are read whole, as many at once as fit into memory.
async fn plan_owners(
    store: &Store,
    collection: &str,
    owners: &[Document],
    migrated: &mut MigrationReport,
) -> Result<()> {
    let relations = relations_of(collection);
    let wanted = owners
        .iter()
        .filter(|owner| relations.iter().any(|relation| wants(owner, *relation)));
    let ids = wanted.filter_map(|owner| owner.get("_id").cloned()).collect();
    let mut fields = doc! { "born": 1, "at": 1 };
    fields.extend(
        relations
            .iter()
            .map(|relation| (relation.to_string(), Bson::Int32(1))),
    );
    for group in by_size(&**store.engine(), collection, ids).await? {
        let find = Find::matching(doc! { "_id": { "$in": group } })
            .project(fields.clone())
            .sort(doc! { "_id": 1 });
        for document in store.engine().find(collection, find).await? {
            migrate_owner(store, collection, &document, true, migrated).await?;
        }
    }
    Ok(())
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
fn wants(owner: &Document, relation: Relation) -> bool {
    match Shape::of(owner, relation) {
        Shape::List(list) => list.adopting,
        // An array, or something else that a projection leaves out.
        Shape::Unbounded(_) | Shape::Missing | Shape::Malformed(_) => true,
    }
}

/// Migrates the lists of an owner. For a dry run the document is whole.
async fn migrate_owner(
    store: &Store,
    collection: &str,
    document: &Document,
    dry_run: bool,
    migrated: &mut MigrationReport,
) -> Result<()> {
    let relations = relations_of(collection).into_iter();
    for relation in relations.filter(|relation| wants(document, *relation)) {
        let id = document.get("_id").cloned().unwrap_or(Bson::Null);
        let Some(owner) = owner_of(collection, &id) else {
            migrated.refused.push(RefusedList {
                owner: format!("{collection}/{id}"),
                relation: None,
                why: "its `_id` is not an owner's; rename it or delete it".to_owned(),
            });
            return Ok(());
        };
        match migrate_list(store, &owner, relation, dry_run.then_some(document), migrated).await {
            Ok(()) | Err(Error::NoOwner(_)) => {}
            Err(error @ (Error::Unavailable(_) | Error::UnknownOutcome(_) | Error::Storage(_))) => {
                return Err(error);
            }
            Err(error) => migrated.refused.push(RefusedList {
                owner: owner.to_string(),
                relation: Some(relation),
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

async fn migrate_list(
    store: &Store,
    owner: &Owner,
    relation: Relation,
    dry_run: Option<&Document>,
    migrated: &mut MigrationReport,
) -> Result<()> {
    let document = match dry_run {
        Some(whole) => Cow::Borrowed(whole),
        None => Cow::Owned(read(store, owner, relation).await?),
    };
    let dry_run = dry_run.is_some();
    let list = store.list(relation);
    let array = match Shape::of(&document, relation) {
        Shape::Missing => {
            if !dry_run {
                list.adopt(owner).await?;
            }
            migrated.made += 1;
            return Ok(());
        }
        Shape::Malformed(what) => return Err(Error::malformed(what)),
        Shape::List(list) if !list.adopting => return Ok(()),
        // An adoption that was begun still has the array, under another name.
        Shape::List(list) => list.head,
        Shape::Unbounded(_) => match document.get(relation.as_str()) {
            Some(Bson::Array(array)) => array.clone(),
            _ => return Ok(()),
        },
    };
    let mut plan = plan(store, owner, &document, relation, &array)?;
    drop(array);
    if !dry_run {
        if plan.handles > 0 {
            let items_of = |document: &Document| items_of(owner, document, relation);
            list.convert(owner, &items_of).await?;
        }
        // Also finishes what another process began.
        list.adopt(owner).await?;
        if let Some(Bson::Document(list)) = read_numbers(store, owner, relation).await?.get(relation.as_str())
        {
            plan.items = number(list, "count")?;
            plan.pages = number(list, "pages")?;
        }
    }
    migrated.lists += 1;
    migrated.items += plan.items;
    migrated.handles += plan.handles;
    migrated.pages += plan.pages;
    migrated.bytes += plan.bytes;
    migrated.duplicates += plan.duplicates;
    Ok(())
}

async fn read(store: &Store, owner: &Owner, relation: Relation) -> Result<Document> {
    one(store, owner, doc! { "born": 1, "at": 1, relation.as_str(): 1 }).await
}

async fn read_numbers(store: &Store, owner: &Owner, relation: Relation) -> Result<Document> {
    one(
        store,
        owner,
        doc! { format!("{relation}.count"): 1, format!("{relation}.pages"): 1 },
    )
    .await
}

async fn one(store: &Store, owner: &Owner, fields: Document) -> Result<Document> {
    let find = Find::matching(doc! { "_id": owner_id(owner) })
        .project(fields)
        .limit(1);
    let found = store.engine().find(owner_collection(owner), find).await?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| Error::NoOwner(owner.to_string()))
}

fn items_of(owner: &Owner, document: &Document, relation: Relation) -> Result<Vec<Item>> {
    match document.get(relation.as_str()) {
        Some(Bson::Array(array)) => fit(owner, document, relation, array).map(|(items, _)| items),
        _ => Ok(Vec::new()),
    }
}

fn plan(
    store: &Store,
    owner: &Owner,
    document: &Document,
    relation: Relation,
    array: &[Bson],
) -> Result<Plan> {
    let (mut items, handles) = fit(owner, document, relation, array)?;
    let met = items.len() as u64;
    items.sort_unstable_by_key(|item| std::cmp::Reverse(item.order()));
    let (chunks, head) = store.list(relation).divide(&items)?;
    let mut plan = Plan {
        handles,
        pages: chunks.len() as u64,
        items: head as u64,
        ..Plan::default()
    };
    for chunk in chunks {
        plan.items += chunk.len() as u64;
        plan.bytes += bytes_of(&doc! { "items": chunk }).unwrap_or(0) as u64;
    }
    plan.duplicates = met - plan.items;
    Ok(plan)
}

/// The items of an array and how many of them were plain handles, or a refusal that names the elements that do not
/// fit.
fn fit(owner: &Owner, document: &Document, relation: Relation, array: &[Bson]) -> Result<(Vec<Item>, u64)> {
    let understood = parse_array(owner, document, relation, array);
    if understood.unfit.is_empty() {
        return Ok((understood.items, understood.handles as u64));
    }
    let examples: Vec<String> = understood
        .unfit
        .iter()
        .take(EXAMPLES)
        .map(|(place, why)| format!("`{relation}.{place}`: {why}"))
        .collect();
    Err(Error::refused(
        2,
        format!(
            "{} of {} elements are not items ({}). Bring them into the form {{id: UUID, by: handle, at: date}}, or \
             take them out, and run this again.",
            understood.unfit.len(),
            array.len(),
            examples.join("; ")
        ),
    ))
}
