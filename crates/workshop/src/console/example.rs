use bson::{Document, doc};
use document::catalogue::Catalogue;
use document::{DocumentEngine as _, Engine, Error, Find, Result, Update};
use embedded::Embedded;
use model::{Person, PostId, Problem, Relation, Timestamp, Topic};
use std::sync::Arc;
use store::overflow::{Item, PAGES, uuid_bson};
use store::people::User;
use store::{Limits, Settings, Store, posts};
use uuid::Uuid;

use crate::StageDocument;
use crate::cast::{FIRST, handle};
use crate::fill::ListPlacement;

/// How many likes the head and a page hold.
pub const LIMITS: Limits = Limits {
    threshold: 4,
    page_size: 3,
};
/// Where the documents of the list are.
pub const PLACE: ListPlacement = ListPlacement {
    owners: posts::COLLECTION,
    pages: PAGES,
    field: "likes",
};
/// How many likes the post begins with.
const LIKES: i64 = 12;
/// The collections that stay; the feed's others would be empty.
const SHOWN: [&str; 3] = [posts::COLLECTION, PAGES, "users"];

const POST: Uuid = Uuid::from_u128(1);

/// Fills a store with a person, her post and its likes, as the feed would.
pub(super) async fn fill(engine: &Arc<Embedded>) -> Result<()> {
    let store = open(engine.clone()).await?;
    let ada = User {
        person: Person {
            handle: handle("ada")?,
            name: parsed("Ada")?,
        },
        bio: String::new(),
        password: None,
        at: Timestamp::from_millis(FIRST),
    };
    store.people().insert(&ada, Uuid::from_u128(2)).await?;
    let (text, at) = (parsed("The weir is open.")?, Timestamp::from_millis(FIRST));
    let author = &ada.person.handle;
    store
        .posts()
        .insert(PostId::from(POST), Uuid::from_u128(3), author, &text, at)
        .await?;
    let likes = store.list(Relation::Likes);
    for nth in 1..=LIKES {
        let at = Timestamp::from_millis(FIRST + 60_000 * nth);
        let by = handle(&format!("fan{nth}"))?;
        let id = Uuid::from_u128(100 + u128::from(nth.unsigned_abs()));
        likes
            .append(&Topic::Post(PostId::from(POST)), Item::new(id, by, at))
            .await?;
    }
    // The words by which a search finds the post would be in the way.
    let unset = Update::one(doc! {}, doc! { "$unset": { "words": "" } });
    engine.update(posts::COLLECTION, unset).await?;
    for collection in Catalogue::collections(&**engine).await? {
        if !SHOWN.contains(&collection.as_str()) {
            engine.drop_collection(&collection).await?;
        }
    }
    Ok(())
}

async fn open(engine: Engine) -> Result<Store> {
    let mut settings = Settings::default().without_notifications();
    settings
        .set_threshold(Relation::Likes, LIMITS.threshold)
        .map_err(refused)?;
    settings
        .set_page_size(Relation::Likes, LIMITS.page_size)
        .map_err(refused)?;
    Store::open(engine, settings).await
}

/// The post and its pages of likes, the oldest page first.
pub(super) async fn documents(engine: &Embedded) -> Result<Vec<StageDocument>> {
    let post = Find::matching(doc! { "_id": uuid_bson(POST) });
    let pages =
        Find::matching(doc! { "owner": uuid_bson(POST), "relation": "likes" }).sort(doc! { "page": 1 });
    let mut documents = Vec::new();
    for (collection, find) in [(posts::COLLECTION, post), (PAGES, pages)] {
        let found = engine.find(collection, find.limit(MOST)).await?;
        documents.extend(
            found
                .into_iter()
                .map(|document: Document| StageDocument { collection, document }),
        );
    }
    Ok(documents)
}

/// How many documents are shown of each collection.
const MOST: u64 = 50;

fn refused(problem: Problem) -> Error {
    Error::refused(2, problem.message)
}

fn parsed<T: std::str::FromStr<Err = Problem>>(text: &str) -> Result<T> {
    text.parse().map_err(refused)
}
