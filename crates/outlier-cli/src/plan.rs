//! What adopting the arrays of a collection would do: every array is read once, and nothing is written.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bson::{Bson, Document, RawDocumentBuf, doc};
use futures::TryStreamExt as _;
use outlier::describe::Description;
use outlier::tune::{ItemSizes, advise};
use outlier::verdict::{BUDGET, SCREEN, THRESHOLD};
use outlier::{Limits, ListSpec, plain, value_at};

use crate::place::Opened;
use crate::text::{grouped, size};

/// How many documents to fetch at a time, at most. The server also ends a batch at 16 MB.
const BATCH: u32 = 200;
/// Items of up to this many bytes are counted by their exact size.
const SIZES: usize = 65_536;
/// How many elements that cannot be items to name.
const EXAMPLES: usize = 5;
/// What a head or a page may have even if all of its items are as large as the largest.
const WORST: usize = 8 * 1024 * 1024;
/// How large an item may be even if all that were met are smaller.
const ITEM: usize = 16 * 1024;

/// What was read.
#[derive(Debug)]
pub struct Plan {
    pub documents: u64,
    /// The lengths of the arrays.
    pub lengths: Vec<u32>,
    pub items: u64,
    /// The items with what they get when they become items, in bytes of BSON.
    pub bytes: u64,
    /// Documents that have a list already, nothing or null, and something else.
    pub lists: u64,
    pub missing: u64,
    pub other: u64,
    /// Documents where the path leads into another array.
    pub inside: u64,
    /// Documents with a field `born`.
    pub born: u64,
    /// Arrays whose order is not the one that was asked for.
    pub unsorted: u64,
    pub unfit: u64,
    examples: Vec<String>,
    ids: BTreeSet<&'static str>,
    sizes: Vec<u64>,
    largest_item: usize,
    /// How long it took to read everything.
    pub took: Duration,
}

impl Plan {
    /// Reads every document's array. Only the order and the key of the spec matter.
    ///
    /// # Errors
    /// Why the server did not answer.
    pub async fn read(opened: &Opened<'_>, spec: &ListSpec) -> Result<Self, String> {
        let began = Instant::now();
        let mut plan = Self {
            documents: 0,
            lengths: Vec::new(),
            items: 0,
            bytes: 0,
            lists: 0,
            missing: 0,
            other: 0,
            inside: 0,
            born: 0,
            unsorted: 0,
            unfit: 0,
            examples: Vec::new(),
            ids: BTreeSet::new(),
            sizes: vec![0; SIZES],
            largest_item: 0,
            took: Duration::ZERO,
        };
        let collection = opened.collection();
        let found = collection.find(doc! {}).batch_size(BATCH);
        let fields = doc! { "born": 1, &*spec.path: 1 };
        let read = async {
            let mut found = found.projection(fields).await?;
            while let Some(document) = found.try_next().await? {
                plan.document(&document, spec);
            }
            Ok(())
        };
        let read: mongodb::error::Result<()> = read.await;
        read.map_err(|error| opened.fault(&error.into()))?;
        plan.took = began.elapsed();
        Ok(plan)
    }

    fn document(&mut self, document: &Document, spec: &ListSpec) {
        self.documents += 1;
        self.ids.insert(document.get("_id").map_or("", type_of));
        self.born += u64::from(document.contains_key("born"));
        match value_at(document, &spec.path) {
            Some(Bson::Array(array)) => {
                let id = document.get("_id").map(ToString::to_string).unwrap_or_default();
                self.array(&id, array, spec);
            }
            Some(Bson::Document(list)) if list.contains_key("rev") && list.contains_key("head") => {
                self.lists += 1;
            }
            Some(Bson::Null) => self.missing += 1,
            Some(_) => self.other += 1,
            None if leads_into_an_array(document, &spec.path) => self.inside += 1,
            None => self.missing += 1,
        }
    }

    fn array(&mut self, id: &str, array: &[Bson], spec: &ListSpec) {
        self.lengths.push(u32::try_from(array.len()).unwrap_or(u32::MAX));
        let elements = plain::elements(spec, array);
        for (place, why) in &elements.unfit {
            self.unfit += 1;
            if self.examples.len() < EXAMPLES {
                self.examples.push(format!("{id} `{}.{place}`: {why}", spec.path));
            }
        }
        self.unsorted += u64::from(!elements.items.is_sorted_by_key(outlier::Item::order));
        for item in &elements.items {
            let bytes = RawDocumentBuf::try_from(item.document()).map_or(0, |raw| raw.as_bytes().len());
            self.items += 1;
            self.bytes += bytes as u64;
            self.sizes[bytes.min(SIZES - 1)] += 1;
            self.largest_item = self.largest_item.max(bytes);
        }
    }

    /// Why these arrays cannot become lists, and the way round.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self, opened: &Opened<'_>) -> Result<&'static str, String> {
        let refuse = |why: String| Err(format!("{opened} cannot be adopted: {why}"));
        if self.inside > 0 {
            return refuse(format!(
                "in {} documents the path leads into another array, where it cannot overflow. Make the elements of that \
                 array documents of their own first",
                grouped(self.inside)
            ));
        }
        if self.lengths.is_empty() && self.lists == 0 {
            return refuse(format!(
                "none of {} documents has an array there; {} have something else. Look at --path; `outlier scan` lists \
                 all arrays",
                grouped(self.documents),
                grouped(self.other)
            ));
        }
        if self.born > 0 {
            return refuse(format!(
                "{} documents have a field `born`, which belongs to the list format: a UUID that distinguishes a \
                 document from an earlier one with the same `_id`. Rename that field first",
                grouped(self.born)
            ));
        }
        let mut ids = self.ids.iter();
        match (ids.next(), ids.next()) {
            (Some(&""), _) => refuse(
                "an `_id` is of a type that has no order of its own. Give such documents another `_id`"
                    .to_owned(),
            ),
            (Some(one), None) => Ok(one),
            _ => {
                let ids: Vec<&str> = self.ids.iter().copied().collect();
                refuse(format!(
                    "its documents have `_id`s of different types ({}), and pages are found by them. Give all documents \
                     `_id`s of one type",
                    ids.join(", ")
                ))
            }
        }
    }

    /// Refuses if there are elements that cannot be items.
    ///
    /// # Errors
    /// Some of them, and what to do.
    pub fn check_elements(&self, opened: &Opened<'_>) -> Result<(), String> {
        if self.unfit == 0 {
            return Ok(());
        }
        Err(format!(
            "{opened} cannot be adopted: {} elements cannot be items, for instance\n  {}\nMend them, or choose another \
             --order-by or --key. Nothing was changed",
            grouped(self.unfit),
            self.examples.join("\n  ")
        ))
    }

    /// The sizes of the items.
    pub fn sizes(&self) -> ItemSizes {
        let percentile = |percent: u64| {
            let rank = (self.items * percent).div_ceil(100).max(1);
            let mut seen = 0;
            let found = self.sizes.iter().position(|items| {
                seen += items;
                seen >= rank
            });
            found.unwrap_or(0) as u64
        };
        ItemSizes {
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max: self.largest_item as u64,
        }
    }

    /// The most bytes that an item may have from now on.
    ///
    /// # Errors
    /// When a head of so many bytes would have no room for the largest item.
    pub fn largest_item(&self, head_bytes: Option<usize>) -> Result<usize, String> {
        let most = self.largest_item.saturating_mul(2).clamp(ITEM, WORST);
        match head_bytes {
            Some(bytes) if bytes < self.largest_item => Err(format!(
                "--head-bytes has to be at least {}, the size of the largest item",
                self.largest_item
            )),
            Some(bytes) => Ok(most.min(bytes)),
            None => Ok(most.max(self.largest_item)),
        }
    }

    /// The limits that fit these items, unless others are asked for.
    ///
    /// # Errors
    /// When a full head or page of the largest items would come near to 16 MB.
    pub fn limits(
        &self,
        threshold: Option<usize>,
        page_size: Option<usize>,
        head_bytes: Option<usize>,
    ) -> Result<Limits, String> {
        let fits = match head_bytes {
            Some(_) => usize::MAX,
            None => (WORST / self.largest_item.max(1)).max(1),
        };
        let most = usize::try_from(THRESHOLD).unwrap_or(usize::MAX);
        let advice = advise(BUDGET, self.sizes(), SCREEN, most.min(fits));
        let limits = Limits {
            threshold: threshold.unwrap_or(advice.threshold),
            page_size: page_size.unwrap_or(match threshold {
                Some(threshold) => (threshold * 3).div_ceil(4),
                None => advice.page_size,
            }),
        };
        if limits.threshold.max(limits.page_size) > fits {
            return Err(format!(
                "--threshold and --page-size may be at most {fits} without --head-bytes, because the largest item has {}",
                size(self.largest_item as u64)
            ));
        }
        Ok(limits)
    }

    /// How many pages these limits take.
    pub fn pages(&self, limits: Limits) -> u64 {
        let pages = |length: &u32| {
            let (mut rest, mut pages) = (*length as usize, 0);
            while rest >= limits.threshold {
                rest -= limits.chunk(rest);
                pages += 1;
            }
            pages
        };
        self.lengths.iter().map(pages).sum()
    }
}

/// The description of lists that do not exist yet.
pub fn draft(opened: &Opened<'_>, order_by: Option<&str>, key: Option<&str>) -> Description {
    let (collection, path) = (&opened.place.collection, &opened.place.path);
    Description {
        spec: ListSpec {
            owners: collection.clone().into(),
            path: path.clone().into(),
            pages: format!("{collection}.{path}.pages").into(),
            key: key.map(|key| key.to_owned().into()),
            order: outlier::Order {
                at: order_by.unwrap_or(plain::AT).to_owned().into(),
                by: outlier::OrderBy::Date,
                id: plain::ID.into(),
            },
            limits: Limits {
                threshold: 1,
                page_size: 1,
            },
            head_bytes: None,
            largest_item: ITEM,
            read: Ok,
        },
        ids: "objectId",
        undoing: false,
    }
}

/// The type of an `_id` as a description names it; empty if owners cannot have it.
fn type_of(id: &Bson) -> &'static str {
    match id {
        Bson::ObjectId(_) => "objectId",
        Bson::String(_) => "string",
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => "number",
        Bson::Binary(_) => "binData",
        Bson::DateTime(_) => "date",
        Bson::Boolean(_) => "bool",
        Bson::Document(_) => "object",
        _ => "",
    }
}

fn leads_into_an_array(document: &Document, path: &str) -> bool {
    let prefixes = path.match_indices('.').map(|(end, _)| &path[..end]);
    prefixes
        .into_iter()
        .any(|prefix| matches!(value_at(document, prefix), Some(Bson::Array(_))))
}
