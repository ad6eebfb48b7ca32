//! Commands as values, and their answers.

use std::hash::{Hash, Hasher};

use bson::{Bson, Document};
use document::{Engine, Find, FindAndModify, Result, Update, Updated};

use crate::fingerprint::Fingerprint;

#[derive(Clone)]
pub(super) enum Command {
    Find(Find),
    Count(Document),
    Distinct(String, Document),
    Aggregate(Vec<Document>),
    Insert(Vec<Document>),
    Update(Update),
    FindAndModify(FindAndModify),
    Delete(Document, bool),
}

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Documents(Vec<Document>),
    Values(Vec<Bson>),
    Number(u64),
    Updated(Updated),
    Document(Option<Document>),
    Done,
}

impl Hash for Command {
    fn hash<H: Hasher>(&self, digest: &mut H) {
        std::mem::discriminant(self).hash(digest);
        match self {
            Self::Find(find) => find.add_to(digest),
            Self::Count(filter) => filter.add_to(digest),
            Self::Distinct(field, filter) => {
                field.hash(digest);
                filter.add_to(digest);
            }
            Self::Aggregate(documents) | Self::Insert(documents) => documents.add_to(digest),
            Self::Update(update) => update.add_to(digest),
            Self::FindAndModify(change) => change.add_to(digest),
            Self::Delete(filter, many) => {
                filter.add_to(digest);
                many.hash(digest);
            }
        }
    }
}

impl Command {
    pub(super) fn writes(&self) -> bool {
        !matches!(
            self,
            Self::Find(_) | Self::Count(_) | Self::Distinct(..) | Self::Aggregate(_)
        )
    }

    pub(super) async fn run(self, engine: &Engine, collection: &str) -> Result<Answer> {
        Ok(match self {
            Self::Find(find) => Answer::Documents(engine.find(collection, find).await?),
            Self::Count(filter) => Answer::Number(engine.count(collection, filter).await?),
            Self::Distinct(field, filter) => {
                Answer::Values(engine.distinct(collection, &field, filter).await?)
            }
            Self::Aggregate(pipeline) => Answer::Documents(engine.aggregate(collection, pipeline).await?),
            Self::Insert(documents) => {
                engine.insert(collection, documents).await?;
                Answer::Done
            }
            Self::Update(update) => Answer::Updated(engine.update(collection, update).await?),
            Self::FindAndModify(change) => {
                Answer::Document(engine.find_and_modify(collection, change).await?)
            }
            Self::Delete(filter, many) => Answer::Number(engine.delete(collection, filter, many).await?),
        })
    }
}
