//! Validators: what the server refuses to store, for every writer.

use std::sync::Once;

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
/// `Unauthorized`.
const UNAUTHORIZED: i32 = 13;

/// A process may connect more than once, and each connection has several collections.
static SAID: Once = Once::new();

/// Sets the validator of a collection, which is created if it is missing. A server without validators, or one that
/// does not allow this user to set them, is good enough: that is logged once.
pub(crate) async fn set(mongo: &Mongo, collection: &str, validator: Document) -> Result<()> {
    match try_to_set(mongo, collection, validator).await {
        Err(Error::Refused { code, message }) => {
            SAID.call_once(|| {
                tracing::info!(
                    "the MongoDB server does not check documents that other programs write: {} ({message}). Spillway's own \
                     writes do not need it",
                    failure_reason(code)
                );
            });
            Ok(())
        }
        done => done,
    }
}

fn failure_reason(code: i32) -> &'static str {
    if code == UNAUTHORIZED {
        "the user in the address may not set validators, for which it needs collMod on the database"
    } else {
        "it takes no $jsonSchema validators"
    }
}

/// Sets it if it differs: changing it takes a lock on the whole collection, and nearly every start finds the right
/// one. `moderate` accepts changes to documents that do not match already, so that they can be repaired.
async fn try_to_set(mongo: &Mongo, collection: &str, validator: Document) -> Result<()> {
    if is_set(mongo, collection, &validator).await? {
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
    let strict = |level: Option<&ValidationLevel>, action: Option<&ValidationAction>| {
        matches!(level, Some(ValidationLevel::Moderate))
            && matches!(action, None | Some(ValidationAction::Error))
    };
    Ok(specifications.first().is_some_and(|found| {
        let options = &found.options;
        options.validator.as_ref() == Some(validator)
            && strict(
                options.validation_level.as_ref(),
                options.validation_action.as_ref(),
            )
    }))
}
