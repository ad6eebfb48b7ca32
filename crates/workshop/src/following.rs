use bson::doc;
use document::{Engine, Error, Result};
use model::{ActivityKind, Handle, Person, Problem, Relation, Timestamp, Topic};
use store::overflow::{Item, Key};
use store::people::User;
use store::{Settings, Store};
use uuid::Uuid;

use crate::cast::{FIRST, handle};

/// The person whom everybody here follows.
pub const FOLLOWED: &str = "celebrity";

/// The people who may follow them later.
const NEWCOMERS: [&str; 2] = ["ada", "bob"];

/// Our protocol for following: the followers of one person, and on the other side each follower's own documents.
pub struct Following {
    store: Store,
}

impl Following {
    /// People and their lists in the collections of this engine.
    pub async fn open(engine: Engine, limits: store::Limits) -> Result<Self> {
        let mut settings = Settings::default();
        settings
            .set_threshold(Relation::Followers, limits.threshold)
            .and_then(|()| settings.set_page_size(Relation::Followers, limits.page_size))
            .map_err(unusable)?;
        Ok(Self {
            store: Store::open(engine, settings.without_notifications()).await?,
        })
    }

    /// The store that the lists are in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Signs everybody up, and lets these follow, one after the other.
    pub async fn load(&self, followers: Vec<Item>) -> Result<()> {
        let mut joining = vec![handle(FOLLOWED)?];
        for newcomer in NEWCOMERS {
            joining.push(handle(newcomer)?);
        }
        joining.extend(followers.iter().filter_map(|item| item.by.clone()));
        for (born, handle) in (1_u128..).zip(joining) {
            let user = User {
                person: Person {
                    name: handle.as_str().parse().map_err(unusable)?,
                    handle,
                },
                bio: String::new(),
                password: None,
                at: Timestamp::from_millis(FIRST),
            };
            self.store.people().insert(&user, Uuid::from_u128(born)).await?;
        }
        for follower in followers {
            self.follow(follower).await?;
        }
        Ok(())
    }

    /// Follows as the feed does it: the person's followers, then the follower's own list, then the follower's
    /// activities.
    pub async fn follow(&self, follower: Item) -> Result<()> {
        let Some(reader) = follower.by.clone() else {
            return Err(Error::refused(2, "somebody who follows is named in `by`"));
        };
        let appended = self
            .store
            .timelines()
            .follow(&handle(FOLLOWED)?, follower.clone(), follower.id)
            .await?;
        let activity = Item {
            id: appended.item.id,
            by: None,
            at: appended.item.at,
            more: doc! { "kind": ActivityKind::Follow.as_str(), "user": FOLLOWED },
        };
        let activities = self.store.list(Relation::Activities);
        activities.append(&Topic::User(reader), activity).await.map(drop)
    }

    /// The newest followers.
    pub async fn newest(&self, most: usize) -> Result<Vec<Item>> {
        let followers = self.store.list(Relation::Followers);
        Ok(followers.newest_first(&followed()?, None, most).await?.items)
    }

    /// How many followers the owner document counts.
    pub async fn count(&self) -> Result<u64> {
        Ok(self.store.overflow(&followed()?).await?[&Relation::Followers].count)
    }

    /// Whether a person's own list says that they follow.
    pub async fn contains(&self, reader: &Handle) -> Result<bool> {
        let key = Key::By(handle(FOLLOWED)?);
        let following = self.store.list(Relation::Following);
        Ok(following
            .find(&Topic::User(reader.clone()), &key)
            .await?
            .is_some())
    }
}

fn followed() -> Result<Topic> {
    Ok(Topic::User(handle(FOLLOWED)?))
}

fn unusable(problem: Problem) -> Error {
    Error::refused(2, problem.message)
}
