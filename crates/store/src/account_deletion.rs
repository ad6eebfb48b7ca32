//! Leaving: the removal of a person and everything that is theirs.
//!
//! One write marks the person as `leaving` and removes the password. From then on nobody sees them or can sign in as
//! them, and the handle stays taken. After that, what they left in other documents is removed, and their own document
//! last. Until then it says where everything is: `activities` which posts they wrote, liked, shared and commented on,
//! `following` whose followers they are in, `followers` who follows them, `muters` and `blockers` whose lists name them, and
//! `intents` what they had begun. So an
//! interrupted departure leaves a mark and a document from which [`AccountDeletions::finish`] continues; what was removed
//! already is not there the second time.
//!
//! The lists are emptied by one guarded write, which applies only if none of them changed since before the walk over
//! them. Then their pages are deleted, and the document if they are still empty. An action that was under way when the
//! mark was set either wrote to one of the lists, and then they are walked over again, or it finds no such person and
//! undoes what it did.

mod own_documents;

use async_recursion::async_recursion as boxed;
use bson::{Bson, DateTime, Document, doc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{ActivityKind, Counterpart, Handle, Relation, Topic};
use uuid::Uuid;

use crate::overflow::{Item, Key, Owner, PAGES, delete_owner};
use crate::people::COLLECTION;
use crate::reactions::{Action, Reaction, keep_out, unless_gone};
use crate::timeline::Timelines;
use crate::{Store, posts, recovery};
use document::{Attempts, DocumentEngine, Error, Find, Index, Result, Update};
use outlier::{Sweep, fields};

/// The field that marks a person who is leaving; it is `true` or absent.
pub(crate) const MARK: &str = "leaving";

/// How many traces are removed at once.
const AT_ONCE: usize = 8;

/// Creates the index that finds people who are leaving without reading everybody.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let marked = Index::on(doc! { MARK: 1 }).only(doc! { MARK: true });
    engine.create_index(COLLECTION, marked).await
}

/// Restricts a filter for people to those who are not leaving.
pub(crate) fn not_being_deleted(mut people: Document) -> Document {
    people.insert(MARK, doc! { "$exists": false });
    people
}

/// The people of a store who are leaving.
pub struct AccountDeletions<'a> {
    store: &'a Store,
}

impl<'a> AccountDeletions<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Marks a person who has this password hash. From then on they exist for nobody but [`AccountDeletions::finish`]. Returns
    /// whether there was such a person.
    pub async fn begin(&self, handle: &Handle, password: &str) -> Result<bool> {
        let guard = not_being_deleted(doc! { "_id": handle.as_str(), "password": password });
        let mark = doc! {
            "$set": { MARK: true, "password": Bson::Null },
            "$unset": { recovery::FIELD: "" },
        };
        let marked = self.engine().update(COLLECTION, Update::one(guard, mark)).await?;
        Ok(marked.matched == 1)
    }

    /// Everybody who is leaving.
    pub async fn all(&self) -> Result<Vec<Handle>> {
        let find = Find::matching(doc! { MARK: true }).project(doc! { "_id": 1 });
        let found = self.engine().find(COLLECTION, find).await?;
        Ok(found.iter().filter_map(handle_in).collect())
    }

    /// Finishes for everybody who is leaving; returns how many there were.
    pub async fn finish_all(&self) -> Result<usize> {
        let all = self.all().await?;
        let mut sweep = Sweep::default();
        for handle in &all {
            sweep.note(handle, self.finish(handle).await)?;
        }
        sweep.end()
    }

    /// Removes everything of a person who is leaving, and then the person. It may be interrupted anywhere and called
    /// again, even concurrently; for a person who is not leaving or is gone it changes nothing.
    ///
    /// # Errors
    /// [`Error::Contended`] when others kept changing the lists; calling it again continues.
    pub async fn finish(&self, handle: &Handle) -> Result<()> {
        // In one session: the walk over the lists sees them at least as new as when they were noted.
        let session = self.store.session();
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let Some(seen) = lists_of(&session, handle).await? else {
                return Ok(());
            };
            let departure = Departure {
                session: &session,
                beside: self.store,
                handle,
                born: seen.get("born").cloned().unwrap_or(Bson::Null),
            };
            if departure.finish(seen).await? {
                return Ok(());
            }
        }
        Err(Error::Contended(format!("user:{handle}")))
    }

    fn engine(&self) -> &'a dyn DocumentEngine {
        &**self.store.engine()
    }
}

/// One person who is leaving. Another server may have finished, and somebody else may have the handle: so whatever is
/// removed is selected by more than the handle. Either its own identity says that it is this person's, or it was read
/// before this person was seen to be there still.
struct Departure<'a> {
    /// In one session: what decides about a write is read from it.
    session: &'a Store,
    /// For writes side by side, which a session would make one after the other.
    beside: &'a Store,
    handle: &'a Handle,
    /// The person's incarnation.
    born: Bson,
}

impl Departure<'_> {
    /// Returns whether the person is gone.
    #[boxed]
    async fn finish(&self, seen: Document) -> Result<bool> {
        self.remove_traces(&seen).await?;
        self.delete_posts().await?;
        self.end_sessions().await?;
        self.remove_reports().await?;
        self.remove_edits().await?;
        self.remove_shared_posts().await?;
        self.session.timelines().remove(self.handle).await?;
        if !self.empty_lists(seen).await? {
            return Ok(false);
        }
        let removed = self.remove().await;
        // A follow or a home request that was under way may have begun it again. Even if it is unknown whether the
        // person is gone, this must be done now, because nothing would come back to it. So it is tried once more if
        // the first try got lost.
        if self.session.timelines().remove(self.handle).await.is_err() {
            self.session.timelines().remove(self.handle).await?;
        }
        removed
    }

    /// Whether the person is still there. What was read before this answer is no later holder's of the handle.
    async fn is_there(&self) -> Result<bool> {
        let person = doc! { "_id": self.handle.as_str(), MARK: true, "born": &self.born };
        let find = Find::matching(person).project(doc! { "_id": 1 }).limit(1);
        let found = self.session.engine().find(COLLECTION, find).await?;
        Ok(!found.is_empty())
    }

    /// Empties the lists if they are as they were seen, and deletes their pages. The pages go before the document,
    /// because nothing would find them without it. Returns whether the lists were unchanged.
    async fn empty_lists(&self, seen: Document) -> Result<bool> {
        let (mut set, mut add) = (Document::new(), Document::new());
        for relation in Relation::OF_A_USER {
            let empty = doc! { "count": 0_i64, "pages": 0_i64, "spilled": 0_i64, "hasOverflow": false };
            for (field, value) in empty {
                set.insert(format!("{relation}.{field}"), value);
            }
            for array in ["head", "pending"] {
                set.insert(format!("{relation}.{array}"), Vec::<Bson>::new());
            }
            add.insert(format!("{relation}.rev"), 1_i64);
        }
        let engine = self.session.engine();
        let emptying = Update::one(seen, doc! { "$set": set, "$inc": add });
        if engine.update(COLLECTION, emptying).await?.matched == 0 {
            return Ok(false);
        }
        let pages = doc! { "owner": self.handle.as_str(), "born": &self.born };
        engine.delete(PAGES, pages, true).await?;
        Ok(true)
    }

    /// Removes the person if their lists are still empty. Returns whether they were.
    async fn remove(&self) -> Result<bool> {
        let mut empty = doc! { "_id": self.handle.as_str(), MARK: true, "born": &self.born };
        for relation in Relation::OF_A_USER {
            empty.insert(format!("{relation}.count"), 0_i64);
        }
        let removed = self.session.engine().delete(COLLECTION, empty, false).await?;
        Ok(removed == 1)
    }

    /// Undoes what the person had begun and what their lists record, which were seen like this. The lists themselves go
    /// with their document.
    async fn remove_traces(&self, seen: &Document) -> Result<()> {
        for intent in self.session.reactions().begun_by(self.handle).await? {
            // The activity of a post stays until the post and its pages are deleted.
            let Action::React(reaction) = intent.action else {
                continue;
            };
            let (owner, relation) = (reaction.owner(), reaction.relation());
            // No item has this id. Where reads may be old, that is confirmed by a write, so the next read misses
            // nothing that was there.
            let absent = Key::Id(intent.attempt);
            unless_gone(self.session.list(relation).remove(&owner, &absent).await)?;
            unless_gone(self.undo(&reaction).await)?;
        }
        let own = Topic::User(self.handle.clone());
        for relation in Relation::OF_A_USER {
            // What is appended to an empty list after this changes its count, and then all of this is done again.
            let is_empty = seen.get(format!("{relation}.count")) == Some(&Bson::Int64(0));
            if is_empty || relation.description().counterpart == Counterpart::Nothing {
                continue;
            }
            let mut walk = self.session.list(relation).walk(&own);
            loop {
                let stretch = match walk.next().await {
                    Ok(Some(stretch)) => stretch,
                    // Another process has finished.
                    Ok(None) | Err(Error::NoOwner(_)) => break,
                    Err(error) => return Err(error),
                };
                if !self.is_there().await? {
                    return Ok(());
                }
                stream::iter(&stretch.items)
                    .map(Ok)
                    .try_for_each_concurrent(AT_ONCE, |item| async move {
                        // If the owner is gone, so is everything in it.
                        unless_gone(self.remove_trace(relation, item).await)
                    })
                    .await?;
                if relation == Relation::Followers {
                    let followers = stretch.items.into_iter().filter_map(|item| item.by);
                    let timelines = Timelines::within(self.session, self.beside);
                    timelines.forget(followers.collect(), self.handle).await?;
                }
            }
        }
        Ok(())
    }

    /// Removes what an item of one of the lists tells of. The other lists have the item by the same id, which no later
    /// item has, except for comments.
    async fn remove_trace(&self, relation: Relation, item: &Item) -> Result<()> {
        let remove = async |relation: Relation, owner: &Owner| {
            let list = self.beside.list(relation);
            list.remove(owner, &Key::Id(item.id)).await.map(drop)
        };
        match (relation.description().counterpart, &item.by) {
            (Counterpart::Activity(ActivityKind::Follow), Some(follower)) => {
                let owner = Topic::User(follower.clone());
                // A follow that began before the mark may have yet to write its activity.
                let session = self.beside.session();
                keep_out(&session, &owner, Relation::Activities, item.id).await?;
                remove(Relation::Following, &owner).await
            }
            (Counterpart::Followers, Some(followed)) => {
                remove(Relation::Followers, &Topic::User(followed.clone())).await
            }
            (Counterpart::Object, _) => match Reaction::of(item) {
                Some(comment @ Reaction::Comment(..)) => self.undo(&comment).await,
                Some(reaction) => remove(reaction.relation(), &reaction.owner()).await,
                None if item.more.get_str("kind").ok() == Some(ActivityKind::Post.as_str()) => {
                    // A post that was published later under this id stays, and so do its pages.
                    let at = DateTime::from_millis(item.at.millis());
                    let own = doc! { "author": self.handle.as_str(), "at": { "$lte": at } };
                    self.delete_post(self.beside, item.id, own).await
                }
                None => Ok(()),
            },
            (Counterpart::Mirror(relation), Some(other)) => {
                remove(relation, &Topic::User(other.clone())).await
            }
            (
                Counterpart::Nothing
                | Counterpart::Activity(_)
                | Counterpart::Followers
                | Counterpart::Mirror(_),
                _,
            ) => Ok(()),
        }
    }

    /// Undoes what the person did to a post or a person.
    async fn undo(&self, reaction: &Reaction) -> Result<()> {
        let list = self.session.list(reaction.relation());
        let owner = reaction.owner();
        let found = list.find(&owner, &reaction.key(self.handle)).await?;
        // A comment of the same id may be somebody else's by now.
        let own = found.filter(|item| item.by.as_ref() == Some(self.handle));
        match own {
            Some(item) if self.is_there().await? => list.remove(&owner, &Key::Id(item.id)).await.map(drop),
            _ => Ok(()),
        }
    }

    /// Deletes a post that meets the guard, or its pages if only those are left.
    async fn delete_post(&self, store: &Store, id: Uuid, guard: Document) -> Result<()> {
        let post = id.into();
        let deleted = delete_owner(store.engine(), &Topic::Post(post), guard).await?;
        if deleted || store.posts().get(post).await?.is_none() {
            store.comments().forget_post(post).await?;
        }
        Ok(())
    }

    /// Deletes the posts without an activity, because publishing them was interrupted.
    async fn delete_posts(&self) -> Result<()> {
        loop {
            let find = Find::matching(doc! { "author": self.handle.as_str() })
                .project(doc! { "author": 1, "born": 1 })
                .limit(100);
            let posts = self.session.engine().find(posts::COLLECTION, find).await?;
            if posts.is_empty() || !self.is_there().await? {
                return Ok(());
            }
            for post in posts {
                let id = fields::uuid(&post, "_id")?;
                let born = post.get("born").cloned().unwrap_or(Bson::Null);
                let as_read = doc! { "author": self.handle.as_str(), "born": born };
                self.delete_post(self.session, id, as_read).await?;
            }
        }
    }
}

/// A filter for the person while their lists are as they are now; `None` for a person who is not leaving.
///
/// An append changes a list's `count`, and any other change of a list its `rev`.
async fn lists_of(store: &Store, handle: &Handle) -> Result<Option<Document>> {
    let person = doc! { "_id": handle.as_str(), MARK: true };
    let mut numbers = doc! { "born": 1 };
    let fields: Vec<String> = Relation::OF_A_USER
        .into_iter()
        .flat_map(|relation| ["count", "rev"].map(|field| format!("{relation}.{field}")))
        .collect();
    numbers.extend(fields.iter().map(|field| (field.clone(), Bson::Int32(1))));
    for relation in Relation::OF_A_USER {
        // A list that is one array has neither number until it is adopted.
        let list = store.list(relation);
        match list.finish(&Topic::User(handle.clone())).await {
            Err(Error::NoOwner(_)) => return Ok(None),
            done => done?,
        }
    }
    let find = Find::matching(person.clone()).project(numbers).limit(1);
    let found = store.engine().find(COLLECTION, find).await?;
    Ok(found.first().map(|document| {
        let mut seen = person;
        seen.insert("born", document.get("born").cloned().unwrap_or(Bson::Null));
        for field in fields {
            let (relation, number) = field.split_once('.').unwrap_or_default();
            let number = document
                .get_document(relation)
                .ok()
                .and_then(|list| list.get(number));
            seen.insert(&field, number.cloned().unwrap_or(Bson::Null));
        }
        seen
    }))
}

fn handle_in(person: &Document) -> Option<Handle> {
    person.get_str("_id").ok()?.parse().ok()
}
