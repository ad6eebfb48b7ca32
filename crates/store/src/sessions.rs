//! Sign-in sessions, kept on the server.

use std::collections::HashSet;

use bson::{DateTime, Document, doc};
use model::{Handle, Timestamp};

use crate::people::date;
use document::{DocumentEngine, Error, Find, Index, Result, Update};

/// The collection of sessions. `_id` is a digest of the token, so that reading the store does not give access.
pub const COLLECTION: &str = "sessions";

/// A session as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// A digest of the token that the browser holds.
    pub digest: String,
    /// Who is signed in.
    pub user: Handle,
    /// When it began.
    pub at: Timestamp,
    /// When it was last used, to a day. A session from before this was recorded has not been used since it began.
    pub used: Timestamp,
    /// When its holder last looked at their list of sessions, or when it began.
    pub looked: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
    /// What the browser is, as far as it was recognized.
    pub device: Option<String>,
}

/// Creates the indexes that remove expired sessions, and find those of one person.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let holder = Index::on(doc! { "user": 1 });
    engine.create_index(COLLECTION, holder).await?;
    let expiry = Index::on(doc! { "expires": 1 }).expiring_after(0);
    create_expiry(engine, COLLECTION, expiry).await
}

/// Creates an index that removes expired documents, if the store can have it.
pub(crate) async fn create_expiry(
    engine: &dyn DocumentEngine,
    collection: &str,
    expiry: Index,
) -> Result<()> {
    match engine.create_index(collection, expiry).await {
        // A store from before its documents expired by themselves keeps its index, and a server of another make may
        // refuse such indexes. The date is checked whenever a document is read.
        Err(Error::Refused { code, message }) => {
            tracing::warn!(code, %message, collection, "documents that have expired stay in this store");
            Ok(())
        }
        made => made,
    }
}

/// The sessions of a store.
pub struct Sessions<'a> {
    engine: &'a dyn DocumentEngine,
}

impl<'a> Sessions<'a> {
    pub(crate) fn new(engine: &'a dyn DocumentEngine) -> Self {
        Self { engine }
    }

    /// Adds a session.
    pub async fn insert(&self, session: &Session) -> Result<()> {
        let mut document = doc! {
            "_id": &session.digest,
            "user": session.user.as_str(),
            "at": DateTime::from_millis(session.at.millis()),
            "used": DateTime::from_millis(session.used.millis()),
            "expires": DateTime::from_millis(session.expires.millis()),
        };
        if session.looked > session.at {
            document.insert("looked", DateTime::from_millis(session.looked.millis()));
        }
        if let Some(device) = &session.device {
            document.insert("device", device);
        }
        self.engine.insert(COLLECTION, vec![document]).await
    }

    /// The session with this digest, expired or not.
    pub async fn get(&self, digest: &str) -> Result<Option<Session>> {
        let find = Find::matching(doc! { "_id": digest }).limit(1);
        let found = self.engine.find(COLLECTION, find).await?;
        found.first().map(session).transpose()
    }

    /// All sessions of a person, expired or not.
    pub async fn of(&self, user: &Handle) -> Result<Vec<Session>> {
        let find = Find::matching(doc! { "user": user.as_str() });
        let found = self.engine.find(COLLECTION, find).await?;
        found.iter().map(session).collect()
    }

    /// Which of these people have a session that has not expired.
    pub async fn signed_in(&self, users: &[&Handle], now: Timestamp) -> Result<HashSet<Handle>> {
        let users: Vec<&str> = users.iter().map(|user| user.as_str()).collect();
        let now = DateTime::from_millis(now.millis());
        let find = Find::matching(doc! { "user": { "$in": users }, "expires": { "$gt": now } });
        let found = self.engine.find(COLLECTION, find).await?;
        found.iter().map(|document| Ok(session(document)?.user)).collect()
    }

    /// Records that a session is used, which extends it. One that has ended stays so.
    pub async fn extend(&self, digest: &str, used: Timestamp, until: Timestamp) -> Result<()> {
        let later = doc! { "$max": {
            "used": DateTime::from_millis(used.millis()),
            "expires": DateTime::from_millis(until.millis()),
        } };
        self.engine
            .update(COLLECTION, Update::one(doc! { "_id": digest }, later))
            .await
            .map(drop)
    }

    /// Records that the holder of a session looked at their list of sessions.
    pub async fn look(&self, digest: &str, at: Timestamp) -> Result<()> {
        let later = doc! { "$max": { "looked": DateTime::from_millis(at.millis()) } };
        self.engine
            .update(COLLECTION, Update::one(doc! { "_id": digest }, later))
            .await
            .map(drop)
    }

    /// Ends all sessions of a person except for the one with this digest.
    pub async fn delete_of(&self, user: &Handle, except: Option<&str>) -> Result<()> {
        let mut theirs = doc! { "user": user.as_str() };
        if let Some(digest) = except {
            theirs.insert("_id", doc! { "$ne": digest });
        }
        self.engine.delete(COLLECTION, theirs, true).await.map(drop)
    }

    /// Ends a session of this person. Returns whether they had it.
    pub async fn delete_one_of(&self, user: &Handle, digest: &str) -> Result<bool> {
        let theirs = doc! { "_id": digest, "user": user.as_str() };
        Ok(self.engine.delete(COLLECTION, theirs, false).await? == 1)
    }

    /// Ends a session.
    pub async fn delete(&self, digest: &str) -> Result<()> {
        self.engine
            .delete(COLLECTION, doc! { "_id": digest }, false)
            .await
            .map(drop)
    }
}

fn session(document: &Document) -> Result<Session> {
    let text = |name| {
        document
            .get_str(name)
            .map_err(|_| Error::malformed(format!("a session's `{name}`")))
    };
    let at = date(document, "at")?;
    Ok(Session {
        digest: text("_id")?.to_owned(),
        user: text("user")?
            .parse()
            .map_err(|_| Error::malformed("a session's `user` is not a handle"))?,
        at,
        used: if document.contains_key("used") {
            date(document, "used")?
        } else {
            at
        },
        looked: if document.contains_key("looked") {
            date(document, "looked")?
        } else {
            at
        },
        expires: date(document, "expires")?,
        device: document.get_str("device").ok().map(str::to_owned),
    })
}
