//! The outliers, by the number of their items and by the bytes of their documents.

use std::borrow::Cow;
use std::collections::HashMap;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Engine, Find, Result};
use serde::Serialize;

use crate::collection::kinds;
use crate::measure::{MOST_BYTES, bytes_of};
use crate::scan::{Owners, groups};
use crate::{Collection, ListSpec, Progress, fields, value_at};

/// What counts as an outlier, and how many to report.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The least number of items; `None` for more than the list's head may hold.
    pub threshold: Option<u64>,
    /// Or the least number of bytes of the owner document.
    pub bytes: u64,
    /// The most lists of each kind to report, the longest first.
    pub top: usize,
}

/// A list that is an outlier.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlier {
    /// The owner of the list.
    pub owner: String,
    /// The path of the list, as its pages name it.
    #[serde(rename = "relation")]
    pub list: Cow<'static, str>,
    /// How it is stored.
    pub form: Form,
    /// How many items it has.
    pub items: u64,
    /// How many of them are in the owner document.
    pub head: u64,
    /// How many pages it has.
    pub pages: u64,
    /// The owner document, with all of its lists, in bytes.
    pub owner_bytes: u64,
    /// The list's pages together, in bytes.
    pub page_bytes: u64,
    /// The owner's size as a percentage of the 16 MB that a document may have.
    pub of_most: f64,
    /// The head's length as a percentage of its threshold.
    pub head_fill: f64,
}

/// How a list is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Form {
    /// One array that grows without bound: [`migrate`](crate::migrate) turns it into head and pages.
    Unbounded,
    /// Everything is in the head.
    Head,
    /// Head and pages.
    Overflowed,
}

/// What the engine reports about a list.
struct Measured {
    id: Bson,
    born: Bson,
    form: Form,
    items: u64,
    head: u64,
    pages: u64,
    bytes: u64,
}

/// Finds the outliers among the lists of each kind, longest first. One aggregation each, where the engine computes sizes;
/// a scan of the owners, a few at a time, where it does not. `progress` is called with the number of kinds that are done,
/// and of all.
///
/// # Errors
/// The engine's.
pub async fn detect(
    engine: &Engine,
    collections: &[Collection],
    options: Options,
    progress: Progress<'_>,
) -> Result<Vec<Outlier>> {
    let engine = &**engine;
    let mut outliers = Vec::new();
    let total = kinds(collections).count() as u64;
    for (done, (collection, lists)) in kinds(collections).enumerate() {
        progress(done as u64, total);
        let spec = lists.spec();
        let threshold = options.threshold.unwrap_or(spec.limits.threshold as u64 + 1);
        let mut found = if engine.capabilities().document_sizes {
            let pipeline = pipeline(&spec.path, threshold, options);
            let found = engine.aggregate(&spec.owners, pipeline).await?;
            found.iter().map(Measured::read).collect()
        } else {
            scan(engine, collection, &spec.path, threshold, options).await?
        };
        for measured in &mut found {
            // As its pages store it.
            if let Some(owner) = (collection.owner)(&measured.id) {
                measured.id = owner.id();
            }
        }
        let page_bytes = page_bytes(engine, spec, &found).await?;
        for (measured, page_bytes) in found.into_iter().zip(page_bytes) {
            #[expect(clippy::cast_precision_loss, reason = "percentages are for people")]
            let percent = |part: u64, whole: usize| part as f64 * 100.0 / whole as f64;
            outliers.push(Outlier {
                owner: (collection.owner)(&measured.id)
                    .map_or_else(|| measured.id.to_string(), |owner| owner.to_string()),
                list: spec.path.clone(),
                form: measured.form,
                items: measured.items,
                head: measured.head,
                pages: measured.pages,
                owner_bytes: measured.bytes,
                page_bytes,
                of_most: percent(measured.bytes, MOST_BYTES),
                head_fill: percent(measured.head, spec.limits.threshold),
            });
        }
    }
    progress(total, total);
    Ok(outliers)
}

/// Seed 3's query for outliers and seed 1's for sizes, in one; an array counts by its length.
fn pipeline(path: &str, threshold: u64, options: Options) -> Vec<Document> {
    let list = format!("${path}");
    let counter = |name: &str| doc! { "$ifNull": [format!("{list}.{name}"), 0_i64] };
    let of_list =
        |array: Bson, counter: Document| doc! { "$cond": [{ "$isArray": [&list] }, array, counter] };
    let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    vec![
        doc! { "$project": {
            "born": 1,
            "unbounded": { "$isArray": [&list] },
            "items": of_list(Bson::from(doc! { "$size": &list }), counter("count")),
            "spilled": of_list(Bson::from(0_i64), counter("spilled")),
            "pages": of_list(Bson::from(0_i64), counter("pages")),
            "bytes": { "$bsonSize": "$$ROOT" },
        } },
        doc! { "$match": { "items": { "$gt": 0_i64 }, "$or": [
            { "items": { "$gte": long(threshold) } }, { "bytes": { "$gte": long(options.bytes) } },
        ] } },
        doc! { "$sort": { "items": -1, "bytes": -1, "_id": 1 } },
        doc! { "$limit": long(options.top.max(1) as u64) },
    ]
}

async fn scan(
    engine: &dyn DocumentEngine,
    collection: &Collection,
    path: &str,
    threshold: u64,
    options: Options,
) -> Result<Vec<Measured>> {
    let mut owners = Owners::of(engine, collection);
    let mut found: Vec<Measured> = Vec::new();
    loop {
        let batch = owners.next().await?;
        if batch.is_empty() {
            return Ok(found);
        }
        for group in groups(collection, &batch) {
            let find = Find::matching(doc! { "_id": { "$in": group } });
            for owner in engine.find(collection.name(), find).await? {
                let measured = Measured::of(&owner, path);
                let large = measured.bytes >= options.bytes && measured.items > 0;
                if measured.items >= threshold.max(1) || large {
                    found.push(measured);
                }
            }
        }
        found.sort_by_key(|measured| std::cmp::Reverse((measured.items, measured.bytes)));
        found.truncate(options.top.max(1));
    }
}

impl Measured {
    /// From a whole owner document.
    fn of(owner: &Document, path: &str) -> Self {
        let mut summary = doc! {
            "_id": owner.get("_id").cloned().unwrap_or(Bson::Null),
            "born": owner.get("born").cloned().unwrap_or(Bson::Null),
            "bytes": i64::try_from(bytes_of(owner).unwrap_or(0)).unwrap_or(i64::MAX),
        };
        match value_at(owner, path) {
            Some(Bson::Array(array)) => {
                summary.insert("unbounded", true);
                summary.insert("items", i64::try_from(array.len()).unwrap_or(i64::MAX));
            }
            Some(Bson::Document(list)) => {
                for (to, from) in [("items", "count"), ("spilled", "spilled"), ("pages", "pages")] {
                    summary.insert(to, list.get(from).cloned().unwrap_or(Bson::Int64(0)));
                }
            }
            _ => {}
        }
        Self::read(&summary)
    }

    /// Reads the projection of the pipeline.
    fn read(summary: &Document) -> Self {
        let number = |field: &str| fields::number(summary, field).unwrap_or(0);
        let (items, pages) = (number("items"), number("pages"));
        let form = match summary.get_bool("unbounded") {
            Ok(true) => Form::Unbounded,
            _ if pages > 0 => Form::Overflowed,
            _ => Form::Head,
        };
        Self {
            id: summary.get("_id").cloned().unwrap_or(Bson::Null),
            born: summary.get("born").cloned().unwrap_or(Bson::Null),
            form,
            items,
            head: items.saturating_sub(number("spilled")),
            pages,
            bytes: number("bytes"),
        }
    }
}

/// The total size of each list's pages: one aggregation for all lists of one kind.
async fn page_bytes(engine: &dyn DocumentEngine, spec: &ListSpec, lists: &[Measured]) -> Result<Vec<u64>> {
    let owners: Vec<Bson> = lists
        .iter()
        .filter(|list| list.pages > 0)
        .map(|list| list.id.clone())
        .collect();
    if owners.is_empty() {
        return Ok(vec![0; lists.len()]);
    }
    if !engine.capabilities().document_sizes {
        let mut bytes = Vec::with_capacity(lists.len());
        for list in lists {
            bytes.push(page_bytes_one_by_one(engine, spec, list).await?);
        }
        return Ok(bytes);
    }
    let sums = vec![
        doc! { "$match": { "owner": { "$in": owners }, "relation": &*spec.path } },
        doc! { "$project": { "owner": 1, "born": 1, "bytes": { "$bsonSize": "$$ROOT" } } },
        doc! { "$group": {
            "_id": { "owner": "$owner", "born": "$born" }, "bytes": { "$sum": "$bytes" },
        } },
    ];
    let sums = engine.aggregate(&spec.pages, sums).await?;
    let key = |owner: &Bson, born: &Bson| format!("{owner} {born}");
    let sums: HashMap<String, u64> = sums
        .iter()
        .filter_map(|sum| {
            let list = sum.get_document("_id").ok()?;
            let born = list.get("born").unwrap_or(&Bson::Null);
            let bytes = fields::number(sum, "bytes").ok()?;
            Some((key(list.get("owner")?, born), bytes))
        })
        .collect();
    let bytes = |list: &Measured| match list.pages {
        0 => 0,
        _ => sums.get(&key(&list.id, &list.born)).copied().unwrap_or(0),
    };
    Ok(lists.iter().map(bytes).collect())
}

async fn page_bytes_one_by_one(engine: &dyn DocumentEngine, spec: &ListSpec, list: &Measured) -> Result<u64> {
    if list.pages == 0 {
        return Ok(0);
    }
    let (mut bytes, mut above) = (0, -1_i64);
    loop {
        let next = doc! {
            "owner": &list.id, "relation": &*spec.path, "born": &list.born,
            "page": { "$gt": above },
        };
        let find = Find::matching(next).sort(doc! { "page": 1 }).limit(1);
        let Some(page) = engine.find(&spec.pages, find).await?.into_iter().next() else {
            return Ok(bytes);
        };
        bytes += bytes_of(&page).unwrap_or(0) as u64;
        above = page.get_i64("page").unwrap_or(i64::MAX);
    }
}
