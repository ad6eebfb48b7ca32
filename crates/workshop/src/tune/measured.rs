//! A list that is laid out up to a full head, and appended to until the head is full once more. The cost is read
//! from its documents, so that it can be measured on any engine.

use articles::{Layout, Overflow};
use bson::{Document, RawDocumentBuf, doc};
use document::Result;
use document::trace::{Read, reads};
use document::{Engine, Find};
use model::{PostId, Relation, Topic, View};
use store::inspect::{InspectedOwner, Purpose};
use store::overflow::PAGES;

use super::{SCREEN, Tuning};
use crate::Stage;
use crate::report::TunedCost;

/// The documents of a list, as the inspector shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    /// The owner.
    pub owner: InspectedOwner,
    /// The pages, by their numbers.
    pub pages: Vec<Document>,
}

/// A list from one full head to the next.
pub(super) struct Measuring {
    tuning: Tuning,
    layout: Overflow,
    appended: usize,
    written: u64,
    first_page: Vec<Read>,
}

impl Measuring {
    /// Lays the list out up to a full head, in the collections of this engine.
    pub(super) async fn lay_out(tuning: Tuning, engine: Engine) -> Result<Self> {
        let layout = Overflow::open(engine, tuning.limits).await?;
        let items = (0..tuning.laid_out())
            .map(|nth| tuning.nth(nth))
            .collect::<Result<_>>()?;
        layout.load(Stage::owner(), items).await?;
        Ok(Self {
            tuning,
            layout,
            appended: 0,
            written: 0,
            first_page: Vec::new(),
        })
    }

    /// Appends one more item; false when the head is full again.
    pub(super) async fn append(&mut self) -> Result<bool> {
        if self.appended == self.tuning.chunk() {
            return Ok(false);
        }
        let item = self.tuning.nth(self.tuning.laid_out() + self.appended)?;
        self.layout.append(Stage::owner(), item).await?;
        self.written += whole(&self.layout).await?.bytes.total();
        if self.appended == 0 {
            // The head was full, so this append spilled, and that wrote a page.
            let spilled = pages(&self.layout).await?.pop();
            self.written += spilled.map_or(Ok(0), |page| size(&page))?;
            let (read, commands) = reads(self.layout.first_page(Stage::owner(), SCREEN)).await;
            read?;
            self.first_page = commands;
        }
        self.appended += 1;
        Ok(true)
    }

    /// What all of it cost, and the documents.
    pub(super) async fn end(self) -> Result<(TunedCost, Documents)> {
        let documents = Documents {
            owner: whole(&self.layout).await?,
            pages: pages(&self.layout).await?,
        };
        let pages = documents.pages.iter().map(size).collect::<Result<Vec<_>>>()?;
        // An engine that only counts its answers measures something else.
        let counted = self.first_page.iter().all(|read| read.entries.is_some());
        let total = |of: fn(&Read) -> u64| counted.then(|| self.first_page.iter().map(of).sum());
        let parts = documents.owner.bytes.parts().iter();
        let list = parts.filter(|part| {
            [Purpose::Head(Relation::Likes), Purpose::Rest(Relation::Likes)].contains(&part.purpose)
        });
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        let written = self.written as f64 / self.appended as f64;
        let cost = TunedCost {
            owner_bytes: documents.owner.bytes.total(),
            list_bytes: list.map(|part| part.bytes).sum(),
            page_bytes: pages.into_iter().max().unwrap_or(0),
            written,
            first_page_documents: total(|read| read.documents),
            first_page_bytes: total(|read| read.bytes),
            seams: seams(&self.layout, Stage::owner()).await?,
            as_predicted: false,
        };
        let as_predicted = self.tuning.predicted().agrees_with(&cost);
        Ok((TunedCost { as_predicted, ..cost }, documents))
    }
}

async fn whole(layout: &Overflow) -> Result<InspectedOwner> {
    layout
        .store()
        .inspect_owner(&Topic::Post(Stage::owner()), View::Own)
        .await
}

async fn pages(layout: &Overflow) -> Result<Vec<Document>> {
    let by_number = Find::default().sort(doc! { "page": 1 });
    layout.store().engine().find(PAGES, by_number).await
}

fn size(document: &Document) -> Result<u64> {
    Ok(RawDocumentBuf::try_from(document)?.as_bytes().len() as u64)
}

/// Reads the list to its end and counts the seams.
async fn seams(layout: &Overflow, owner: PostId) -> Result<u64> {
    let list = layout.store().list(Relation::Likes);
    let (mut seams, mut after) = (0, None);
    loop {
        let stretch = list.newest_first(&Topic::Post(owner), after, 100).await?;
        seams += stretch.seams.len() as u64;
        let Some(next) = stretch.next else {
            return Ok(seams);
        };
        after = Some(next);
    }
}
