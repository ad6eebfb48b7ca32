//! A feed on an engine: helpers for the cases about whole lists.

use std::collections::HashSet;

use bson::{Bson, doc};
use model::{Cursor, DisplayName, Handle, Person, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use crate::overflow::{Item, Owner, PAGES, owner_collection, owner_id};
use crate::people::User;
use crate::{Settings, Store};
use document::{Engine, Find};

/// The list that most cases are about.
pub(super) const LIKES: Relation = Relation::Likes;

/// Opens the feed like a server whose lists have these limits. Opening it again is a second server.
pub(super) async fn open(engine: &Engine, threshold: usize, page_size: usize) -> Store {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, threshold).unwrap();
        settings.set_page_size(relation, page_size).unwrap();
    }
    Store::open(Engine::clone(engine), settings).await.unwrap()
}

/// Publishes the post; `born` distinguishes it from an earlier one of the same id.
pub(super) async fn publish(store: &Store, born: u128) -> (PostId, Owner) {
    let id = PostId::from(Uuid::from_u128(1));
    let text = "The weir is open.".parse().unwrap();
    store
        .posts()
        .insert(
            id,
            Uuid::from_u128(born),
            &actor(0),
            &text,
            Timestamp::from_millis(1),
        )
        .await
        .unwrap();
    (id, Topic::Post(id))
}

/// Adds a person.
pub(super) async fn join(store: &Store, born: u128) -> Owner {
    let handle = actor(0);
    let user = User {
        person: Person {
            name: "The weir keeper".parse::<DisplayName>().unwrap(),
            handle: handle.clone(),
        },
        bio: String::new(),
        password: None,
        at: Timestamp::from_millis(1),
    };
    store.people().insert(&user, Uuid::from_u128(born)).await.unwrap();
    Topic::User(handle)
}

/// The n-th actor.
pub(super) fn actor(number: u64) -> Handle {
    format!("actor{number}").parse().unwrap()
}

/// The n-th actor's like, given at moment n.
pub(super) fn like(number: u64) -> Item {
    like_again(number, number)
}

/// A like that the n-th actor gives at some moment. Another moment makes another like.
pub(super) fn like_again(number: u64, at: u64) -> Item {
    let id = Uuid::from_u128(u128::from(number) << 64 | u128::from(at));
    Item::new(
        id,
        actor(number),
        Timestamp::from_millis(i64::try_from(at).unwrap()),
    )
}

/// Gives the likes of these actors, one after the other.
pub(super) async fn give(store: &Store, owner: &Owner, actors: impl IntoIterator<Item = u64>) {
    for number in actors {
        let given = store.list(LIKES).append(owner, like(number)).await.unwrap();
        assert!(given.added, "like {number} was there already");
    }
}

/// Runs everything at the same time, and collects the results.
pub(super) async fn at_once<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

/// All items by cursor, newest first, this many at a time.
pub(super) async fn down(store: &Store, owner: &Owner, relation: Relation, limit: usize) -> Vec<Item> {
    let mut items = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let stretch = store
            .list(relation)
            .newest_first(owner, after, limit)
            .await
            .unwrap();
        assert!(stretch.items.len() <= limit);
        items.extend(stretch.items);
        after = stretch.next;
        if after.is_none() {
            return items;
        }
    }
}

/// All items by cursor, oldest first, this many at a time.
pub(super) async fn up(store: &Store, owner: &Owner, relation: Relation, limit: usize) -> Vec<Item> {
    let mut items = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let stretch = store
            .list(relation)
            .oldest_first(owner, after, limit)
            .await
            .unwrap();
        assert!(stretch.items.len() <= limit);
        items.extend(stretch.items);
        after = stretch.next;
        if after.is_none() {
            return items;
        }
    }
}

/// How many page documents there are, of any list.
pub(super) async fn pages(store: &Store) -> u64 {
    store.engine().count(PAGES, doc! {}).await.unwrap()
}

/// Checks a list that nobody is changing, in its documents and as readers see it: the count is exact, head and pages
/// keep their bounds and their numbers, nothing is there twice, and both ways to read it agree. Returns its items,
/// newest first.
pub(super) async fn sound(store: &Store, owner: &Owner, relation: Relation) -> Vec<Item> {
    let limits = store.settings().of(relation);
    let items = down(store, owner, relation, 7).await;
    let mut upwards = up(store, owner, relation, 5).await;
    upwards.reverse();
    assert_eq!(upwards, items, "from the oldest and from the newest");
    let order = |item: &Item| (item.at, item.id);
    assert!(
        items.is_sorted_by(|newer, older| order(newer) > order(older)),
        "newest first: {items:#?}"
    );
    let mut keys = HashSet::new();
    for item in &items {
        let key = match &item.by {
            Some(by) if relation.once_per_actor() => by.to_string(),
            _ => item.id.to_string(),
        };
        assert!(keys.insert(key), "{item:?} stands twice");
    }

    let overflow = store.overflow(owner).await.unwrap()[&relation].clone();
    assert_eq!(
        overflow.count,
        items.len() as u64,
        "the count is what can be read"
    );
    let find = Find::matching(doc! { "_id": owner_id(owner) });
    let found = store.engine().find(owner_collection(owner), find).await.unwrap();
    let list = found[0].get_document(relation.as_str()).unwrap();
    let head = list.get_array("head").unwrap().len();
    assert!(head <= limits.threshold, "a head of {head}");
    assert_eq!(overflow.head, head as u64);
    assert_eq!(list.get_bool("hasOverflow").unwrap(), overflow.pages > 0);
    assert_eq!(
        list.get_array("pending").unwrap(),
        &Vec::<Bson>::new(),
        "nothing half done"
    );

    let mine = doc! {
        "owner": owner_id(owner), "relation": relation.as_str(), "born": found[0].get("born").unwrap(),
        "page": { "$lt": i64::try_from(overflow.pages).unwrap() },
    };
    let find = Find::matching(mine).sort(doc! { "page": 1 });
    let pages = store.engine().find(PAGES, find).await.unwrap();
    let mut stored = head;
    for (number, page) in (0_i64..).zip(&pages) {
        assert_eq!(page.get_i64("page").unwrap(), number, "pages without a gap");
        let items = page.get_array("items").unwrap().len();
        assert!(items <= limits.page_size, "a page of {items}");
        assert_eq!(page.get_i64("count").unwrap(), i64::try_from(items).unwrap());
        stored += items;
    }
    assert_eq!(pages.len() as u64, overflow.pages);
    assert_eq!(stored, items.len(), "what is stored is what can be read");
    items
}
