//! Validators: what the server refuses to store, for every writer.

use bson::{Document, doc};
use document::{Error, Result};
use futures::TryStreamExt;
use mongodb::options::{ValidationAction, ValidationLevel};

use crate::Mongo;
use crate::fault::Kind;

/// `NamespaceNotFound`: the collection does not exist yet.
const NO_COLLECTION: i32 = 26;
/// `NamespaceExists`: another process has just created it.
const COLLECTION_EXISTS: i32 = 48;

/// Sets the validator of a collection, which is created if it is missing. Changing it takes a lock on the whole
/// collection, and nearly every start finds the right one, so it is set only if it differs. `moderate` accepts changes
/// to documents that do not match already, so that they can be repaired.
pub(crate) async fn set(mongo: &Mongo, collection: &str, validator: &Document) -> Result<()> {
    if is_set(mongo, collection, validator).await? {
        return Ok(());
    }
    let checks = doc! {
        "validator": validator,
        "validationLevel": "moderate",
        "validationAction": "error",
    };
    match run(mongo, collection, "collMod", &checks).await {
        Err(Error::Refused {
            code: NO_COLLECTION, ..
        }) => {}
        done => return done,
    }
    match run(mongo, collection, "create", &checks).await {
        Err(Error::Refused {
            code: COLLECTION_EXISTS,
            ..
        }) => run(mongo, collection, "collMod", &checks).await,
        done => done,
    }
}

async fn run(mongo: &Mongo, collection: &str, name: &str, checks: &Document) -> Result<()> {
    let mut command = doc! { name: collection };
    command.extend(checks.clone());
    mongo
        .settled(collection, Kind::Write, || async {
            mongo.database.run_command(command.clone()).await
        })
        .await
        .map(drop)
}

/// Whether the collection has exactly this validator.
async fn is_set(mongo: &Mongo, collection: &str, validator: &Document) -> Result<bool> {
    let specifications = mongo
        .settled(collection, Kind::Read, || async {
            let named = mongo
                .database
                .list_collections()
                .filter(doc! { "name": collection });
            named.await?.try_collect::<Vec<_>>().await
        })
        .await?;
    Ok(specifications.first().is_some_and(|found| {
        let options = &found.options;
        options.validator.as_ref() == Some(validator)
            && matches!(options.validation_level, Some(ValidationLevel::Moderate))
            && matches!(options.validation_action, None | Some(ValidationAction::Error))
    }))
}
