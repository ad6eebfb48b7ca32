//! The port's operations, one command each.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bson::raw::RawDocumentBuf;
use bson::{Bson, DateTime, Document, doc};
use document::trace::{self, Read};
use document::{
    Attempts, Capabilities, Change, Changes, Consistency, DocumentEngine, Engine, Error, Find, FindAndModify,
    Index, Result, Return, Update, Updated,
};
use futures::TryStreamExt;
use mongodb::IndexModel;
use mongodb::options::{
    FindOneAndUpdateOptions, FindOptions, IndexOptions, ReturnDocument, UpdateModifications, UpdateOptions,
};

use crate::Mongo;
use crate::fault::{Kind, Meaning, meaning, unanswered};
use crate::identity::{check_upsert, insertable};
use crate::session::send;
use crate::validator;

/// How long a change to one document, or reading a few, may take before it counts as lost. The driver itself would
/// wait for as long as the connection seems to be open.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How many documents to fetch at a time, at most.
const BATCH: u32 = 1000;

/// The beginning of 2020, in milliseconds since 1970. A server that reports an earlier time has no trustworthy clock.
const NO_CLOCK_BEFORE: i64 = 1_577_836_800_000;

/// Why the command was not sent.
const LOST: &str = "the MongoDB server has gone and is not back yet";

impl Mongo {
    /// Runs a command until it no longer conflicts with another one. The server already retries by itself, so this is
    /// for the rare moment when it gave up.
    pub(crate) async fn settled<T, F>(
        &self,
        collection: &str,
        kind: Kind,
        command: impl Fn() -> F,
    ) -> Result<T>
    where
        F: Future<Output = mongodb::error::Result<T>>,
    {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            match self.answer(kind, command()).await? {
                Ok(answer) => return Ok(answer),
                Err(failure) => match meaning(collection, kind, &failure) {
                    Meaning::Conflict => {}
                    Meaning::Failed(error) => return Err(error),
                },
            }
        }
        Err(Error::Contended(format!("the collection {collection}")))
    }

    /// The same with a time limit, for commands that are quick for a server: changing one document, or reading a few.
    async fn soon<T, F>(&self, collection: &str, kind: Kind, command: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = mongodb::error::Result<T>>,
    {
        tokio::time::timeout(TIMEOUT, self.settled(collection, kind, command))
            .await
            .unwrap_or_else(|_| Err(unanswered(kind, format!("no answer within {TIMEOUT:?}"))))
    }

    /// Runs a write with a time limit, unless it may change many documents.
    async fn written<T, F>(&self, collection: &str, many: bool, command: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = mongodb::error::Result<T>>,
    {
        if many {
            self.settled(collection, Kind::Write, command).await
        } else {
            self.soon(collection, Kind::Write, command).await
        }
    }

    /// The driver's result of one command, as long as there is a server to answer it.
    async fn answer<T>(&self, kind: Kind, command: impl Future<Output = T>) -> Result<T> {
        if self.presence.is_lost() {
            return Err(Error::Unavailable(LOST.to_owned()));
        }
        tokio::select! {
            biased;
            answer = command => Ok(answer),
            () = self.presence.lost() => Err(unanswered(kind, LOST)),
        }
    }
}

fn modifications(change: &Change) -> Result<UpdateModifications> {
    match change {
        Change::Operators(operators) | Change::Elements(operators, _) => {
            if operators
                .keys()
                .next()
                .is_none_or(|first| !first.starts_with('$'))
            {
                return Err(no_replacement());
            }
            Ok(UpdateModifications::Document(operators.clone()))
        }
        Change::Replacement { .. } => Err(no_replacement()),
        Change::Pipeline(stages) => Ok(UpdateModifications::Pipeline(stages.clone())),
    }
}

fn no_replacement() -> Error {
    Error::refused(9, "whole-document replacement is not supported")
}

/// The elements of arrays that the paths of a change name.
fn array_filters(change: &Change) -> Option<Vec<Document>> {
    match change {
        Change::Elements(_, filters) => Some(filters.clone()),
        Change::Operators(_) | Change::Pipeline(_) | Change::Replacement { .. } => None,
    }
}

/// `None` for an empty document, which as an option means something else than a missing one.
fn given(document: &Document) -> Option<Document> {
    (!document.is_empty()).then(|| document.clone())
}

/// What a trace can record of a query: the server reports what it returns, not what it reads.
fn answered(collection: &str, found: &[RawDocumentBuf]) -> Read {
    let bytes = |document: &RawDocumentBuf| document.as_bytes().len() as u64;
    Read {
        collection: collection.to_owned(),
        documents: found.len() as u64,
        bytes: found.iter().map(bytes).sum(),
        entries: None,
    }
}

#[async_trait]
impl DocumentEngine for Mongo {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let found = self.find_raw(collection, find).await?;
        found
            .iter()
            .map(|document| Ok(Document::try_from(document)?))
            .collect()
    }

    async fn find_raw(&self, collection: &str, find: Find) -> Result<Vec<RawDocumentBuf>> {
        let limit = i64::try_from(find.limit).unwrap_or(i64::MAX);
        let batch = u32::try_from(find.limit).unwrap_or(BATCH);
        let options = FindOptions::builder()
            .projection(given(&find.projection))
            .sort(given(&find.sort))
            .skip(find.skip)
            .limit(limit)
            .batch_size(if batch == 0 { BATCH } else { batch.min(BATCH) })
            .build();
        let target = self.database.collection::<RawDocumentBuf>(collection);
        let ask = || async {
            let found = target.find(find.filter.clone()).with_options(options.clone());
            match self.in_session().await? {
                Some(mut session) => {
                    let mut cursor = found.session(&mut *session).await?;
                    cursor.stream(&mut session).try_collect().await
                }
                None => found.await?.try_collect().await,
            }
        };
        let found: Vec<RawDocumentBuf> = if batch != 0 && batch <= BATCH {
            self.soon(collection, Kind::Read, ask).await?
        } else {
            self.settled(collection, Kind::Read, ask).await?
        };
        trace::note(|| answered(collection, &found));
        Ok(found)
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        let target = self.collection(collection);
        self.settled(collection, Kind::Read, || async {
            send!(self, target.count_documents(filter.clone()))
        })
        .await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        let target = self.collection(collection);
        self.settled(collection, Kind::Read, || async {
            send!(self, target.distinct(field, filter.clone()))
        })
        .await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let target = self.collection(collection);
        self.settled(collection, Kind::Read, || async {
            let command = target.aggregate(pipeline.clone());
            match self.in_session().await? {
                Some(mut session) => {
                    let mut cursor = command.session(&mut *session).await?;
                    cursor.stream(&mut session).try_collect().await
                }
                None => command.await?.try_collect().await,
            }
        })
        .await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let mut ready = Vec::with_capacity(documents.len());
        let mut refused = None;
        for document in &documents {
            match insertable(document) {
                Ok(document) => ready.push(document),
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        if !ready.is_empty() {
            let target = self.database.collection::<RawDocumentBuf>(collection);
            let outcome = self
                .settled(collection, Kind::Write, || async {
                    send!(self, target.insert_many(&ready).ordered(true))
                })
                .await;
            match outcome {
                Ok(_) => {}
                // The driver may have sent some of them already.
                Err(Error::Unavailable(why)) if ready.len() > 1 => return Err(Error::UnknownOutcome(why)),
                Err(error) => return Err(error),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        if update.upsert {
            check_upsert(&update.filter, &update.update)?;
        }
        let change = modifications(&update.update)?;
        let options = UpdateOptions::builder()
            .upsert(update.upsert)
            .array_filters(array_filters(&update.update))
            .build();
        let target = self.collection(collection);
        let send = || async {
            let (filter, change) = (update.filter.clone(), change.clone());
            let sent = if update.many {
                target.update_many(filter, change)
            } else {
                target.update_one(filter, change)
            };
            send!(self, sent.with_options(options.clone()))
        };
        let answer = self.written(collection, update.many, send).await?;
        Ok(Updated {
            matched: answer.matched_count,
            modified: answer.modified_count,
            upserted: answer.upserted_id,
        })
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        if change.upsert {
            check_upsert(&change.filter, &change.update)?;
        }
        let update = modifications(&change.update)?;
        let options = FindOneAndUpdateOptions::builder()
            .sort(given(&change.sort))
            .projection(given(&change.projection))
            .upsert(change.upsert)
            .array_filters(array_filters(&change.update))
            .return_document(match change.returning {
                Return::Before => ReturnDocument::Before,
                Return::After => ReturnDocument::After,
            })
            .build();
        let target = self.collection(collection);
        self.soon(collection, Kind::Write, || async {
            let sent = target.find_one_and_update(change.filter.clone(), update.clone());
            send!(self, sent.with_options(options.clone()))
        })
        .await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let target = self.collection(collection);
        let send = || async {
            let sent = if many {
                target.delete_many(filter.clone())
            } else {
                target.delete_one(filter.clone())
            };
            send!(self, sent)
        };
        Ok(self.written(collection, many, send).await?.deleted_count)
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        let options = IndexOptions::builder()
            .name(index.name())
            .unique(index.unique.then_some(true))
            .partial_filter_expression(given(&index.partial))
            .expire_after(
                index
                    .expire_after
                    .map(|seconds| Duration::from_secs(seconds.into())),
            )
            .build();
        let model = IndexModel::builder().keys(index.keys).options(options).build();
        let target = self.collection(collection);
        self.settled(collection, Kind::Write, || async {
            target.create_index(model.clone()).await
        })
        .await?;
        Ok(())
    }

    async fn set_validator(&self, collection: &str, validator: Document) -> Result<()> {
        validator::set(self, collection, &validator).await
    }

    async fn collections(&self) -> Result<Vec<String>> {
        self.soon("", Kind::Read, || async {
            self.database.list_collection_names().await
        })
        .await
    }

    async fn ping(&self) -> Result<()> {
        let ping = || async { self.database.run_command(doc! { "ping": 1 }).await };
        self.soon("", Kind::Read, ping).await.map(drop)
    }

    /// The clock of the primary, or of a router.
    async fn clock(&self) -> Result<Option<DateTime>> {
        let admin = self.database.client().database("admin");
        let hello = self
            .soon("", Kind::Read, || async {
                admin.run_command(doc! { "hello": 1 }).await
            })
            .await?;
        let says = hello.get_datetime("localTime").ok().copied();
        Ok(says.filter(|time| time.timestamp_millis() > NO_CLOCK_BEFORE))
    }

    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        self.follow(collections).await
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn session(&self) -> Option<Engine> {
        let begins = self.session.is_none() && self.capabilities.consistency == Consistency::Causal;
        begins.then(|| {
            Arc::new(Self {
                session: Some(Arc::default()),
                ..self.clone()
            }) as Engine
        })
    }
}
