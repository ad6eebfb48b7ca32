//! The user documents: who somebody is, and the heads of their lists.

use std::collections::HashMap;

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use model::{Bio, DisplayName, FoundPerson, Handle, Person, PostId, Relation, Timestamp, Topic};

use uuid::Uuid;

use crate::account_deletion::not_being_deleted;
use crate::notifications::{Read, Unread};
use crate::overflow::{delete_owner, empty, meter, uuid_bson};
use crate::raw;
use crate::recovery;
use crate::search;
use crate::sessions::Session;
use crate::suspensions::{self, shown};
use crate::{Limits, Store};
use document::{Error, Find, Result, Update};
use outlier::fields;

/// The collection of user documents. `_id` is the handle.
pub const COLLECTION: &str = "users";

/// The field with the post that a person pinned; absent if there is none.
const PINNED: &str = "pinned";

/// A person as stored, without their lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Handle and name.
    pub person: Person,
    /// A line about themselves.
    pub bio: String,
    /// The password's hash in PHC form; `None` for a person who cannot sign in with one.
    pub password: Option<String>,
    /// When they joined.
    pub at: Timestamp,
}

/// What is known about a person's password, without its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordState {
    /// Whether they can sign in with one.
    pub is_set: bool,
    /// When they last changed it; `None` if they never did.
    pub changed: Option<Timestamp>,
}

/// A person with the numbers of their lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSummary {
    /// The person.
    pub user: User,
    /// How their followers are stored.
    pub followers: model::Meter,
    /// How many people they follow.
    pub following: u64,
    /// How many activities they have.
    pub activities: u64,
    /// The post that they pinned, which may be gone.
    pub pinned: Option<PostId>,
}

impl User {
    /// The stored form of a new person, with empty lists. `born` distinguishes them from an earlier or later owner of
    /// the same handle.
    pub fn to_document(&self, born: Uuid) -> Document {
        let mut document = doc! {
            "_id": self.person.handle.as_str(),
            "born": uuid_bson(born),
            "name": self.person.name.as_str(),
            "bio": &self.bio,
            "password": self.password.clone().map_or(Bson::Null, Bson::String),
            "at": DateTime::from_millis(self.at.millis()),
        };
        document.extend(search::of_person(&self.person.handle, &self.person.name));
        for relation in Relation::OF_A_USER {
            document.insert(relation.as_str(), empty());
        }
        document
    }

    fn from_document(document: &Document) -> Result<Self> {
        Ok(Self {
            person: person(document)?,
            bio: document.get_str("bio").unwrap_or_default().to_owned(),
            password: document.get_str("password").ok().map(str::to_owned),
            at: date(document, "at")?,
        })
    }
}

/// The user documents of a store.
pub struct People<'a> {
    store: &'a Store,
}

impl<'a> People<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Adds a new person. `born` is a fresh id.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] when the handle is taken.
    pub async fn insert(&self, user: &User, born: Uuid) -> Result<()> {
        self.store
            .engine()
            .insert(COLLECTION, vec![user.to_document(born)])
            .await
    }

    /// A person by handle, without their lists. People who are leaving or suspended do not exist, here and below.
    pub async fn get(&self, handle: &Handle) -> Result<Option<User>> {
        let person = self.even_suspended(handle).await?;
        Ok(person
            .filter(|(_, is_suspended)| !is_suspended)
            .map(|(user, _)| user))
    }

    /// The same, also if they are suspended, and whether they are.
    pub async fn even_suspended(&self, handle: &Handle) -> Result<Option<(User, bool)>> {
        let mut fields = fields_of_user();
        fields.insert(suspensions::FIELD, 1);
        let find = Find::matching(not_being_deleted(doc! { "_id": handle.as_str() }))
            .project(fields)
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let person = |document: &Document| {
            let user = User::from_document(document)?;
            Ok((user, document.contains_key(suspensions::FIELD)))
        };
        found.first().map(person).transpose()
    }

    /// The person whose session it is. A session that began before its person joined belonged to an earlier holder of
    /// the handle, and one that began before the password was changed has ended.
    ///
    /// With them comes how many of their notifications are unread.
    pub async fn holding(&self, session: &Session) -> Result<Option<(User, Unread)>> {
        let began = DateTime::from_millis(session.at.millis());
        let holder = doc! {
            "_id": session.user.as_str(),
            "at": { "$lte": began },
            "sessionsFrom": { "$not": { "$gt": began } },
        };
        let mut fields = fields_of_user();
        fields.extend(Read::fields());
        let find = Find::matching(shown(holder)).project(fields).limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let holder = |document: &Document| {
            let list = document.get_document(Relation::Notifications.as_str()).ok();
            let count = list.map_or(Ok(0), |list| fields::number(list, "count"))?;
            Ok((User::from_document(document)?, Read::of(document).numbers(count)))
        };
        found.first().map(holder).transpose()
    }

    /// Whether a person has a password, and when they last changed it; `None` for nobody.
    pub async fn password(&self, handle: &Handle) -> Result<Option<PasswordState>> {
        let find = Find::matching(shown(doc! { "_id": handle.as_str() }))
            .project(doc! { "password": 1, "sessionsFrom": 1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let state = |user: &Document| {
            let changed = user.contains_key("sessionsFrom");
            Ok(PasswordState {
                is_set: user.get_str("password").is_ok(),
                changed: changed.then(|| date(user, "sessionsFrom")).transpose()?,
            })
        };
        found.first().map(state).transpose()
    }

    /// Everybody without a password, in alphabetical order: the people of a town, and students.
    pub async fn without_password(&self) -> Result<Vec<Handle>> {
        let anybody = Find::matching(doc! { "password": null })
            .project(doc! { "_id": 1 })
            .sort(doc! { "_id": 1 });
        let found = self.store.engine().find(COLLECTION, anybody).await?;
        let handles = found
            .iter()
            .filter_map(|user| user.get_str("_id").ok()?.parse().ok());
        Ok(handles.collect())
    }

    /// A person by handle, with the numbers of their lists but not the items.
    pub async fn summary(&self, handle: &Handle) -> Result<Option<UserSummary>> {
        let fields = doc! {
            "name": 1, "bio": 1, "at": 1,
            "followers.count": 1, "followers.spilled": 1, "followers.pages": 1,
            "following.count": 1, "activities.count": 1, PINNED: 1,
        };
        let find = Find::matching(shown(doc! { "_id": handle.as_str() }))
            .project(fields)
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let Some(document) = found.first() else {
            return Ok(None);
        };
        let list = |relation: Relation| meter(document, relation, self.store.settings().of(relation));
        Ok(Some(UserSummary {
            user: User::from_document(document)?,
            followers: list(Relation::Followers)?,
            following: list(Relation::Following)?.count,
            activities: list(Relation::Activities)?.count,
            pinned: fields::uuid(document, PINNED).ok().map(PostId::from),
        }))
    }

    /// Names the post that stands first on a person's page.
    pub async fn pin(&self, handle: &Handle, post: PostId) -> Result<()> {
        let person = shown(doc! { "_id": handle.as_str() });
        let change = Update::one(person, doc! { "$set": { PINNED: uuid_bson(post.uuid()) } });
        self.store.engine().update(COLLECTION, change).await.map(drop)
    }

    /// Names it no longer, if it is this one.
    pub async fn unpin(&self, handle: &Handle, post: PostId) -> Result<()> {
        let pinned = doc! { "_id": handle.as_str(), PINNED: uuid_bson(post.uuid()) };
        let change = Update::one(pinned, doc! { "$unset": { PINNED: "" } });
        self.store.engine().update(COLLECTION, change).await.map(drop)
    }

    /// The names of handles, in one find. People who are gone are left out.
    pub async fn named(&self, handles: impl IntoIterator<Item = &Handle>) -> Result<HashMap<Handle, Person>> {
        let mut ids: Vec<&str> = handles.into_iter().map(Handle::as_str).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let find = Find::matching(shown(doc! { "_id": { "$in": ids } })).project(doc! { "name": 1 });
        let found = self.store.engine().find_raw(COLLECTION, find).await?;
        let named = |document: &RawDocumentBuf| {
            let (mut handle, mut name) = (None, None);
            for element in document.iter_elements() {
                let element = element?;
                match element.key().as_str() {
                    "_id" => handle = raw::handle(element.value()?),
                    "name" => name = element.value()?.as_str().and_then(|name| name.parse().ok()),
                    _ => {}
                }
            }
            let handle = handle.ok_or_else(|| Error::malformed("a user's `_id` is not a handle"))?;
            let name = name.ok_or_else(|| Error::malformed("a user's `name` is not a name"))?;
            Ok((handle.clone(), Person { handle, name }))
        };
        found.iter().map(named).collect()
    }

    /// These people as lists show them, in one find. People who are gone are left out.
    pub async fn found(&self, handles: &[&Handle]) -> Result<Vec<FoundPerson>> {
        let ids: Vec<&str> = handles.iter().map(|handle| handle.as_str()).collect();
        let find = Find::matching(shown(doc! { "_id": { "$in": ids } })).project(found_fields());
        let found = self.store.engine().find(COLLECTION, find).await?;
        let limits = self.store.settings().of(Relation::Followers);
        found
            .iter()
            .map(|document| found_person(document, limits))
            .collect()
    }

    /// Whom these people followed last: the heads of their lists, in one find. Somebody whom several of them follow is
    /// there as often.
    pub async fn lately_followed_by(&self, followers: &[Handle]) -> Result<Vec<Handle>> {
        let ids: Vec<&str> = followers.iter().map(Handle::as_str).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let find =
            Find::matching(shown(doc! { "_id": { "$in": ids } })).project(doc! { "following.head.by": 1 });
        let mut followed = Vec::new();
        for document in self.store.engine().find(COLLECTION, find).await? {
            let head = document
                .get_document("following")
                .and_then(|list| list.get_array("head"));
            let items = head.into_iter().flatten().filter_map(Bson::as_document);
            followed.extend(items.filter_map(|item| item.get_str("by").ok()?.parse::<Handle>().ok()));
        }
        Ok(followed)
    }

    /// The one of these people with the most followers; `None` when all of them are gone.
    pub async fn most_followed(&self, handles: impl IntoIterator<Item = &Handle>) -> Result<Option<Handle>> {
        let ids: Vec<&str> = handles.into_iter().map(Handle::as_str).collect();
        let find = Find::matching(shown(doc! { "_id": { "$in": ids } }))
            .project(doc! { "name": 1 })
            .sort(doc! { "followers.count": -1, "_id": 1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let first = found.first().map(person).transpose()?;
        Ok(first.map(|person| person.handle))
    }

    /// Changes a person's name and bio. Returns whether there is such a person.
    pub async fn describe(&self, handle: &Handle, name: &DisplayName, bio: &Bio) -> Result<bool> {
        let person = shown(doc! { "_id": handle.as_str() });
        let mut described = doc! { "name": name.as_str(), "bio": bio.as_str() };
        described.extend(search::of_person(handle, name));
        let change = doc! { "$set": described };
        let changed = self
            .store
            .engine()
            .update(COLLECTION, Update::one(person, change))
            .await?;
        Ok(changed.matched == 1)
    }

    /// Changes a password hash, and ends every session that began before `at` and all recovery codes and links, which
    /// somebody else may have made. It is one write, so the old password is not valid at any moment after the sessions have ended. Returns whether the old
    /// hash was still the current one.
    pub async fn change_password(
        &self,
        handle: &Handle,
        old: &str,
        new: &str,
        at: Timestamp,
    ) -> Result<bool> {
        let guard = shown(doc! { "_id": handle.as_str(), "password": old });
        let from = DateTime::from_millis(at.millis());
        let change = doc! {
            "$set": { "password": new, "sessionsFrom": from },
            "$unset": { recovery::FIELD: "" },
        };
        let changed = self
            .store
            .engine()
            .update(COLLECTION, Update::one(guard, change))
            .await?;
        Ok(changed.matched == 1)
    }

    /// Removes a person, the pages of their lists and their timeline; repeating it finishes what was interrupted.
    /// Returns whether there was such a person.
    pub async fn delete(&self, handle: &Handle) -> Result<bool> {
        // In one session: the second step must see that the person is gone.
        let store = self.store.session();
        let deleted = delete_owner(store.engine(), &Topic::User(handle.clone()), doc! {}).await?;
        store.timelines().remove(handle).await?;
        Ok(deleted)
    }
}

/// The fields of a [`User`].
fn fields_of_user() -> Document {
    doc! { "name": 1, "bio": 1, "password": 1, "at": 1 }
}

pub(crate) fn person(document: &Document) -> Result<Person> {
    let text = |field: &str| {
        document
            .get_str(field)
            .map_err(|_| Error::malformed(format!("a user's `{field}`")))
    };
    Ok(Person {
        handle: text("_id")?
            .parse()
            .map_err(|_| Error::malformed("a user's `_id` is not a handle"))?,
        name: text("name")?
            .parse()
            .map_err(|_| Error::malformed("a user's `name` is not a name"))?,
    })
}

pub(crate) fn date(document: &Document, field: &str) -> Result<Timestamp> {
    let date = fields::date(document, field)?;
    Ok(Timestamp::from_millis(date.timestamp_millis()))
}

/// The fields of a person that [`found_person`] reads.
pub(crate) fn found_fields() -> Document {
    doc! {
        "name": 1, "bio": 1,
        "followers.count": 1, "followers.spilled": 1, "followers.pages": 1,
    }
}

/// A person as lists show them.
pub(crate) fn found_person(document: &Document, limits: Limits) -> Result<FoundPerson> {
    let person = person(document)?;
    Ok(FoundPerson {
        handle: person.handle,
        name: person.name,
        bio: document.get_str("bio").unwrap_or_default().to_owned(),
        followers: meter(document, Relation::Followers, limits)?.count,
    })
}
