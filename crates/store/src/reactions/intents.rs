//! Actions that people have begun and not finished, stored in their own documents.

use async_recursion::async_recursion as boxed;
use bson::{Bson, DateTime, Document, doc};
use model::{Handle, Relation, Timestamp};
use uuid::Uuid;

use super::post_deletion::agree_on_deletion;
use super::{Action, Attempt, Reaction, Reactions, agree, unless_gone, user};
use crate::Store;
use crate::account_deletion::not_being_deleted;
use crate::overflow::{Key, Snapshot, uuid_bson};
use crate::people::{COLLECTION, date};
use crate::restrictions;
use crate::timeline::Timelines;
use document::{DocumentEngine, Error, Find, Index, Result, Update};
use outlier::{Sweep, fields};

/// The field of a person with the actions that they have begun; empty or absent if there are none.
pub const FIELD: &str = "intents";

/// After how many milliseconds an attempt is certainly over: a request lives for seconds.
const OVER: i64 = 2 * 60 * 1000;

/// How many actions one person may have begun and not finished. A server makes the actions of a person take turns, so
/// only interruptions leave more than a few.
const MOST_BEGUN: usize = 64;

/// For how many people one sweep finishes actions.
const MOST: u64 = 1_000;

/// An action that somebody began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The id of the attempt.
    pub attempt: Uuid,
    /// When it began.
    pub at: Timestamp,
    /// What it adds or removes.
    pub action: Action,
}

/// What an attempt finds when it begins.
pub(super) struct Begun {
    /// The activities.
    pub seen: Snapshot,
    /// The ids of those in the head.
    pub head: Vec<Uuid>,
    /// The actions that others began and have not finished.
    pub left: Vec<Intent>,
    /// Whether the actor blocks somebody, or somebody the actor.
    pub has_blocks: bool,
}

/// Creates the index that finds people with begun actions without reading everybody.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let at = format!("{FIELD}.at");
    let begun = Index::on(doc! { &at: 1 }).only(doc! { &at: { "$exists": true } });
    engine.create_index(COLLECTION, begun).await
}

/// Notes what an actor begins, and reads their activities, with one command. If the actor has begun too much, what is
/// over is finished first.
///
/// # Errors
/// [`Error::NoOwner`] when the actor is gone or leaving, [`Error::Contended`] when they have begun too much that may
/// still be running. Then nothing is noted.
pub(super) async fn begin(store: &Store, actor: &Handle, action: &Action, attempt: Attempt) -> Result<Begun> {
    let noted = note(store, actor, action, attempt).await;
    if !matches!(noted, Err(Error::NoOwner(_))) {
        return noted;
    }
    let begun = store.reactions().begun_by(actor).await?;
    if begun.len() < MOST_BEGUN {
        return noted;
    }
    for intent in begun.iter().filter(|intent| intent.is_over(attempt.at)) {
        store.reactions().finish(actor, intent).await?;
    }
    match note(store, actor, action, attempt).await {
        Err(Error::NoOwner(_)) => Err(Error::Contended(format!("{FIELD} of {}", user(actor)))),
        noted => noted,
    }
}

async fn note(store: &Store, actor: &Handle, action: &Action, attempt: Attempt) -> Result<Begun> {
    let mut intent = doc! { "id": uuid_bson(attempt.id), "at": DateTime::from_millis(attempt.at.millis()) };
    intent.extend(action.to_document());
    let activities = store.list(Relation::Activities);
    let room = format!("{FIELD}.{}", MOST_BEGUN - 1);
    let guard = not_being_deleted(doc! { "_id": actor.as_str(), room: { "$exists": false } });
    let note = doc! { "$push": { FIELD: intent } };
    let (seen, found) = activities
        .snapshot_after(&user(actor), guard, note, &restrictions::BLOCKS)
        .await?;
    let head = found.get_document(Relation::Activities.as_str());
    let head = head.and_then(|list| list.get_array("head")).into_iter().flatten();
    let mut left = intents_of(&found);
    left.retain(|intent| intent.attempt != attempt.id);
    Ok(Begun {
        seen,
        head: head
            .filter_map(|item| fields::uuid(item.as_document()?, "id").ok())
            .collect(),
        left,
        has_blocks: restrictions::has_blocks(&found),
    })
}

/// Ends an attempt that changed nothing. If this never reaches the disk, the next action ends it.
pub(super) async fn end(store: &Store, actor: &Handle, attempt: Uuid) -> Result<()> {
    let end = doc! { "$pull": { FIELD: { "id": uuid_bson(attempt) } } };
    let ended = Update::one(doc! { "_id": actor.as_str() }, end).unjournaled();
    store.engine().update(COLLECTION, ended).await.map(drop)
}

/// Makes an actor's lists agree where others left something unfinished. A young attempt may still be running on
/// another server and is not ended. The caller's own action is complete by now, so a failure is left to the next
/// action.
pub(super) async fn agree_on(store: &Store, actor: &Handle, left: &[Intent], now: Timestamp) {
    for intent in left {
        let ends = intent.is_over(now).then_some(intent.attempt);
        if let Err(error) = finish(store, actor, &intent.action, ends).await {
            tracing::warn!(%actor, %error, "an interrupted action could not be finished yet");
        }
    }
}

/// The actions that a person's document says they have begun. Malformed entries are left out.
fn intents_of(person: &Document) -> Vec<Intent> {
    let intents = person.get_array(FIELD).into_iter().flatten();
    intents
        .filter_map(Bson::as_document)
        .filter_map(|intent| {
            Some(Intent {
                attempt: fields::uuid(intent, "id").ok()?,
                at: date(intent, "at").ok()?,
                action: Action::read(intent)?,
            })
        })
        .collect()
}

/// Makes the lists that an action is about agree, and ends an attempt.
#[boxed]
async fn finish(store: &Store, actor: &Handle, action: &Action, ends: Option<Uuid>) -> Result<()> {
    match action {
        Action::React(reaction) => agree(store, actor, reaction, ends).await,
        Action::DeletePost(post) => agree_on_deletion(store, actor, *post, ends).await,
    }
}

impl Intent {
    /// Whether no request is still working on it.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.millis().saturating_sub(self.at.millis()) > OVER
    }
}

impl Reactions<'_> {
    /// The actions that one person has begun and not finished.
    pub async fn begun_by(&self, actor: &Handle) -> Result<Vec<Intent>> {
        let find = Find::matching(doc! { "_id": actor.as_str() })
            .project(doc! { FIELD: 1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        Ok(found.first().map(intents_of).unwrap_or_default())
    }

    /// The actions that people have begun and not finished, and who began them, except for people who are leaving.
    pub async fn begun(&self) -> Result<Vec<(Handle, Intent)>> {
        self.matching(doc! { "$exists": true }).await
    }

    async fn matching(&self, at: Document) -> Result<Vec<(Handle, Intent)>> {
        let find = Find::matching(not_being_deleted(doc! { format!("{FIELD}.at"): at }))
            .project(doc! { FIELD: 1 })
            .limit(MOST);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let mut begun = Vec::new();
        for person in &found {
            if let Some(handle) = person
                .get_str("_id")
                .ok()
                .and_then(|id| id.parse::<Handle>().ok())
            {
                begun.extend(
                    intents_of(person)
                        .into_iter()
                        .map(|intent| (handle.clone(), intent)),
                );
            }
        }
        Ok(begun)
    }

    /// Makes the lists that an attempt is about agree, and ends it. The attempt must be over.
    pub async fn finish(&self, actor: &Handle, intent: &Intent) -> Result<()> {
        let store = &self.store.session();
        // What was read of the intent may be old, and what is read next may be as old. No item has the id of an
        // attempt; that it is not there is confirmed by a write, and later reads of the session are not older.
        let absent = Key::Id(intent.attempt);
        let (owner, relation) = (intent.action.owner(), intent.action.relation());
        for (relation, owner) in [(Relation::Activities, &user(actor)), (relation, &owner)] {
            unless_gone(store.list(relation).remove(owner, &absent).await)?;
        }
        unless_gone(finish(store, actor, &intent.action, Some(intent.attempt)).await)?;
        match intent.action {
            Action::React(Reaction::Share(_)) => {
                Timelines::within(store, self.store).deliver_shares(actor).await
            }
            _ => Ok(()),
        }
    }

    /// Finishes interrupted attempts; returns how many there were.
    pub async fn finish_all(&self, now: Timestamp) -> Result<usize> {
        let before = DateTime::from_millis(now.millis().saturating_sub(OVER));
        let mut begun = self.matching(doc! { "$lt": before }).await?;
        begun.retain(|(_, intent)| intent.is_over(now));
        let mut sweep = Sweep::default();
        for (actor, intent) in &begun {
            sweep.note(actor, self.finish(actor, intent).await)?;
        }
        sweep.end()
    }
}
