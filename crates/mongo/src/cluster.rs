//! A sharded cluster, through one of its routers (mongos).

use bson::{Bson, Document, doc};
use document::{Error, Result};
use mongodb::IndexModel;
use mongodb::options::ConnectionString;

use crate::fault::Kind;
use crate::{ConnectError, Mongo};

/// A sharded cluster.
pub struct Cluster<'a> {
    mongo: &'a Mongo,
}

/// What happened to a collection that was to be sharded.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharded {
    /// It was sharded now.
    Now,
    /// It was sharded before, by the same key.
    Before,
    /// It was sharded before, by another key, and was left so.
    Otherwise(Document),
}

impl Mongo {
    /// The cluster behind this address; `None` when it leads to a single server or a replica set.
    pub async fn cluster(&self) -> Result<Option<Cluster<'_>>> {
        let hello = self.command("admin", doc! { "hello": 1 }).await?;
        let router = hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid");
        Ok(router.then_some(Cluster { mongo: self }))
    }

    async fn command(&self, database: &str, command: Document) -> Result<Document> {
        let database = self.database.client().database(database);
        self.settled("", Kind::Write, || async {
            database.run_command(command.clone()).await
        })
        .await
    }
}

impl Cluster<'_> {
    /// Shards a collection by a key, unless it is sharded already. It may be called again, even after it was
    /// interrupted.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's reason, for instance that this user lacks the permission.
    pub async fn shard(&self, collection: &str, key: &Document) -> Result<Sharded> {
        let namespace = format!("{}.{collection}", self.mongo.database.name());
        match self.key_of(&namespace).await? {
            Some(standing) if same(&standing, key) => return Ok(Sharded::Before),
            Some(standing) => return Ok(Sharded::Otherwise(standing)),
            None => {}
        }
        // A collection with documents must have the index of its key before.
        let index = IndexModel::builder().keys(key.clone()).build();
        let target = self.mongo.collection(collection);
        self.mongo
            .settled(collection, Kind::Write, || async {
                target.create_index(index.clone()).await
            })
            .await?;
        let command = doc! { "shardCollection": &namespace, "key": key };
        match self.mongo.command("admin", command).await {
            Ok(_) => Ok(Sharded::Now),
            Err(error @ Error::Refused { .. }) => match self.key_of(&namespace).await? {
                // Another process was faster.
                Some(standing) if same(&standing, key) => Ok(Sharded::Before),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// The key by which a collection is sharded.
    async fn key_of(&self, namespace: &str) -> Result<Option<Document>> {
        let config = self.mongo.database.client().database("config");
        let collections = config.collection::<Document>("collections");
        let filter = doc! { "_id": namespace, "dropped": { "$ne": true } };
        let found = self
            .mongo
            .settled("config.collections", Kind::Read, || async {
                collections.find_one(filter.clone()).await
            })
            .await?;
        Ok(found.and_then(|found| found.get_document("key").ok().cloned()))
    }
}

/// Whether two keys have the same fields in the same order and direction; a shell may have written 1 as 1.0.
fn same(standing: &Document, key: &Document) -> bool {
    let parts = |key: &Document| -> Vec<(String, Option<String>)> {
        key.iter()
            .map(|(field, way)| {
                let hashed = match way {
                    Bson::String(kind) => Some(kind.clone()),
                    _ => None,
                };
                (field.clone(), hashed)
            })
            .collect()
    };
    parts(standing) == parts(key)
}

/// The database that an address names, without connecting; `spillway` if it names none.
pub fn database_of(address: &str) -> std::result::Result<String, ConnectError> {
    let parsed = ConnectionString::parse(address);
    // The driver's message may quote the password.
    let parsed = parsed.map_err(|_| ConnectError::Address("it cannot be read".to_owned()))?;
    Ok(parsed
        .default_database
        .unwrap_or_else(|| crate::connect::DATABASE.to_owned()))
}
