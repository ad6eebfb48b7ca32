//! The three layouts, each with its own form of every operation.

use bson::{DateTime, Document, RawDocumentBuf, doc};
use document::{Engine, Error, Find, Result, Update};
use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, empty, lay_out, uuid_bson};
use uuid::Uuid;

use super::{HOUR, Held, Reading};
use crate::cast::FIRST;

/// How many readings a bucket or a head holds at most.
pub const MOST: usize = 200;

/// Our page is smaller than the head, so that a spill leaves the newest readings where readers look first.
const LIMITS: Limits = Limits {
    threshold: MOST,
    page_size: 160,
};

const READINGS: &str = "readings";
const SENSORS: &str = "sensors";
const PAGES: &str = "readingPages";
const SENSOR: &str = "kiln";
/// What tells this sensor from another of the same name.
const BORN: Uuid = Uuid::from_u128(1);

/// How the readings are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One document for each hour.
    Hours,
    /// The bucket pattern: as many documents for an hour as it needs, each with at most [`MOST`] readings.
    Buckets,
    /// The outlier pattern: the newest readings in the sensor's document, older ones in pages.
    HeadAndPages,
}

/// A sensor's readings in one layout.
pub(super) struct Sensor {
    layout: Layout,
    engine: Engine,
    lists: Lists,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hours, Self::Buckets, Self::HeadAndPages];

    /// The name used in the page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hours => "hours",
            Self::Buckets => "buckets",
            Self::HeadAndPages => "head-and-pages",
        }
    }

    pub(super) async fn open(self, engine: Engine) -> Result<Sensor> {
        let lists = Lists::new(ListSpec {
            owners: SENSORS.into(),
            path: READINGS.into(),
            pages: PAGES.into(),
            key: None,
            order: Order::default(),
            limits: LIMITS,
            head_bytes: None,
            largest_item: 200,
            read: Ok,
        });
        match self {
            Self::Hours | Self::Buckets => {
                let by_hour = document::Index::on(doc! { "sensor": 1, "hour": 1, "number": 1 });
                engine.create_index(READINGS, by_hour).await?;
            }
            Self::HeadAndPages => {
                lists.prepare(&engine).await?;
                let sensor = doc! { "_id": SENSOR, "born": uuid_bson(BORN), READINGS: empty() };
                engine.insert(SENSORS, vec![sensor]).await?;
            }
        }
        Ok(Sensor {
            layout: self,
            engine,
            lists,
        })
    }
}

impl Sensor {
    /// Stores many readings at once, the oldest first, in the form in which storing them one by one leaves them.
    pub(super) async fn load(&self, readings: &[Reading]) -> Result<()> {
        match self.layout {
            Layout::Hours | Layout::Buckets => {
                let mut documents = Vec::new();
                for hour in readings.chunk_by(|one, other| one.hour() == other.hour()) {
                    let most = match self.layout {
                        Layout::Buckets => MOST,
                        Layout::Hours | Layout::HeadAndPages => hour.len(),
                    };
                    documents.extend(
                        (0_i64..)
                            .zip(hour.chunks(most))
                            .map(|(number, held)| bucket(number, held)),
                    );
                }
                self.engine.insert(READINGS, documents).await
            }
            Layout::HeadAndPages => {
                let items = readings.iter().map(|reading| self.item(*reading));
                let items = items.collect::<Result<_>>()?;
                let stored = lay_out(self.lists.spec(), &owner(), BORN, items);
                self.engine.insert(PAGES, stored.pages).await?;
                let list = doc! { "$set": { READINGS: stored.list } };
                let sensor = doc! { "_id": SENSOR };
                self.engine
                    .update(SENSORS, Update::one(sensor, list))
                    .await
                    .map(drop)
            }
        }
    }

    /// Stores one more reading, as a program would.
    pub(super) async fn store(&self, reading: Reading) -> Result<()> {
        let hour = reading.hour();
        let push = |number: i64| {
            doc! {
                "$setOnInsert": { "sensor": SENSOR, "hour": hour, "number": number },
                "$push": { READINGS: stored(reading) },
                "$inc": { "count": 1_i64, "sum": reading.value },
            }
        };
        match self.layout {
            Layout::Hours => {
                let push = Update::one(doc! { "_id": name(hour, 0) }, push(0)).or_insert();
                self.engine.update(READINGS, push).await.map(drop)
            }
            Layout::Buckets => {
                let most = i64::try_from(MOST).unwrap_or(i64::MAX);
                let mut number = self.latest_bucket(hour).await?;
                loop {
                    let has_room = doc! { "_id": name(hour, number), "count": { "$lt": most } };
                    let push = Update::one(has_room, push(number)).or_insert();
                    match self.engine.update(READINGS, push).await {
                        // The bucket exists and is full: the upsert tried to create it a second time.
                        Err(Error::DuplicateKey { .. }) => number += 1,
                        done => return done.map(drop),
                    }
                }
            }
            Layout::HeadAndPages => {
                let item = self.item(reading)?;
                let list = self.lists.on(self.engine.clone());
                list.append(&owner(), item).await.map(drop)
            }
        }
    }

    /// The newest readings, newest first.
    pub(super) async fn newest(&self, limit: usize) -> Result<Vec<Reading>> {
        if self.layout == Layout::HeadAndPages {
            let list = self.lists.on(self.engine.clone());
            let read = list.newest_first(&owner(), None, limit).await?;
            return read.items.iter().map(|item| reading(item.document())).collect();
        }
        // A bucket may have just been begun, so one may not be enough.
        let mut buckets = 1;
        loop {
            let newest = Find::matching(doc! { "sensor": SENSOR })
                .sort(doc! { "hour": -1, "number": -1 })
                .limit(buckets);
            let newest = self.engine.find(READINGS, newest).await?;
            let mut found = Vec::new();
            for bucket in &newest {
                found.extend(readings_in(bucket)?.into_iter().rev());
            }
            if found.len() >= limit || (newest.len() as u64) < buckets {
                found.truncate(limit);
                return Ok(found);
            }
            buckets *= 2;
        }
    }

    /// All readings of an hour, which has about so many, the oldest first.
    pub(super) async fn hour(&self, hour: i64, about: i64) -> Result<Vec<Reading>> {
        if self.layout == Layout::HeadAndPages {
            let list = self.lists.on(self.engine.clone());
            let (from, to) = (FIRST + hour * HOUR, FIRST + (hour + 1) * HOUR);
            let mut next = Some(list.cursor_at(&owner(), to - 1));
            let mut found = Vec::new();
            // One more shows that the hour is over.
            let limit = usize::try_from(about + 1).unwrap_or(1);
            while let Some(cursor) = next {
                let read = list.newest_first(&owner(), Some(cursor), limit).await?;
                next = read.next;
                for item in &read.items {
                    if item.order().0 < from {
                        next = None;
                        break;
                    }
                    found.push(reading(item.document())?);
                }
            }
            found.reverse();
            return Ok(found);
        }
        let mut found = Vec::new();
        let of_hour = Find::matching(doc! { "sensor": SENSOR, "hour": hour });
        for bucket in self
            .engine
            .find(READINGS, of_hour.sort(doc! { "number": 1 }))
            .await?
        {
            found.extend(readings_in(&bucket)?);
        }
        Ok(found)
    }

    /// How many readings an hour has, and their sum.
    pub(super) async fn sum(&self, hour: i64, about: i64) -> Result<(i64, i64)> {
        if self.layout == Layout::HeadAndPages {
            let readings = self.hour(hour, about).await?;
            let count = i64::try_from(readings.len()).unwrap_or(i64::MAX);
            return Ok((count, readings.iter().map(|reading| reading.value).sum()));
        }
        let of_hour = Find::matching(doc! { "sensor": SENSOR, "hour": hour });
        let totals = of_hour.project(doc! { "count": 1, "sum": 1 });
        let mut all = (0, 0);
        for bucket in self.engine.find(READINGS, totals).await? {
            all.0 += number(&bucket, "count")?;
            all.1 += number(&bucket, "sum")?;
        }
        Ok(all)
    }

    /// The documents, the newest first.
    pub(super) async fn documents(&self) -> Result<Vec<Held>> {
        let mut held = Vec::new();
        if self.layout == Layout::HeadAndPages {
            for sensor in self.engine.find(SENSORS, Find::matching(doc! {})).await? {
                let list = sensor.get_document(READINGS);
                let newest = list.and_then(|list| list.get_array("head"));
                held.push(document(
                    "head".to_owned(),
                    (newest.map_or(0, Vec::len), MOST),
                    &sensor,
                )?);
            }
            let pages = Find::matching(doc! {}).sort(doc! { "page": -1 });
            for page in self.engine.find(PAGES, pages).await? {
                let items = page.get_array("items").map_or(0, Vec::len);
                held.push(document(
                    format!("page {}", number(&page, "page")?),
                    (items, LIMITS.page_size),
                    &page,
                )?);
            }
            return Ok(held);
        }
        let all = Find::matching(doc! {}).sort(doc! { "hour": -1, "number": -1 });
        for bucket in self.engine.find(READINGS, all).await? {
            let (hour, nth) = (number(&bucket, "hour")?, number(&bucket, "number")?);
            let name = match self.layout {
                Layout::Buckets => format!("{hour}:00, no. {}", nth + 1),
                Layout::Hours | Layout::HeadAndPages => format!("{hour}:00"),
            };
            held.push(document(name, (readings_in(&bucket)?.len(), MOST), &bucket)?);
        }
        Ok(held)
    }

    /// The number of the bucket of an hour that was made last. A program remembers it; after a restart, one covered look
    /// at the index finds it again.
    async fn latest_bucket(&self, hour: i64) -> Result<i64> {
        let latest = Find::matching(doc! { "sensor": SENSOR, "hour": hour })
            .sort(doc! { "number": -1 })
            .project(doc! { "_id": 0, "number": 1 })
            .limit(1);
        match self.engine.find(READINGS, latest).await?.first() {
            Some(bucket) => number(bucket, "number"),
            None => Ok(0),
        }
    }

    /// A reading as the item of a list. It needs an id, because a list holds no item twice.
    fn item(&self, reading: Reading) -> Result<Item> {
        let mut item = doc! { "id": uuid_bson(Uuid::from_u128(reading.at.unsigned_abs().into())) };
        item.extend(stored(reading));
        Item::new(item, &self.lists.spec().order)
    }
}

fn owner() -> Owner {
    Owner::new(SENSOR, SENSOR)
}

/// The `_id` of a bucket.
fn name(hour: i64, number: i64) -> String {
    format!("{SENSOR}/{hour}/{number}")
}

/// A bucket with these readings, which are of one hour.
fn bucket(number: i64, held: &[Reading]) -> Document {
    let hour = held.first().map_or(0, |first| first.hour());
    let readings: Vec<Document> = held.iter().map(|reading| stored(*reading)).collect();
    doc! {
        "_id": name(hour, number),
        "sensor": SENSOR,
        "hour": hour,
        "number": number,
        "count": i64::try_from(held.len()).unwrap_or(i64::MAX),
        "sum": held.iter().map(|reading| reading.value).sum::<i64>(),
        READINGS: readings,
    }
}

/// The stored form of a reading.
fn stored(reading: Reading) -> Document {
    doc! { "at": DateTime::from_millis(FIRST + reading.at), "value": reading.value }
}

fn reading(stored: &Document) -> Result<Reading> {
    let at = stored.get_datetime("at");
    let at = at.map_err(|_| Error::malformed("a reading has no date in `at`"))?;
    Ok(Reading {
        at: at.timestamp_millis() - FIRST,
        value: number(stored, "value")?,
    })
}

fn readings_in(bucket: &Document) -> Result<Vec<Reading>> {
    let readings = bucket.get_array(READINGS);
    let readings = readings.map_err(|_| Error::malformed("a bucket has no `readings`"))?;
    readings
        .iter()
        .filter_map(|one| one.as_document())
        .map(reading)
        .collect()
}

fn number(document: &Document, field: &str) -> Result<i64> {
    let value = document.get_i64(field);
    value.map_err(|_| Error::malformed(format!("`{field}` of a bucket is not a number of 64 bits")))
}

fn document(name: String, (readings, most): (usize, usize), document: &Document) -> Result<Held> {
    let bytes = RawDocumentBuf::try_from(document)?.as_bytes().len();
    Ok(Held {
        name,
        readings: readings as u64,
        most: most as u64,
        bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
    })
}
