//! Ways to keep the likes of many posts: in heads and pages, as one document for each, or as both.

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Error, Find, Index, Result, Update};
use outlier::{Item, Key, Limits, ListSpec, Lists, Order, Owner, delete_owner, lay_out};
use uuid::Uuid;

use super::{NEWEST, SCREEN};

const POSTS: &str = "posts";
const PAGES: &str = "pages";
const LIKES: &str = "likes";

/// What a list page shows of a post: its number of likes, and who liked it last.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number of likes.
    pub count: i64,
    /// The newest likers, the newest first.
    pub newest: Vec<String>,
}

/// A way to keep likes.
#[async_trait]
pub trait Way: Send + Sync {
    /// The collections that it uses.
    fn collections(&self) -> &'static [&'static str];

    /// Stores a post with the likes of these people, the oldest first.
    async fn load(&self, post: &Post, likers: Vec<Like>) -> Result<()>;

    /// Twenty posts from this moment back, with their numbers and newest likers.
    async fn screen(&self, from: DateTime) -> Result<Vec<Seen>>;

    /// Which of these posts somebody likes.
    async fn liked(&self, posts: &[Post], by: &str) -> Result<usize>;

    /// Adds a like, once for each person.
    async fn like(&self, post: &Post, like: Like) -> Result<()>;

    /// Removes the like of somebody.
    async fn unlike(&self, post: &Post, by: &str) -> Result<()>;

    /// Counts the likes again from what is stored, as a check does.
    async fn recount(&self, post: &Post) -> Result<u64>;

    /// Deletes a post with its likes.
    async fn delete(&self, post: &Post) -> Result<()>;
}

/// A post, by number.
#[derive(Debug, Clone, Copy)]
pub struct Post(pub u64);

impl Post {
    fn id(self) -> Bson {
        uuid(0x0193, self.0)
    }

    fn owner(self) -> Owner {
        Owner::from(self.id())
    }

    /// When it was written.
    pub fn at(self) -> DateTime {
        moment(self.0 * 60_000)
    }

    fn document(self, likes: Document) -> Document {
        doc! {
            "_id": self.id(), "at": self.at(), "author": "weir-keeper", "text": TEXT, LIKES: likes,
        }
    }
}

/// A post's text: about as long as those of the demo town.
const TEXT: &str = "The river stood at four metres and twelve centimetres at noon, and the weir keeper opened the second gate.";

/// A like.
#[derive(Debug, Clone)]
pub struct Like {
    /// Who likes.
    pub by: String,
    id: Bson,
    at: DateTime,
}

impl Like {
    /// The same like by somebody else.
    pub fn given_by(self, by: String) -> Self {
        Self { by, ..self }
    }

    /// The n-th like, of all posts together; higher numbers are newer. Likes that follow each other are of different people.
    pub fn of(number: u64) -> Self {
        Self {
            by: person(number * 7_919 % PEOPLE),
            id: uuid(0x0194, number),
            at: moment(number),
        }
    }

    fn document(&self) -> Document {
        doc! { "id": &self.id, "by": &self.by, "at": self.at }
    }
}

/// How many people there are. No post has more likes.
pub const PEOPLE: u64 = 30_000;

/// The n-th person. All names have the same length.
pub fn person(number: u64) -> String {
    format!("user{number:07}")
}

fn uuid(kind: u128, number: u64) -> Bson {
    outlier::uuid_bson(Uuid::from_u128(
        (kind << 112) + (0x7000_8000 << 64) + u128::from(number),
    ))
}

fn moment(after: u64) -> DateTime {
    DateTime::from_millis(1_770_000_000_000 + i64::try_from(after).unwrap_or(0))
}

/// The posts of a screen, with the newest likes of their heads.
fn newest_posts(from: DateTime) -> Find {
    let newest = doc! { "$slice": NEWEST };
    Find::matching(doc! { "at": { "$lte": from } })
        .project(doc! { "text": 1, "author": 1, "at": 1, "likes.count": 1, "likes.head": newest })
        .sort(doc! { "at": -1 })
        .limit(SCREEN)
}

fn screen_of(posts: &[Document]) -> Vec<Seen> {
    let seen = posts.iter().map(|post| {
        let likes = post.get_document(LIKES).ok();
        let newest = likes.and_then(|likes| likes.get_array("head").ok());
        Seen {
            count: likes.map_or(0, count_of),
            newest: newest.map_or_else(Vec::new, |newest| {
                likers(newest.iter().filter_map(Bson::as_document))
            }),
        }
    });
    seen.collect()
}

fn likers<'d>(likes: impl IntoIterator<Item = &'d Document>) -> Vec<String> {
    let names = likes.into_iter().filter_map(|like| like.get_str("by").ok());
    names.map(str::to_owned).collect()
}

fn count_of(likes: &Document) -> i64 {
    match likes.get("count") {
        Some(Bson::Int32(count)) => i64::from(*count),
        Some(Bson::Int64(count)) => *count,
        _ => 0,
    }
}

/// Heads and pages.
pub struct Pages {
    engine: Engine,
    lists: Lists,
}

impl Pages {
    /// In an empty store, with these limits.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        let lists = Lists::new(ListSpec {
            owners: POSTS.into(),
            path: LIKES.into(),
            pages: PAGES.into(),
            key: Some("by".into()),
            order: Order::default(),
            limits,
            head_bytes: None,
            largest_item: 1_000,
            read: |item| Ok(item),
        });
        lists.prepare(&engine).await?;
        engine.create_index(POSTS, Index::on(doc! { "at": -1 })).await?;
        Ok(Self { engine, lists })
    }

    fn item(&self, like: &Like) -> Result<Item> {
        Item::new(like.document(), &self.lists.spec().order)
    }
}

#[async_trait]
impl Way for Pages {
    fn collections(&self) -> &'static [&'static str] {
        &[POSTS, PAGES]
    }

    async fn load(&self, post: &Post, likers: Vec<Like>) -> Result<()> {
        let items = likers.iter().map(|like| self.item(like)).collect::<Result<_>>()?;
        let laid_out = lay_out(self.lists.spec(), &post.owner(), Uuid::nil(), items);
        let mut document = post.document(laid_out.list);
        document.insert("born", outlier::uuid_bson(Uuid::nil()));
        if !laid_out.pages.is_empty() {
            self.engine.insert(PAGES, laid_out.pages).await?;
        }
        self.engine.insert(POSTS, vec![document]).await
    }

    async fn screen(&self, from: DateTime) -> Result<Vec<Seen>> {
        let posts = self.engine.find(POSTS, newest_posts(from)).await?;
        Ok(screen_of(&posts))
    }

    async fn liked(&self, posts: &[Post], by: &str) -> Result<usize> {
        let ids: Vec<Bson> = posts.iter().map(|post| post.id()).collect();
        let heads =
            Find::matching(doc! { "_id": { "$in": &ids }, "likes.head.by": by }).project(doc! { "_id": 1 });
        let pages = Find::matching(doc! { "owner": { "$in": ids }, "relation": LIKES, "items.by": by })
            .project(doc! { "owner": 1 });
        Ok(self.engine.find(POSTS, heads).await?.len() + self.engine.find(PAGES, pages).await?.len())
    }

    async fn like(&self, post: &Post, like: Like) -> Result<()> {
        let list = self.lists.on(self.engine.clone());
        list.append(&post.owner(), self.item(&like)?).await.map(drop)
    }

    async fn unlike(&self, post: &Post, by: &str) -> Result<()> {
        let list = self.lists.on(self.engine.clone());
        list.remove(&post.owner(), &Key::Value(by.into())).await.map(drop)
    }

    async fn recount(&self, post: &Post) -> Result<u64> {
        let lists = self.lists.on(self.engine.clone());
        let owner = post.owner();
        let mut walk = lists.walk(&owner);
        let mut count = 0;
        while let Some(stretch) = walk.next().await? {
            count += stretch.items.len() as u64;
        }
        Ok(count)
    }

    async fn delete(&self, post: &Post) -> Result<()> {
        delete_owner(&self.engine, POSTS, PAGES, &post.owner(), doc! {})
            .await
            .map(drop)
    }
}

const EDGES: &str = "edges";

/// One document for each like. The post has their number, and the newest of them if `head` is not 0.
pub struct Edges {
    engine: Engine,
    head: i64,
}

impl Edges {
    /// In an empty store.
    pub async fn open(engine: Engine, head: i64) -> Result<Self> {
        let indexes = [
            (EDGES, Index::unique_on(doc! { "owner": 1, "by": 1 })),
            (EDGES, Index::on(doc! { "owner": 1, "at": -1, "_id": -1 })),
            (POSTS, Index::on(doc! { "at": -1 })),
        ];
        for (collection, index) in indexes {
            engine.create_index(collection, index).await?;
        }
        Ok(Self { engine, head })
    }

    async fn newest(&self, post: &Bson, limit: u64) -> Result<Vec<Document>> {
        let find = Find::matching(doc! { "owner": post })
            .project(doc! { "_id": 1, "by": 1, "at": 1 })
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(limit);
        self.engine.find(EDGES, find).await
    }
}

fn edge(post: Post, like: &Like) -> Document {
    doc! { "_id": &like.id, "owner": post.id(), "by": &like.by, "at": like.at }
}

#[async_trait]
impl Way for Edges {
    fn collections(&self) -> &'static [&'static str] {
        &[POSTS, EDGES]
    }

    async fn load(&self, post: &Post, given: Vec<Like>) -> Result<()> {
        let mut likes = doc! { "count": i64::try_from(given.len()).unwrap_or(i64::MAX) };
        if self.head > 0 {
            let newest = given.iter().rev().take(usize::try_from(self.head).unwrap_or(0));
            likes.insert("head", newest.map(Like::document).collect::<Vec<_>>());
        }
        for some in given.chunks(500) {
            self.engine
                .insert(EDGES, some.iter().map(|like| edge(*post, like)).collect())
                .await?;
        }
        self.engine.insert(POSTS, vec![post.document(likes)]).await
    }

    async fn screen(&self, from: DateTime) -> Result<Vec<Seen>> {
        let posts = self.engine.find(POSTS, newest_posts(from)).await?;
        let mut screen = screen_of(&posts);
        if self.head == 0 {
            // A limit holds for a whole query, so each post needs one of its own.
            for (seen, post) in screen.iter_mut().zip(&posts) {
                let newest = self
                    .newest(post.get("_id").unwrap_or(&Bson::Null), NEWEST.unsigned_abs())
                    .await?;
                seen.newest = likers(&newest);
            }
        }
        Ok(screen)
    }

    async fn liked(&self, posts: &[Post], by: &str) -> Result<usize> {
        let ids: Vec<Bson> = posts.iter().map(|post| post.id()).collect();
        let find =
            Find::matching(doc! { "owner": { "$in": ids }, "by": by }).project(doc! { "_id": 0, "owner": 1 });
        Ok(self.engine.find(EDGES, find).await?.len())
    }

    async fn like(&self, post: &Post, like: Like) -> Result<()> {
        match self.engine.insert(EDGES, vec![edge(*post, &like)]).await {
            Ok(()) => {}
            Err(Error::DuplicateKey { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut change = doc! { "$inc": { "likes.count": 1_i64 } };
        if self.head > 0 {
            change.insert(
                "$push",
                doc! { "likes.head": {
                    "$each": [like.document()], "$sort": { "at": -1, "id": -1 }, "$slice": self.head,
                } },
            );
        }
        self.engine
            .update(POSTS, Update::one(doc! { "_id": post.id() }, change))
            .await
            .map(drop)
    }

    async fn unlike(&self, post: &Post, by: &str) -> Result<()> {
        if self
            .engine
            .delete(EDGES, doc! { "owner": post.id(), "by": by }, false)
            .await?
            == 0
        {
            return Ok(());
        }
        let mut change = doc! { "$inc": { "likes.count": -1_i64 } };
        if self.head > 0 {
            change.insert("$pull", doc! { "likes.head": { "by": by } });
        }
        self.engine
            .update(POSTS, Update::one(doc! { "_id": post.id() }, change))
            .await
            .map(drop)
    }

    async fn recount(&self, post: &Post) -> Result<u64> {
        self.engine.count(EDGES, doc! { "owner": post.id() }).await
    }

    async fn delete(&self, post: &Post) -> Result<()> {
        self.engine
            .delete(POSTS, doc! { "_id": post.id() }, false)
            .await?;
        self.engine
            .delete(EDGES, doc! { "owner": post.id() }, true)
            .await
            .map(drop)
    }
}
