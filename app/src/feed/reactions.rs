//! Likes and shares: lists of a post in which everybody appears at most once.

use bson::doc;
use model::{ActivityKind, Counted, Handle, Listing, Member, PostId, Problem, Relation, Topic};
use store::overflow::{Item, Key, uuid_bson};

use super::problems::{explain, or_take_back};
use super::{Feed, Paging};

impl Feed {
    /// Likes a post. Again changes nothing.
    pub async fn like(&self, actor: &Handle, post: PostId) -> Result<Counted, Problem> {
        self.react(actor, post, Relation::Likes, ActivityKind::Like).await
    }

    /// Takes a like back. Again changes nothing.
    pub async fn unlike(&self, actor: &Handle, post: PostId) -> Result<Counted, Problem> {
        self.take_back(actor, post, Relation::Likes).await
    }

    /// Shares a post. Again changes nothing.
    pub async fn share(&self, actor: &Handle, post: PostId) -> Result<Counted, Problem> {
        self.react(actor, post, Relation::Shares, ActivityKind::Share)
            .await
    }

    /// Takes a share back. Again changes nothing.
    pub async fn unshare(&self, actor: &Handle, post: PostId) -> Result<Counted, Problem> {
        self.take_back(actor, post, Relation::Shares).await
    }

    /// Who likes a post.
    pub async fn likes(&self, post: PostId, paging: Paging) -> Result<Listing<Member>, Problem> {
        self.members(&Topic::Post(post), Relation::Likes, paging).await
    }

    /// Who shared a post.
    pub async fn shares(&self, post: PostId, paging: Paging) -> Result<Listing<Member>, Problem> {
        self.members(&Topic::Post(post), Relation::Shares, paging).await
    }

    /// Appends to the post's list, then to the actor's activities. Stopped in between, the next try finds the item
    /// there and writes the activity that is missing.
    async fn react(
        &self,
        actor: &Handle,
        post: PostId,
        relation: Relation,
        kind: ActivityKind,
    ) -> Result<Counted, Problem> {
        let _turn = self.turns.of(actor).await;
        let at = self.environment.now();
        let item = Item::new(self.environment.ids.uuid(at), actor.clone(), at);
        let owner = Topic::Post(post);
        let appended = self
            .store
            .list(relation)
            .append(&owner, item)
            .await
            .map_err(explain)?;
        self.events.changed(&owner);
        let target = doc! { "post": uuid_bson(post.uuid()) };
        let id = appended.item.id;
        let recorded = self.record(actor, id, appended.item.at, kind, target).await;
        let list = self.store.list(relation);
        or_take_back(recorded, async {
            list.remove(&owner, &Key::Id(id)).await.map(drop)
        })
        .await?;
        Ok(Counted {
            active: true,
            count: appended.count,
        })
    }

    /// Removes from the actor's activities, then from the post's list: in this order a second try still finds the
    /// item that tells which activity to remove.
    async fn take_back(&self, actor: &Handle, post: PostId, relation: Relation) -> Result<Counted, Problem> {
        let _turn = self.turns.of(actor).await;
        let owner = Topic::Post(post);
        let key = Key::By(actor.clone());
        if let Some(item) = self
            .store
            .list(relation)
            .find(&owner, &key)
            .await
            .map_err(explain)?
        {
            self.forget(actor, item.id).await?;
        }
        let removed = self
            .store
            .list(relation)
            .remove(&owner, &key)
            .await
            .map_err(explain)?;
        self.events.changed(&owner);
        Ok(Counted {
            active: false,
            count: removed.count,
        })
    }
}
