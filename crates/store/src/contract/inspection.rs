//! What is shown of an owner's documents matches what the engine reports.

use bson::{Bson, doc};
use model::{Relation, View};

use super::feed::{LIKES, actor, give, join, like, open, publish};
use crate::Store;
use crate::overflow::{Key, Owner, PAGES, owner_collection, owner_id};
use document::{Engine, Find};

/// `$bsonSize` of an owner's document, by the aggregation that a person would type into a shell. The lists that nobody
/// may read are not part of what an owner is shown.
async fn bson_size(engine: &Engine, owner: &Owner) -> u64 {
    let pipeline = vec![
        doc! { "$match": { "_id": owner_id(owner) } },
        doc! { "$project": { "muters": 0, "blockers": 0 } },
        doc! { "$project": { "bytes": { "$bsonSize": "$$ROOT" } } },
    ];
    let answer = engine.aggregate(owner_collection(owner), pipeline).await.unwrap();
    match answer[0].get("bytes") {
        Some(Bson::Int32(bytes)) => u64::try_from(*bytes).unwrap(),
        Some(Bson::Int64(bytes)) => u64::try_from(*bytes).unwrap(),
        other => panic!("$bsonSize answered {other:?}"),
    }
}

/// At every length of a list, with pages and without, of posts and of people.
pub async fn the_byte_map_of_an_owner_adds_up_to_its_bson_size(engine: &Engine) {
    let store = open(engine, 5, 3).await;
    let user = join(&store, 1).await;
    let (_, post) = publish(&store, 2).await;
    for number in 1..=12 {
        give(&store, &post, [number]).await;
        store
            .list(Relation::Followers)
            .append(&user, like(number))
            .await
            .unwrap();
        for owner in [&user, &post] {
            let whole = store.inspect_owner(owner, View::Own).await.unwrap();
            assert_eq!(
                whole.bytes.total(),
                bson_size(engine, owner).await,
                "{owner} at {number}"
            );
        }
    }
}

/// For a list that spilled, after removals from its pages.
pub async fn a_chain_has_the_number_of_items_of_each_page(engine: &Engine) {
    let store = open(engine, 5, 3).await;
    let (_, post) = publish(&store, 1).await;
    assert_eq!(chain(&store, &post).await, Vec::<u64>::new());
    give(&store, &post, 1..=17).await;
    for gone in [1, 2, 5] {
        let key = Key::By(actor(gone));
        store.list(LIKES).remove(&post, &key).await.unwrap();
    }
    let find = Find::matching(doc! { "owner": owner_id(&post) }).sort(doc! { "page": 1 });
    let pages = engine.find(PAGES, find).await.unwrap();
    let stored: Vec<u64> = pages
        .iter()
        .map(|page| page.get_array("items").unwrap().len() as u64)
        .collect();
    assert_eq!(stored[..2], [1, 2], "the removals reached the pages");
    assert_eq!(chain(&store, &post).await, stored);

    let whole = store.inspect_owner(&post, View::Own).await.unwrap();
    for (number, page) in (0..).zip(&pages) {
        let shown = store.page_of(&post, &whole, LIKES, number).await.unwrap();
        assert_eq!(shown.as_ref(), Some(page));
    }
    let beyond = u32::try_from(pages.len()).unwrap();
    assert_eq!(store.page_of(&post, &whole, LIKES, beyond).await.unwrap(), None);
}

async fn chain(store: &Store, owner: &Owner) -> Vec<u64> {
    let whole = store.inspect_owner(owner, View::Own).await.unwrap();
    store.chain(owner, &whole, LIKES).await.unwrap()
}
