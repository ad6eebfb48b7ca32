//! Bookmarks and hidden posts: posts that a person keeps for themselves, or does not want to see, each at most once. An item
//! has the id of its post, so it is found by a key, and a post that is deleted only leaves an item that no page shows.

use model::{Handle, Listing, PostCard, PostId, Problem, ReactionState, Relation, Timestamp, Topic};
use store::overflow::{Item, Key};

use super::posts::asked_for;
use super::problems::to_problem;
use super::{Feed, Lists, Paging, PrivatePosts};

/// A private list of posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateList {
    /// Those that a person keeps.
    Bookmarks,
    /// Those that a person does not want to see in feeds.
    Hidden,
}

impl PrivateList {
    /// Its relation.
    pub const fn relation(self) -> Relation {
        match self {
            Self::Bookmarks => Relation::Bookmarks,
            Self::Hidden => Relation::Hidden,
        }
    }
}

impl PrivatePosts<'_> {
    /// Adds a post. A second call changes nothing. The count is how many posts the reader's list has.
    ///
    /// # Errors
    /// When there is no such post.
    pub async fn add(self, reader: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        let Self(feed, list) = self;
        let _turn = feed.turns.of(reader).await;
        feed.require_visible(&Topic::Post(post), Some(reader)).await?;
        let item = item(post, feed.environment.now());
        let list = feed.store.list(list.relation());
        let added = list.append(&Topic::User(reader.clone()), item).await;
        feed.new_posts.forget();
        Ok(ReactionState {
            active: true,
            count: added.map_err(to_problem)?.count,
        })
    }

    /// Removes a post. A second call changes nothing.
    pub async fn remove(self, reader: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        let Self(feed, list) = self;
        let _turn = feed.turns.of(reader).await;
        let list = feed.store.list(list.relation());
        let key = Key::Id(post.uuid());
        let removed = list.remove(&Topic::User(reader.clone()), &key).await;
        feed.new_posts.forget();
        Ok(ReactionState {
            active: false,
            count: removed.map_err(to_problem)?.count,
        })
    }

    /// Whether a reader's list has a post.
    pub async fn has(self, reader: &Handle, post: PostId) -> Result<bool, Problem> {
        let list = self.0.store.list(self.1.relation());
        let found = list
            .find(&Topic::User(reader.clone()), &Key::Id(post.uuid()))
            .await;
        Ok(found.map_err(to_problem)?.is_some())
    }
}

impl Lists<'_> {
    /// A stretch of a person's private list of posts, the latest addition first.
    pub async fn private_posts(
        self,
        owner: &Handle,
        list: PrivateList,
        paging: Paging,
    ) -> Result<Listing<PostCard>, Problem> {
        let Self(feed, reader) = self;
        let topic = Topic::User(owner.clone());
        let stretch = self.stretch(&topic, list.relation(), paging).await?;
        let ids: Vec<PostId> = stretch.items.iter().map(|item| item.id.into()).collect();
        let mut posts = feed.store.posts().several(&ids).await.map_err(to_problem)?;
        let posts = ids.iter().filter_map(|id| posts.remove(id)).collect();
        Ok(Listing {
            items: feed.cards(posts, reader, asked_for).await?,
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams: stretch.seams,
            total: stretch.total,
        })
    }
}

impl Feed {
    /// One of the private lists of posts.
    pub fn private_posts(&self, list: PrivateList) -> PrivatePosts<'_> {
        PrivatePosts(self, list)
    }
}

fn item(post: PostId, at: Timestamp) -> Item {
    Item {
        id: post.uuid(),
        by: None,
        at,
        more: bson::Document::new(),
    }
}
