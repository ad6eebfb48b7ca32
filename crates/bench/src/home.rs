//! The home feed of a reader who follows ten people, and of one who follows a thousand.

use std::path::Path;
use std::sync::Arc;

use bson::Document;
use document::Engine;
use embedded::Embedded;
use model::{Handle, Person, Relation, Timestamp, Topic};
use serde::Serialize;
use store::overflow::{Item, lay_out};
use store::people::User;
use store::posts::{Order, new_document};
use store::{Settings, Store, people, posts};
use uuid::Uuid;
use workshop::measure::{Cost, CostMeter};

use crate::Result;

/// How many posts a first screen has.
const SCREEN: usize = 20;
/// How many of the authors have more followers than fit into a head. Everybody follows them.
const OUTLIERS: u64 = 2;

/// The measured operations, in the order of the table.
pub const OPERATIONS: [&str; 4] = [
    "first screen",
    "the screen after it",
    "first screen, asking all authors",
    "first look ever",
];

/// The cost of the home feed by the number of followed people.
#[derive(Serialize)]
pub struct Home {
    /// How many posts there are of each author.
    pub posts: u64,
    /// The readers; those who follow few come first.
    pub readers: Vec<Reader>,
}

/// The cost of the home feed for one reader.
#[derive(Serialize)]
pub struct Reader {
    /// How many they follow.
    pub follows: u64,
    /// The costs in the order of [`OPERATIONS`].
    pub costs: Vec<Cost>,
}

/// Loads a town into a store in `folder` and measures.
pub async fn measure(folder: &Path, quick: bool) -> Result<Home> {
    let (authors, each, times) = if quick { (100, 5, 5) } else { (1_000, 20, 1_000) };
    let embedded = Arc::new(Embedded::open(folder)?);
    let store = Store::open(Arc::clone(&embedded) as Engine, Settings::default()).await?;
    load(&store, authors, each).await?;
    let mut readers = [(10, Meters::default()), (authors, Meters::default())];
    for (follows, meters) in &mut readers {
        let reader = handle(&format!("reader{follows}"))?;
        meters[3]
            .time(&embedded, store.timelines().home(&reader, None, SCREEN))
            .await?;
    }
    // Taking turns, so that a busy machine slows both alike.
    for _ in 0..times {
        for (follows, meters) in &mut readers {
            let reader = handle(&format!("reader{follows}"))?;
            let timelines = store.timelines();
            let first = meters[0]
                .time(&embedded, timelines.home(&reader, None, SCREEN))
                .await?;
            let next = meters[1]
                .time(&embedded, timelines.home(&reader, first.next, SCREEN))
                .await?;
            let asked = meters[2].time(&embedded, ask_all(&store, &reader)).await?;
            if first.posts != asked || next.posts.len() != SCREEN {
                return Err("a home feed was wrong while it was measured".into());
            }
        }
    }
    let readers = readers.into_iter().map(|(follows, meters)| Reader {
        follows,
        costs: meters.into_iter().map(CostMeter::cost).collect(),
    });
    Ok(Home {
        posts: each,
        readers: readers.collect(),
    })
}

type Meters = [CostMeter; OPERATIONS.len()];

/// The home feed without a timeline: everybody whom the reader follows, and then all their posts.
async fn ask_all(store: &Store, reader: &Handle) -> document::Result<Vec<posts::StoredPost>> {
    let owner = Topic::User(reader.clone());
    let following = store.list(Relation::Following);
    let stretch = following.newest_first(&owner, None, 1_000).await?;
    let mut authors: Vec<Handle> = stretch.items.into_iter().filter_map(|item| item.by).collect();
    authors.push(reader.clone());
    let (posts, authors) = (store.posts(), Some(&authors[..]));
    let found = posts.list(authors, Order::Newest, None, SCREEN).await?;
    posts.count(authors).await?;
    Ok(found)
}

/// The authors with their posts and followers, and the two readers.
async fn load(store: &Store, authors: u64, each: u64) -> Result<()> {
    let mut ids = (1_u128..).map(Uuid::from_u128);
    let mut id = || ids.next().ok_or("no more ids");
    let names: Vec<Handle> = (0..authors)
        .map(|number| handle(&format!("author{number:04}")))
        .collect::<Result<_>>()?;
    let text = "The weir is open, and the water is where it should be.".parse()?;
    for (number, author) in (0..).zip(&names) {
        let mut followers: Vec<Handle> = Vec::new();
        for (reader, follows) in [("reader10", 10), (&format!("reader{authors}"), authors)] {
            if number < follows {
                followers.push(handle(reader)?);
            }
        }
        if number < OUTLIERS {
            for fan in 0..1_000 {
                followers.push(handle(&format!("fan{fan}"))?);
            }
        }
        person(store, author, Relation::Followers, followers, id()?).await?;
        let written = (0..each).map(|nth| {
            let at = Timestamp::from_millis(1_770_000_000_000 + i64::try_from(nth * authors + number)?);
            Ok(new_document(id()?.into(), id()?, author, &text, at))
        });
        let written: Vec<Document> = written.collect::<Result<_>>()?;
        store
            .insert_owners(posts::COLLECTION, written, Vec::new())
            .await?;
    }
    for follows in [10, authors] {
        let followed = names.iter().take(usize::try_from(follows)?).cloned().collect();
        let reader = handle(&format!("reader{follows}"))?;
        person(store, &reader, Relation::Following, followed, id()?).await?;
    }
    Ok(())
}

/// A person with one list.
async fn person(
    store: &Store,
    handle: &Handle,
    relation: Relation,
    others: Vec<Handle>,
    born: Uuid,
) -> Result<()> {
    let user = User {
        person: Person {
            handle: handle.clone(),
            name: handle.as_str().parse()?,
        },
        bio: String::new(),
        password: None,
        at: Timestamp::from_millis(1_770_000_000_000),
    };
    let items = (0..).zip(others).map(|(number, other)| {
        let at = Timestamp::from_millis(1_770_000_000_000 + number);
        Item::new(Uuid::from_u64_pair(7, at.millis().unsigned_abs()), other, at)
    });
    let owner = Topic::User(handle.clone());
    let limits = store.settings().of(relation);
    let laid_out = lay_out(&owner, born, relation, limits, items.collect());
    let mut document = user.to_document(born);
    document.insert(relation.as_str(), laid_out.list);
    let pages = laid_out.pages;
    store
        .insert_owners(people::COLLECTION, vec![document], pages)
        .await?;
    Ok(())
}

fn handle(name: &str) -> Result<Handle> {
    Ok(name.parse()?)
}
