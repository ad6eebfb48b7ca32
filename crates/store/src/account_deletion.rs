//! Leaving: the removal of a person and everything that is theirs.
//!
//! One write marks the person as `leaving` and removes the password. From then on nobody sees them or can sign in as
//! them, and the handle stays taken. After that, what they left in other documents is removed, and their own document
//! last. Until then it says where everything is: `activities` which posts they wrote, liked, shared and commented on,
//! `following` whose followers they are in, `followers` who follows them, and `intents` what they had begun. So an
//! interrupted departure leaves a mark and a document from which [`AccountDeletions::finish`] continues; what was removed
//! already is not there the second time.
//!
//! The lists are emptied by one guarded write, which applies only if none of them changed since before the walk over
//! them. Then their pages are deleted, and the document if they are still empty. An action that was under way when the
//! mark was set either wrote to one of the lists, and then they are walked over again, or it finds no such person and
//! undoes what it did.

use bson::{Bson, Document, doc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{ActivityKind, Counterpart, Handle, Relation, Topic};
use uuid::Uuid;

use crate::Store;
use crate::overflow::{Item, Key, PAGES, delete_owner};
use crate::people::COLLECTION;
use crate::reactions::Reaction;
use document::{DocumentEngine, Error, Find, Index, Result, Update};
use outlier::{Attempts, fields};

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
        let mark = doc! { "$set": { MARK: true, "password": Bson::Null } };
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
        for handle in &all {
            self.finish(handle).await?;
        }
        Ok(all.len())
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
            self.remove_traces(&session, handle).await?;
            self.delete_posts(handle).await?;
            self.store.sessions().delete_of(handle, None).await?;
            self.store.timelines().remove(handle).await?;
            if self.empty_lists(handle, seen).await? {
                let removed = self.remove(handle).await;
                // A follow or a home request that was under way may have begun it again. Even if it is unknown whether
                // the person is gone, this must be done now, because nothing would come back to it. So it is tried once
                // more if the first try got lost.
                if self.store.timelines().remove(handle).await.is_err() {
                    self.store.timelines().remove(handle).await?;
                }
                if removed? {
                    return Ok(());
                }
            }
        }
        Err(Error::Contended(format!("user:{handle}")))
    }

    fn engine(&self) -> &'a dyn DocumentEngine {
        &**self.store.engine()
    }

    /// Empties the lists if they are as they were seen, and deletes their pages. The pages go before the document,
    /// because nothing would find them without it. Returns whether the lists were unchanged.
    async fn empty_lists(&self, handle: &Handle, seen: Document) -> Result<bool> {
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
        let emptying = Update::one(seen, doc! { "$set": set, "$inc": add });
        if self.engine().update(COLLECTION, emptying).await?.matched == 0 {
            return Ok(false);
        }
        let pages = doc! { "owner": handle.as_str() };
        self.engine().delete(PAGES, pages, true).await?;
        Ok(true)
    }

    /// Removes the person if their lists are still empty. Returns whether they were.
    async fn remove(&self, handle: &Handle) -> Result<bool> {
        let mut empty = doc! { "_id": handle.as_str(), MARK: true };
        for relation in Relation::OF_A_USER {
            empty.insert(format!("{relation}.count"), 0_i64);
        }
        Ok(self.engine().delete(COLLECTION, empty, false).await? == 1)
    }

    /// Undoes what the person had begun and what their lists record. The lists themselves go with their
    /// document.
    async fn remove_traces(&self, session: &Store, handle: &Handle) -> Result<()> {
        for intent in session.reactions().begun_by(handle).await? {
            match undo(session, handle, &intent.reaction).await {
                Err(Error::NoOwner(_)) => {}
                done => done?,
            }
        }
        let own = Topic::User(handle.clone());
        for relation in Relation::OF_A_USER {
            let mut walk = session.list(relation).walk(&own);
            loop {
                let stretch = match walk.next().await {
                    Ok(Some(stretch)) => stretch,
                    // Another process has finished.
                    Ok(None) | Err(Error::NoOwner(_)) => break,
                    Err(error) => return Err(error),
                };
                stream::iter(stretch.items)
                    .map(Ok)
                    .try_for_each_concurrent(AT_ONCE, |item| async move {
                        match self.remove_trace(session, handle, relation, &item).await {
                            // If the owner is gone, so is everything in it.
                            Err(Error::NoOwner(_)) => Ok(()),
                            done => done,
                        }
                    })
                    .await?;
            }
        }
        Ok(())
    }

    async fn remove_trace(
        &self,
        session: &Store,
        handle: &Handle,
        relation: Relation,
        item: &Item,
    ) -> Result<()> {
        match (relation.description().counterpart, &item.by) {
            (Counterpart::Activity(ActivityKind::Follow), Some(follower)) => {
                self.unfollow_for(follower, handle, item.id).await
            }
            (Counterpart::Followers, Some(followed)) => {
                undo(self.store, handle, &Reaction::Follow(followed.clone())).await
            }
            (Counterpart::Object, _) => match Reaction::of(item) {
                // It is read before it is removed, and that read must not miss it.
                Some(comment @ Reaction::Comment(..)) => undo(session, handle, &comment).await,
                Some(reaction) => undo(self.store, handle, &reaction).await,
                None if item.more.get_str("kind").ok() == Some(ActivityKind::Post.as_str()) => {
                    self.delete_post(handle, item.id).await
                }
                None => Ok(()),
            },
            (Counterpart::Nothing | Counterpart::Activity(_) | Counterpart::Followers, _) => Ok(()),
        }
    }

    /// Makes a follower of the person unfollow them.
    async fn unfollow_for(&self, follower: &Handle, handle: &Handle, id: Uuid) -> Result<()> {
        let owner = Topic::User(follower.clone());
        let activities = self.store.list(Relation::Activities);
        activities.remove(&owner, &Key::Id(id)).await?;
        let following = self.store.list(Relation::Following);
        following.remove(&owner, &Key::By(handle.clone())).await?;
        self.store.timelines().forget(follower, handle).await
    }

    /// Deletes a post, or its pages if only those are left. A post that somebody else has published under its id since
    /// then stays, and so do its pages.
    async fn delete_post(&self, handle: &Handle, id: Uuid) -> Result<()> {
        let own = doc! { "author": handle.as_str() };
        delete_owner(self.store.engine(), &Topic::Post(id.into()), own)
            .await
            .map(drop)
    }

    /// Deletes the posts without an activity, because publishing them was interrupted.
    async fn delete_posts(&self, handle: &Handle) -> Result<()> {
        loop {
            let find = Find::matching(doc! { "author": handle.as_str() })
                .project(doc! { "_id": 1 })
                .limit(100);
            let posts = self.engine().find(crate::posts::COLLECTION, find).await?;
            if posts.is_empty() {
                return Ok(());
            }
            stream::iter(posts.iter().filter_map(|post| fields::uuid(post, "_id").ok()))
                .map(Ok)
                .try_for_each_concurrent(AT_ONCE, |post| self.delete_post(handle, post))
                .await?;
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

/// Undoes what a person who is leaving did to a post or a person.
async fn undo(store: &Store, handle: &Handle, reaction: &Reaction) -> Result<()> {
    let list = store.list(reaction.relation());
    let (owner, key) = (reaction.owner(), reaction.key(handle));
    if let Reaction::Comment(..) = reaction {
        // A comment of the same id may be somebody else's by now.
        let found = list.find(&owner, &key).await?;
        if found.is_none_or(|item| item.by.as_ref() != Some(handle)) {
            return Ok(());
        }
    }
    list.remove(&owner, &key).await.map(drop)
}

fn handle_in(person: &Document) -> Option<Handle> {
    person.get_str("_id").ok()?.parse().ok()
}
