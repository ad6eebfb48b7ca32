//! Bookmarks: posts that a person keeps for themselves, each at most once. An item has the id of its post, so it is found
//! by a key, and a post that is deleted only leaves an item that no page shows.

use model::{Handle, Listing, PostCard, PostId, Problem, ReactionState, Relation, Timestamp, Topic};
use store::overflow::{Item, Key};

use super::problems::to_problem;
use super::{Bookmarks, Lists, Paging};

impl Bookmarks<'_> {
    /// Keeps a post. A second call changes nothing. The count is how many the reader keeps.
    ///
    /// # Errors
    /// When there is no such post.
    pub async fn add(self, reader: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        let _turn = self.0.turns.of(reader).await;
        let post = self.0.stored_post(post).await?.id;
        let bookmarks = self.0.store.list(Relation::Bookmarks);
        let item = bookmark(post, self.0.environment.now());
        let added = bookmarks.append(&Topic::User(reader.clone()), item).await;
        Ok(ReactionState {
            active: true,
            count: added.map_err(to_problem)?.count,
        })
    }

    /// Keeps a post no longer. A second call changes nothing.
    pub async fn remove(self, reader: &Handle, post: PostId) -> Result<ReactionState, Problem> {
        let _turn = self.0.turns.of(reader).await;
        let bookmarks = self.0.store.list(Relation::Bookmarks);
        let key = Key::Id(post.uuid());
        let removed = bookmarks.remove(&Topic::User(reader.clone()), &key).await;
        Ok(ReactionState {
            active: false,
            count: removed.map_err(to_problem)?.count,
        })
    }

    /// Whether a reader keeps a post.
    pub async fn has(self, reader: &Handle, post: PostId) -> Result<bool, Problem> {
        let bookmarks = self.0.store.list(Relation::Bookmarks);
        let key = Key::Id(post.uuid());
        let found = bookmarks.find(&Topic::User(reader.clone()), &key).await;
        Ok(found.map_err(to_problem)?.is_some())
    }
}

impl Lists<'_> {
    /// A stretch of the posts that a person keeps, the latest bookmark first.
    pub async fn bookmarks(self, owner: &Handle, paging: Paging) -> Result<Listing<PostCard>, Problem> {
        let Self(feed, reader) = self;
        let topic = Topic::User(owner.clone());
        let stretch = self.stretch(&topic, Relation::Bookmarks, paging).await?;
        let ids: Vec<PostId> = stretch.items.iter().map(|item| item.id.into()).collect();
        let mut posts = feed.store.posts().several(&ids).await.map_err(to_problem)?;
        let posts = ids.iter().filter_map(|id| posts.remove(id)).collect();
        Ok(Listing {
            items: feed.cards(posts, reader).await?,
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams: stretch.seams,
            total: stretch.total,
        })
    }
}

fn bookmark(post: PostId, at: Timestamp) -> Item {
    Item {
        id: post.uuid(),
        by: None,
        at,
        more: bson::Document::new(),
    }
}
