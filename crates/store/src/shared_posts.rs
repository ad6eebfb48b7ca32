//! Shares as posts are listed: where somebody's share puts a post into their followers' homes and onto their own page.
//!
//! Whether somebody shares a post, its list of shares decides. Beside the item there is one small document, which has
//! the sharer as `author` and a time like a post, so that shares are found, sorted and delivered as posts are. It
//! belongs to one item, whose id it has in `born`.

use bson::{Bson, DateTime, Document, RawDocument, doc};
use model::{Cursor, Handle, PostId, Timestamp};
use uuid::Uuid;

use crate::Store;
use crate::digest_id::digest_id;
use crate::overflow::{Item, uuid_bson};
use crate::posts::{Order, StoredPost, by, by_since};
use crate::raw;
use crate::timeline::UNDELIVERED;
use document::{DocumentEngine, Error, Find, Index, Result};

/// The collection of shares as posts are listed. `_id` is made from the post's id and the sharer's handle.
pub const COLLECTION: &str = "sharedPosts";

/// The field with the id of the post.
pub(crate) const OF: &str = "of";

/// How many are read or written at a time.
const AT_ONCE: usize = 500;

/// Creates the indexes that find somebody's shares, the newest of all, and those to be delivered.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    for index in [
        Index::on(doc! { "author": 1, "at": -1, "_id": -1 }),
        Index::on(doc! { "at": -1, "_id": -1 }),
        Index::on(doc! { UNDELIVERED: 1 }).only(doc! { UNDELIVERED: true }),
    ] {
        engine.create_index(COLLECTION, index).await?;
    }
    Ok(())
}

/// Somebody's share of a post, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPost {
    /// Its identity in lists of posts.
    pub id: Uuid,
    /// The item in the post's list of shares.
    pub born: Uuid,
    /// The post.
    pub of: PostId,
    /// Who shared it.
    pub by: Handle,
    /// When they did.
    pub at: Timestamp,
}

impl SharedPost {
    /// How a share is listed; `None` for an item that nobody is named in.
    pub fn of(post: PostId, item: &Item) -> Option<Self> {
        let by = item.by.clone()?;
        Some(Self {
            id: shared_id(post, &by),
            born: item.id,
            of: post,
            by,
            at: item.at,
        })
    }

    /// The stored form.
    pub fn to_document(&self) -> Document {
        doc! {
            "_id": uuid_bson(self.id), "born": uuid_bson(self.born), "author": self.by.as_str(),
            "at": DateTime::from_millis(self.at.millis()), OF: uuid_bson(self.of.uuid()),
        }
    }

    fn read(document: &RawDocument) -> Result<Self> {
        let [mut id, mut born, mut of] = [None; 3];
        let (mut by, mut at) = (None, None);
        for element in document.iter_elements() {
            let element = element?;
            let (name, value) = (element.key().as_str(), element.value()?);
            match name {
                "_id" => id = Some(raw::uuid(value, name)?),
                "born" => born = Some(raw::uuid(value, name)?),
                "author" => by = raw::handle(value),
                "at" => at = Some(raw::date(value, name)?),
                OF => of = Some(raw::uuid(value, name)?),
                _ => {}
            }
        }
        let missing = |field: &str| Error::malformed(format!("a shared post's `{field}`"));
        Ok(Self {
            id: id.ok_or_else(|| missing("_id"))?,
            born: born.ok_or_else(|| missing("born"))?,
            of: of.ok_or_else(|| missing(OF))?.into(),
            by: by.ok_or_else(|| missing("author"))?,
            at: at.ok_or_else(|| missing("at"))?,
        })
    }

    /// The post that it lists, if that is among these. A post that is younger than the share is another one with the
    /// same id. One's own posts are listed already.
    pub(crate) fn shows(&self, posts: &[StoredPost]) -> Option<StoredPost> {
        let is_meant =
            |post: &&StoredPost| post.id == self.of && post.at <= self.at && post.author != self.by;
        posts.iter().find(is_meant).map(|post| StoredPost {
            share: Some(self.clone()),
            ..post.clone()
        })
    }

    /// This very share: somebody may have taken it back and shared the post again.
    pub(crate) fn filter(&self) -> Document {
        doc! { "_id": uuid_bson(self.id), "born": uuid_bson(self.born) }
    }
}

/// The identity of a person's share of a post in lists of posts.
pub(crate) fn shared_id(post: PostId, by: &Handle) -> Uuid {
    digest_id([
        b"share",
        post.uuid().as_bytes().as_slice(),
        by.as_str().as_bytes(),
    ])
}

/// The shares of a store, as posts are listed.
pub struct SharedPosts<'a> {
    store: &'a Store,
}

impl<'a> SharedPosts<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    fn engine(&self) -> &'a dyn DocumentEngine {
        &**self.store.engine()
    }

    /// Writes how a share is listed, to be delivered, if it is not there. An earlier share of the same post by the same
    /// person is replaced.
    pub(crate) async fn insert(&self, shared: &SharedPost) -> Result<()> {
        let mut document = shared.to_document();
        document.insert(UNDELIVERED, true);
        loop {
            match self.engine().insert(COLLECTION, vec![document.clone()]).await {
                Err(Error::DuplicateKey { .. }) => {}
                inserted => return inserted,
            }
            match self.get(shared.id).await? {
                Some(there) if there.born == shared.born => return Ok(()),
                Some(earlier) => self.remove(&earlier).await?,
                None => {}
            }
        }
    }

    /// Writes how shares are listed in a store in which no home has been built: there is nothing to deliver.
    pub async fn insert_all(&self, shared: &[SharedPost]) -> Result<()> {
        for some in shared.chunks(AT_ONCE) {
            let documents = some.iter().map(SharedPost::to_document).collect();
            self.engine().insert(COLLECTION, documents).await?;
        }
        Ok(())
    }

    /// Removes it.
    pub(crate) async fn remove(&self, shared: &SharedPost) -> Result<()> {
        self.engine()
            .delete(COLLECTION, shared.filter(), false)
            .await
            .map(drop)
    }

    /// How somebody's share of a post is listed.
    pub(crate) async fn by(&self, by: &Handle, post: PostId) -> Result<Option<SharedPost>> {
        self.get(shared_id(post, by)).await
    }

    async fn get(&self, id: Uuid) -> Result<Option<SharedPost>> {
        let find = Find::matching(doc! { "_id": uuid_bson(id) }).limit(1);
        Ok(self.read(find).await?.into_iter().next())
    }

    /// The newest share of all, if there is one.
    pub async fn newest(&self) -> Result<Option<Uuid>> {
        let find = Find::matching(Document::new())
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(1);
        Ok(self.read(find).await?.first().map(|shared| shared.id))
    }

    /// Those that are to be delivered for a person.
    pub(crate) async fn waiting(&self, author: &Handle) -> Result<Vec<SharedPost>> {
        let waiting = doc! { "author": author.as_str(), UNDELIVERED: true };
        self.read(Find::matching(waiting)).await
    }

    /// The posts that some people shared, by the time of the share, after a cursor of [`Order::Newest`]. Those that are
    /// gone are left out.
    pub async fn list(
        &self,
        authors: &[Handle],
        mut after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        let mut listed = Vec::new();
        loop {
            let shared = self.shared_by(authors, None, after, limit).await?;
            let ids: Vec<Bson> = shared.iter().map(|shared| uuid_bson(shared.of.uuid())).collect();
            if ids.is_empty() {
                return Ok(listed);
            }
            let posts = self
                .store
                .posts()
                .matching(doc! { "_id": { "$in": ids } })
                .await?;
            listed.extend(shared.iter().filter_map(|shared| shared.shows(&posts)));
            let last = shared
                .last()
                .filter(|_| shared.len() == limit && listed.len() < limit);
            let Some(last) = last else {
                return Ok(listed);
            };
            after = Some(Order::Newest.cursor_at(last.at, last.id));
        }
    }

    /// The newest shares of some people after a cursor of [`Order::Newest`], without those that are older than a moment.
    pub(crate) async fn shared_by(
        &self,
        authors: &[Handle],
        since: Option<Timestamp>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<SharedPost>> {
        if authors.is_empty() {
            return Ok(Vec::new());
        }
        let mut filter = by_since(authors, since);
        Order::Newest.restrict(&mut filter, after)?;
        let find = Find::matching(filter).sort(doc! { "at": -1, "_id": -1 });
        self.read(find.limit(limit as u64)).await
    }

    /// Those of these shares that are there.
    pub(crate) async fn several(&self, ids: Vec<Uuid>) -> Result<Vec<SharedPost>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Bson> = ids.into_iter().map(uuid_bson).collect();
        self.read(Find::matching(doc! { "_id": { "$in": ids } })).await
    }

    /// How many posts some people shared.
    pub async fn count(&self, authors: &[Handle]) -> Result<u64> {
        match authors {
            [] => Ok(0),
            authors => self.engine().count(COLLECTION, by(Some(authors))).await,
        }
    }

    /// Some of a person's shares; empty when there are none.
    pub(crate) async fn some_by(&self, author: &Handle) -> Result<Vec<SharedPost>> {
        let find = Find::matching(doc! { "author": author.as_str() }).limit(AT_ONCE as u64);
        self.read(find).await
    }

    /// A stretch of all of them, from after this one; empty at the end.
    pub(crate) async fn stretch_after(&self, last: Option<&SharedPost>) -> Result<Vec<SharedPost>> {
        let filter = last.map_or_else(Document::new, |last| {
            doc! { "_id": { "$gt": uuid_bson(last.id) } }
        });
        let find = Find::matching(filter)
            .sort(doc! { "_id": 1 })
            .limit(AT_ONCE as u64);
        self.read(find).await
    }

    async fn read(&self, find: Find) -> Result<Vec<SharedPost>> {
        let found = self.engine().find_raw(COLLECTION, find).await?;
        found.iter().map(|document| SharedPost::read(document)).collect()
    }
}
