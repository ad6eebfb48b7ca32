//! An engine that checks every write like a sharded cluster with validators.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, Document};
use document::{Change, Engine, Error, Find, FindAndModify, Index, Layer, Result, Update, Updated};
use embedded::Embedded;
use store::sharding::{PLAN, ShardKey};

use crate::checker::mismatch;

/// Panics at a write that a cluster would send to every shard or refuse, and at a document that a validator rejects.
pub struct Watched {
    /// The engine below, for commands that are not to be checked.
    pub engine: Engine,
    /// The indexes that were requested.
    pub indexes: Mutex<Vec<(String, Index)>>,
    validators: Mutex<HashMap<String, Document>>,
}

impl Watched {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            engine: Arc::new(Embedded::in_memory().unwrap()),
            indexes: Mutex::default(),
            validators: Mutex::default(),
        })
    }

    /// The validator's objection to a document of a collection, if any.
    pub fn objection(&self, collection: &str, document: &Document) -> Option<String> {
        let validators = self.validators.lock().unwrap();
        let schema = validators.get(collection)?.get_document("$jsonSchema").unwrap();
        mismatch(schema, &Bson::Document(document.clone()), "")
    }

    fn validate(&self, collection: &str, document: &Document) {
        if let Some(objection) = self.objection(collection, document) {
            panic!("{collection}: {objection} in {document}");
        }
    }

    /// Checks the document that a write changed: others may have changed it since, but to something as valid.
    async fn validate_one(&self, collection: &str, filter: &Document) -> Result<()> {
        let Some(key) = key_of(collection) else {
            return Ok(());
        };
        let one: Document = key
            .fields()
            .map(|field| (field.to_owned(), filter.get(field).cloned().unwrap()))
            .collect();
        for document in self.engine.find(collection, Find::matching(one)).await? {
            self.validate(collection, &document);
        }
        Ok(())
    }
}

/// The shard key of a collection; `None` if the feed does not have that collection.
pub fn key_of(collection: &str) -> Option<ShardKey> {
    PLAN.into_iter().find(|key| key.collection == collection)
}

/// Checks that the filter of a single-document write leads to one shard.
fn is_targeted(collection: &str, filter: &Document) {
    let Some(key) = key_of(collection) else { return };
    for field in key.fields() {
        let by_equality = match filter.get(field) {
            None => false,
            Some(Bson::Document(tests)) => tests.keys().all(|test| !test.starts_with('$')),
            Some(_) => true,
        };
        assert!(by_equality, "{collection}: {filter} does not name {field}");
    }
}

/// Checks that a change does not modify the shard key.
fn leaves_key(collection: &str, change: &Change) {
    let Some(key) = key_of(collection) else { return };
    let parts: Vec<&Document> = match change {
        Change::Operators(operators) | Change::Elements(operators, _) => operators
            .values()
            .map(|fields| fields.as_document().unwrap())
            .collect(),
        Change::Pipeline(stages) => stages
            .iter()
            .flat_map(Document::values)
            .filter_map(Bson::as_document)
            .collect(),
        Change::Replacement { document, .. } => vec![document],
    };
    for path in parts.into_iter().flat_map(Document::keys) {
        let field = path.split('.').next().unwrap();
        assert!(
            key.fields().all(|of_key| of_key != field),
            "{collection}: {change:?} changes {field}"
        );
    }
}

#[async_trait]
impl Layer for Watched {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        for document in &documents {
            for field in key_of(collection).iter().flat_map(ShardKey::fields) {
                assert!(
                    document.contains_key(field),
                    "{collection}: {document} lacks {field}"
                );
            }
            self.validate(collection, document);
        }
        self.engine.insert(collection, documents).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let (many, filter) = (update.many, update.filter.clone());
        if !many {
            is_targeted(collection, &filter);
        }
        leaves_key(collection, &update.update);
        let done = self.engine.update(collection, update).await?;
        if many {
            for document in self.engine.find(collection, Find::default()).await? {
                self.validate(collection, &document);
            }
        } else {
            self.validate_one(collection, &filter).await?;
        }
        Ok(done)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let filter = change.filter.clone();
        is_targeted(collection, &filter);
        leaves_key(collection, &change.update);
        let found = self.engine.find_and_modify(collection, change).await?;
        self.validate_one(collection, &filter).await?;
        Ok(found)
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        if !many {
            is_targeted(collection, &filter);
        }
        self.engine.delete(collection, filter, many).await
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        self.indexes
            .lock()
            .unwrap()
            .push((collection.to_owned(), index.clone()));
        self.engine.create_index(collection, index).await
    }

    async fn set_validator(&self, collection: &str, validator: Document) -> Result<()> {
        let mut validators = self.validators.lock().unwrap();
        validators.insert(collection.to_owned(), validator);
        Ok(())
    }
}

/// An engine that answers requests for validators like a server that has none.
pub struct Unvalidating(pub Engine);

#[async_trait]
impl Layer for Unvalidating {
    fn below(&self) -> &Engine {
        &self.0
    }

    async fn set_validator(&self, _: &str, _: Document) -> Result<()> {
        Err(Error::refused(59, "no such command: 'collMod'"))
    }
}
