//! The post documents: what somebody wrote, and the heads of its lists.

mod edit;
mod order;
mod rising;
mod withheld;

use std::collections::{HashMap, HashSet};

use bson::{Bson, DateTime, Document, RawDocument, RawDocumentBuf, doc};
use model::{Cursor, Handle, Meter, PostId, PostText, Relation, Tag, Timestamp, Topic};

use uuid::Uuid;

use crate::Store;
use crate::overflow::{delete_owner, empty, meter_of, uuid_bson};
use crate::people::date;
use crate::raw;
use crate::search;
use crate::shared_posts::SharedPost;
use document::{Error, Find, Result};
use outlier::fields;

pub use order::Order;
pub(crate) use withheld::{FIELD as WITHHELD, prepare};

/// The collection of post documents. `_id` is a UUID.
pub const COLLECTION: &str = "posts";

/// The field with the id of the post that a post quotes.
pub(crate) const QUOTE: &str = "quote";

/// A post as stored, without the items of its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPost {
    /// Its identity.
    pub id: PostId,
    /// Who wrote it.
    pub author: Handle,
    /// What it says.
    pub text: PostText,
    /// When it was written.
    pub at: Timestamp,
    /// When its text was last changed, if it was.
    pub edited_at: Option<Timestamp>,
    /// The post that it quotes.
    pub quote: Option<PostId>,
    /// How its likes are stored.
    pub likes: Meter,
    /// How many comments it has.
    pub comments: u64,
    /// How many people shared it.
    pub shares: u64,
    /// Whether the teacher of a class hides it from everybody.
    pub withheld: bool,
    /// The share that puts it into a list; `None` where it stands as its author's.
    pub share: Option<SharedPost>,
    /// Who puts it into a newer place of the same list, as far as that is known.
    pub above: Vec<Handle>,
}

impl StoredPost {
    /// Where it stands among the newest: the time and the id of the share, or its own.
    pub fn place(&self) -> (Timestamp, Uuid) {
        match &self.share {
            Some(share) => (share.at, share.id),
            None => (self.at, self.id.uuid()),
        }
    }
}

/// The stored form of a new post, with the tags and words of its text and empty lists. `born` distinguishes it from an earlier
/// or later post of the same id.
pub fn new_document(id: PostId, born: Uuid, author: &Handle, text: &PostText, at: Timestamp) -> Document {
    let mut document = doc! {
        "_id": uuid_bson(id.uuid()),
        "born": uuid_bson(born),
        "author": author.as_str(),
        "text": text.as_str(),
        "at": DateTime::from_millis(at.millis()),
    };
    let tags = Tag::all_of(text.as_str());
    if !tags.is_empty() {
        document.insert("tags", tags.iter().map(Tag::as_str).collect::<Vec<_>>());
    }
    document.extend(search::of_post(text.as_str()));
    for relation in Relation::OF_A_POST {
        document.insert(relation.as_str(), empty());
    }
    document
}

/// The post documents of a store.
pub struct Posts<'a> {
    store: &'a Store,
}

impl<'a> Posts<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Adds a post and returns it. `born` is a fresh id for this incarnation of it.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] when there is one with this id.
    pub async fn insert(
        &self,
        id: PostId,
        born: Uuid,
        author: &Handle,
        text: &PostText,
        at: Timestamp,
    ) -> Result<StoredPost> {
        self.insert_document(new_document(id, born, author, text, at))
            .await
    }

    pub(crate) async fn insert_document(&self, document: Document) -> Result<StoredPost> {
        let post = self.stored(&RawDocumentBuf::try_from(&document)?)?;
        self.store.engine().insert(COLLECTION, vec![document]).await?;
        Ok(post)
    }

    /// One post.
    pub async fn get(&self, id: PostId) -> Result<Option<StoredPost>> {
        let find = summaries(doc! { "_id": uuid_bson(id.uuid()) }).limit(1);
        Ok(self.read(find).await?.into_iter().next())
    }

    /// The posts that match, in no particular order.
    pub(crate) async fn matching(&self, filter: Document) -> Result<Vec<StoredPost>> {
        self.read(summaries(filter)).await
    }

    /// Those of these posts that exist and are not hidden from everybody.
    pub async fn several(&self, ids: &[PostId]) -> Result<HashMap<PostId, StoredPost>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<Bson> = ids.iter().map(|id| uuid_bson(id.uuid())).collect();
        let posts = self.read(summaries(doc! { "_id": { "$in": ids } })).await?;
        let shown = posts.into_iter().filter(|post| !post.withheld);
        Ok(shown.map(|post| (post.id, post)).collect())
    }

    /// Posts in some order after a cursor: everybody's, or only these authors'. One more than `limit` shows the caller
    /// that the list goes on.
    pub async fn list(
        &self,
        authors: Option<&[Handle]>,
        order: Order,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        self.stretch(by(authors), order, after, limit).await
    }

    /// The newest posts of some authors after a cursor, without those that are older than a moment.
    pub(crate) async fn written_by(
        &self,
        authors: &[Handle],
        since: Option<Timestamp>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        self.stretch(by_since(authors, since), Order::Newest, after, limit)
            .await
    }

    /// The first posts of an order, without those that are younger than a moment.
    pub async fn written_until(
        &self,
        until: Option<Timestamp>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        let filter = until.map_or_else(Document::new, |until| {
            doc! { "at": { "$lte": DateTime::from_millis(until.millis()) } }
        });
        self.stretch(filter, order, None, limit).await
    }

    /// Posts with a tag in some order after a cursor.
    pub async fn tagged(
        &self,
        tag: &Tag,
        order: Order,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        self.stretch(doc! { "tags": tag.as_str() }, order, after, limit)
            .await
    }

    /// Posts with a word, newest first, after a cursor.
    pub(crate) async fn with_word(
        &self,
        word: &str,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        self.stretch(doc! { search::WORDS: word }, Order::Newest, after, limit)
            .await
    }

    /// How many posts there are with a word, counted up to a limit from the newest, and when the last of these was written.
    pub(crate) async fn sample_with_word(
        &self,
        word: &str,
        limit: usize,
    ) -> Result<(usize, Option<Timestamp>)> {
        let find = Find::matching(doc! { search::WORDS: word })
            .project(doc! { "at": 1 })
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(limit as u64);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let oldest = found.last().map(|post| date(post, "at")).transpose()?;
        Ok((found.len(), oldest))
    }

    /// How many posts with a tag there are.
    pub async fn count_tagged(&self, tag: &Tag) -> Result<u64> {
        let filter = doc! { "tags": tag.as_str() };
        self.store.engine().count(COLLECTION, filter).await
    }

    async fn stretch(
        &self,
        mut filter: Document,
        order: Order,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<StoredPost>> {
        let field = order.field();
        order.restrict(&mut filter, after)?;
        let find = summaries(filter)
            .sort(doc! { field: -1, "_id": -1 })
            .limit(limit as u64);
        self.read(find).await
    }

    /// The newest post of all, if there is one.
    pub async fn newest(&self) -> Result<Option<PostId>> {
        let find = Find::matching(Document::new())
            .project(doc! { "_id": 1 })
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        found.first().map(|document| post_id(document, "_id")).transpose()
    }

    /// How many posts there are: everybody's, or only these authors'.
    pub async fn count(&self, authors: Option<&[Handle]>) -> Result<u64> {
        self.store.engine().count(COLLECTION, by(authors)).await
    }

    /// Those of these posts whose lists of these relations have a person. Empty without a person.
    pub async fn with_actor<const N: usize>(
        &self,
        posts: &[PostId],
        relations: [Relation; N],
        actor: Option<&Handle>,
    ) -> Result<[HashSet<PostId>; N]> {
        let Some(actor) = actor else {
            return Ok(relations.map(|_| HashSet::new()));
        };
        let owners: Vec<Topic> = posts.iter().map(|post| Topic::Post(*post)).collect();
        let holding = self.store.holding_each(&owners, relations, actor).await?;
        Ok(holding.map(|owners| {
            let posts = owners.into_iter().filter_map(|owner| match owner {
                Topic::Post(id) => Some(id),
                Topic::User(_) => None,
            });
            posts.collect()
        }))
    }

    /// Removes a post and the pages of its lists; repeating it finishes what was interrupted. Returns whether there
    /// was such a post.
    pub async fn delete(&self, id: PostId) -> Result<bool> {
        delete_owner(self.store.engine(), &Topic::Post(id), doc! {}).await
    }

    async fn read(&self, find: Find) -> Result<Vec<StoredPost>> {
        self.store
            .engine()
            .find_raw(COLLECTION, find)
            .await?
            .iter()
            .map(|document| self.stored(document))
            .collect()
    }

    fn stored(&self, document: &RawDocument) -> Result<StoredPost> {
        let (mut id, mut author, mut text, mut at) = (None, None, None, None);
        let (mut edited_at, mut quote, mut withheld) = (None, None, false);
        let [mut likes, mut comments, mut shares] = [None; 3];
        for element in document.iter_elements() {
            let element = element?;
            let value = || Ok::<_, Error>(element.value()?);
            match element.key().as_str() {
                "_id" => id = Some(raw::uuid(value()?, "_id")?.into()),
                "author" => author = raw::handle(value()?),
                "text" => text = value()?.as_str().and_then(|text| text.parse().ok()),
                "at" => at = Some(raw::date(value()?, "at")?),
                "editedAt" => edited_at = Some(raw::date(value()?, "editedAt")?),
                QUOTE => quote = Some(raw::uuid(value()?, QUOTE)?.into()),
                "likes" => likes = Some(value()?),
                "comments" => comments = Some(value()?),
                "shares" => shares = Some(value()?),
                withheld::FIELD => withheld = true,
                _ => {}
            }
        }
        let list = |list, relation| meter_of(list, self.store.settings().of(relation));
        Ok(StoredPost {
            id: id.ok_or_else(|| Error::malformed("`_id` is not a UUID"))?,
            author: author.ok_or_else(|| Error::malformed("a post's `author` is not a handle"))?,
            text: text.ok_or_else(|| Error::malformed("a post's `text` is not a post"))?,
            at: at.ok_or_else(|| Error::malformed("`at` is not a date"))?,
            edited_at,
            quote,
            likes: list(likes, Relation::Likes)?,
            comments: list(comments, Relation::Comments)?.count,
            shares: list(shares, Relation::Shares)?.count,
            withheld,
            share: None,
            above: Vec::new(),
        })
    }
}

/// A find that leaves out the items of the lists.
fn summaries(filter: Document) -> Find {
    Find::matching(filter).project(doc! {
        "author": 1, "text": 1, "at": 1, "editedAt": 1, QUOTE: 1,
        "likes.count": 1, "likes.spilled": 1, "likes.pages": 1, "comments.count": 1, "shares.count": 1,
        withheld::FIELD: 1,
    })
}

pub(crate) fn by(authors: Option<&[Handle]>) -> Document {
    match authors {
        None => Document::new(),
        Some([author]) => doc! { "author": author.as_str() },
        Some(authors) => doc! { "author": { "$in": authors.iter().map(Handle::as_str).collect::<Vec<_>>() } },
    }
}

/// What these authors wrote or shared, without what is older than a moment.
pub(crate) fn by_since(authors: &[Handle], since: Option<Timestamp>) -> Document {
    let mut filter = by(Some(authors));
    if let Some(since) = since {
        filter.insert("at", doc! { "$gte": DateTime::from_millis(since.millis()) });
    }
    filter
}

fn post_id(document: &Document, field: &str) -> Result<PostId> {
    fields::uuid(document, field).map(PostId::from)
}
