//! Arrays that become head and pages, or are refused.

use super::*;

#[tokio::test]
async fn an_array_becomes_head_and_pages_and_a_second_run_changes_nothing() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    set(&store, &owner, "likes", array(1..=20)).await;
    let migrated = run(&store).await;
    assert_eq!(
        (migrated.lists, migrated.items, migrated.refused.len()),
        (1, 20, 0)
    );
    assert!(migrated.pages >= 5 && migrated.bytes > 0, "{migrated:?}");
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(
        actors(&store, &owner, LIKES).await,
        (1..=20).rev().map(handle).collect::<Vec<_>>()
    );
    is_sound(&store).await;
    let again = run(&store).await;
    assert_eq!((again.lists, again.made, again.pages), (0, 0, 0));
}

#[tokio::test]
async fn a_dry_run_predicts_the_run_and_changes_nothing() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let twice: Vec<Document> = array(1..=20)
        .into_iter()
        .chain([like_at(3, 99).to_document()])
        .collect();
    set(&store, &owner, "likes", twice).await;
    ada(&store, &["bob", "cem", "bob"]).await;
    let before = store.engine().find("posts", Find::default()).await.unwrap();
    let planned = migrate(&store, true, &|_, _| ()).await.unwrap();
    assert_eq!(
        store.engine().find("posts", Find::default()).await.unwrap(),
        before
    );
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
    assert_eq!(
        (planned.lists, planned.items, planned.handles, planned.duplicates),
        (2, 22, 3, 2)
    );
    assert_eq!(planned, run(&store).await);
}

/// Old code may have stored handles as people typed them, and UUIDs as drivers once did.
#[tokio::test]
async fn an_adopted_array_has_its_items_in_the_stored_form() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let mut items = array(1..=12);
    for item in &mut items {
        let by = item.get_str("by").unwrap().to_uppercase();
        item.insert("by", format!("@{by}"));
        let Some(Bson::Binary(id)) = item.get_mut("id") else {
            unreachable!()
        };
        id.subtype = BinarySubtype::UuidOld;
    }
    items.push(like_at(3, 99).to_document());
    set(&store, &owner, "likes", items).await;
    let list = store.list(LIKES);
    assert_eq!(
        list.newest_first(&owner, None, 50).await.unwrap().total,
        12,
        "the third is there twice"
    );
    for actor in [1, 12] {
        assert!(
            !list.append(&owner, like_at(actor, 200)).await.unwrap().added,
            "{actor}"
        );
        let removed = list.remove(&owner, &Key::By(handle(actor))).await.unwrap();
        assert!(removed.item.is_some(), "{actor}");
    }
    let left = actors(&store, &owner, LIKES).await;
    assert_eq!(left, (2..=11).rev().map(handle).collect::<Vec<_>>());
    assert_sound(&store, &owner, LIKES).await;
}

#[tokio::test]
async fn a_missing_list_is_made_and_an_interrupted_adoption_is_finished() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let unset = Update::one(
        doc! { "_id": owner_id(&owner) },
        doc! { "$unset": { "shares": "" } },
    );
    store.engine().update("posts", unset).await.unwrap();
    let mut head = array(1..=20);
    head.reverse();
    for (field, value) in [
        ("head", Bson::from(head)),
        ("count", Bson::Int64(20)),
        ("adopting", true.into()),
    ] {
        set(&store, &owner, &format!("likes.{field}"), value).await;
    }
    let migrated = run(&store).await;
    assert_eq!((migrated.lists, migrated.made, migrated.items), (1, 1, 20));
    assert_sound(&store, &owner, LIKES).await;
    assert_sound(&store, &owner, Relation::Shares).await;
    is_sound(&store).await;
}

#[tokio::test]
async fn a_list_that_does_not_fit_is_refused_by_name_and_stops_no_other() {
    let store = small_store(5, 3).await;
    let (bad, good, worse) = (
        post(&store, 1).await,
        post(&store, 2).await,
        post(&store, 3).await,
    );
    let mut items: Vec<Bson> = array(1..=4).into_iter().map(Bson::from).collect();
    items.insert(2, doc! { "by": "ada" }.into());
    set(&store, &bad, "likes", items).await;
    set(&store, &good, "likes", array(1..=9)).await;
    set(&store, &worse, "comments", vec!["ada"]).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.lists, 1);
    let refused: Vec<(&str, &str)> = migrated
        .refused
        .iter()
        .map(|refusal| (refusal.owner.as_str(), refusal.why.as_str()))
        .collect();
    assert_eq!(refused.len(), 2);
    assert!(
        refused[0].0 == bad.to_string() && refused[0].1.contains("`likes.2`"),
        "{refused:?}"
    );
    assert!(
        refused[1].0 == worse.to_string() && refused[1].1.contains("plain handle"),
        "{refused:?}"
    );
    assert_sound(&store, &good, LIKES).await;
}

#[tokio::test]
async fn plain_handles_become_items_in_their_order_and_the_same_ones_each_time() {
    let names: Vec<String> = (0..40).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let store = small_store(5, 3).await;
        let owner = ada(&store, &names).await;
        let migrated = run(&store).await;
        assert_eq!(
            (migrated.handles, migrated.items, migrated.refused.len()),
            (40, 40, 0),
            "{migrated:?}"
        );
        assert_sound_without_incarnation(&store, &owner).await;
        let items = walk(&store, &owner, FOLLOWERS, 7).await;
        let by: Vec<String> = items
            .iter()
            .rev()
            .map(|item| item.by.clone().unwrap().to_string())
            .collect();
        assert_eq!(by, names, "who came first is the oldest");
        let find = Find::matching(doc! { "_id": "ada" });
        let ada = store.engine().find("users", find).await.unwrap().remove(0);
        assert!(!ada.contains_key("followersConversion"), "{ada}");
        store.list(FOLLOWERS).append(&owner, like_at(1, 5)).await.unwrap();
        assert_sound_without_incarnation(&store, &owner).await;
        seen.push(items);
    }
    assert_eq!(seen[0], seen[1]);
}

async fn assert_sound_without_incarnation(store: &Store, _owner: &Owner) {
    is_sound(store).await;
}
