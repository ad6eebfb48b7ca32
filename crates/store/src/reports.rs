//! Reports: what people tell the operator about somebody, a post or a comment. They are kept until the operator has
//! decided, or until the reporter or the person whom it is about leaves.

use bson::{DateTime, Document, doc};
use model::{Handle, Report, ReportTarget};

use crate::people::date;
use document::{DocumentEngine, Error, Find, Index, Result};

/// The collection of reports. `_id` is the reporter's handle, a space and the target, so somebody reports something
/// once.
pub const COLLECTION: &str = "reports";

/// The field with the handle of the person whom a report is about: the author, or the person themselves.
const ABOUT: &str = "about";

/// How many reports are read at a time.
const AT_ONCE: u64 = 500;

/// A report as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReport {
    /// Who sent it.
    pub by: Handle,
    /// Whom it is about: the author, or the person themselves.
    pub about: Handle,
    /// What it says.
    pub report: Report,
}

impl StoredReport {
    fn id(&self) -> String {
        format!("{} {}", self.by, self.report.target)
    }

    fn to_document(&self) -> Document {
        let Report { target, text, at } = &self.report;
        doc! {
            "_id": self.id(), "by": self.by.as_str(), ABOUT: self.about.as_str(), "target": target.to_string(),
            "text": text.as_str(), "at": DateTime::from_millis(at.millis()),
        }
    }

    fn from_document(document: &Document) -> Result<Self> {
        fn parsed<T: std::str::FromStr>(document: &Document, field: &str) -> Result<T> {
            let text = document.get_str(field).ok().and_then(|text| text.parse().ok());
            text.ok_or_else(|| Error::malformed(format!("a report's `{field}`")))
        }
        Ok(Self {
            by: parsed(document, "by")?,
            about: parsed(document, ABOUT)?,
            report: Report {
                target: parsed(document, "target")?,
                text: parsed(document, "text")?,
                at: date(document, "at")?,
            },
        })
    }
}

/// Creates the indexes that find the reports about a person and about a target.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    for field in [ABOUT, "target"] {
        engine
            .create_index(COLLECTION, Index::on(doc! { field: 1 }))
            .await?;
    }
    Ok(())
}

/// The reports of a store.
pub struct Reports<'a> {
    engine: &'a dyn DocumentEngine,
}

impl<'a> Reports<'a> {
    pub(crate) fn new(engine: &'a dyn DocumentEngine) -> Self {
        Self { engine }
    }

    /// Adds a report. Returns the one that is there: the first by this person about this target.
    pub async fn add(&self, new: StoredReport) -> Result<StoredReport> {
        let id = new.id();
        match self.engine.insert(COLLECTION, vec![new.to_document()]).await {
            Err(Error::DuplicateKey { .. }) => {
                let earlier = self.read(doc! { "_id": id }).await?.pop();
                // The operator has just decided about it.
                Ok(earlier.unwrap_or(new))
            }
            added => added.map(|()| new),
        }
    }

    /// How many reports a person has sent about which the operator has not decided.
    pub async fn count_by(&self, reporter: &Handle) -> Result<u64> {
        self.engine.count(COLLECTION, sent_by(reporter)).await
    }

    /// The reports that a person has sent, in the order of their targets.
    pub async fn by(&self, reporter: &Handle) -> Result<Vec<StoredReport>> {
        self.read(sent_by(reporter)).await
    }

    /// A stretch of all reports, from after this `_id`, and the `_id` of its last one; empty at the end.
    pub async fn after(&self, last: &str) -> Result<(Vec<StoredReport>, String)> {
        let reports = self.read(doc! { "_id": { "$gt": last } }).await?;
        let last = reports.last().map(StoredReport::id).unwrap_or_default();
        Ok((reports, last))
    }

    /// Removes every report about a target. Returns how many there were.
    pub async fn remove_on(&self, target: &ReportTarget) -> Result<u64> {
        let on_it = doc! { "target": target.to_string() };
        self.engine.delete(COLLECTION, on_it, true).await
    }

    /// Removes every report about a person, and about what they wrote. Returns how many there were.
    pub async fn remove_about(&self, person: &Handle) -> Result<u64> {
        let about = doc! { ABOUT: person.as_str() };
        self.engine.delete(COLLECTION, about, true).await
    }

    /// Removes these reports.
    pub async fn remove(&self, reports: &[StoredReport]) -> Result<()> {
        let ids: Vec<String> = reports.iter().map(StoredReport::id).collect();
        let these = doc! { "_id": { "$in": ids } };
        self.engine.delete(COLLECTION, these, true).await.map(drop)
    }

    /// Some of the reports by a person or about them; empty when there are none.
    pub(crate) async fn concerning(&self, person: &Handle) -> Result<Vec<StoredReport>> {
        let mut reports = self.read(sent_by(person)).await?;
        reports.extend(self.read(doc! { ABOUT: person.as_str() }).await?);
        Ok(reports)
    }

    async fn read(&self, filter: Document) -> Result<Vec<StoredReport>> {
        let find = Find::matching(filter).sort(doc! { "_id": 1 }).limit(AT_ONCE);
        let found = self.engine.find(COLLECTION, find).await?;
        found.iter().map(StoredReport::from_document).collect()
    }
}

/// The reports by a person: a range of `_id`, in which no other handle begins like this one and a space.
fn sent_by(reporter: &Handle) -> Document {
    doc! { "_id": { "$gte": format!("{reporter} "), "$lt": format!("{reporter}!") } }
}
