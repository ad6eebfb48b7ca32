//! Migration beside writers.

use super::*;

/// The old code pushes and pulls while its list is converted: every acknowledged change is in the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_that_old_code_pushes_and_pulls_meanwhile_are_neither_lost_nor_kept() {
    let store = small_store(20, 15).await;
    let names: Vec<String> = (0..600).map(|n| format!("fan{n}")).collect();
    let owner = ada(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            let (mut came, mut went) = (Vec::new(), Vec::new());
            for n in 0..200 {
                let new = format!("late{task}x{n}");
                let push = doc! { "$push": { "followers": &new } };
                let array = doc! { "_id": "ada" };
                match store
                    .engine()
                    .update("users", Update::one(array.clone(), push))
                    .await
                {
                    Ok(done) if done.modified == 1 => came.push(new),
                    _ => break,
                }
                if n % 5 == 0 {
                    let old = format!("fan{}", task * 100 + n / 5);
                    let pull = doc! { "$pull": { "followers": &old } };
                    match store.engine().update("users", Update::one(array, pull)).await {
                        Ok(done) if done.modified == 1 => went.push(old),
                        _ => break,
                    }
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            (came, went)
        });
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    let mut expected: BTreeSet<String> = names.into_iter().collect();
    let mut writes = 0;
    while let Some(done) = tasks.join_next().await {
        let (came, went) = done.unwrap();
        writes += came.len();
        expected.extend(came);
        expected.retain(|name| !went.contains(name));
    }
    assert!(writes > 0, "somebody wrote meanwhile");
    let found = walk(&store, &owner, FOLLOWERS, 50).await;
    let names: BTreeSet<String> = found
        .iter()
        .map(|item| item.by.clone().unwrap().to_string())
        .collect();
    assert_eq!(names.len(), found.len());
    assert_eq!(names, expected);
    is_sound(&store).await;
}

/// Almost 16 MB in one document, and fifty tasks that like at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_16_mb_is_migrated_while_fifty_tasks_append() {
    let store = Store::open(
        small_store(5, 3).await.engine().clone(),
        store::Settings::default(),
    )
    .await
    .unwrap();
    let owner = post(&store, 1).await;
    // 63 bytes per item, and its index in the array.
    let n = 241_000_u64;
    set(&store, &owner, "likes", array(1..=n)).await;
    let options = DetectOptions {
        threshold: None,
        bytes: 1 << 20,
        top: 3,
    };
    let outliers = detect(&store, options, &|_, _| ()).await.unwrap();
    assert_eq!((outliers[0].form, outliers[0].items), (Form::Unbounded, n));
    assert!(outliers[0].of_most > 99.0, "{outliers:?}");
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..50 {
        let (store, owner) = (store.clone(), owner.clone());
        tasks.spawn(async move {
            for k in 0..4 {
                let new = 1_000_000 + task * 10 + k;
                assert!(store.list(LIKES).append(&owner, like(new)).await.unwrap().added);
                // A second like changes nothing.
                let old = task * 1_000 + k + 1;
                assert!(
                    !store
                        .list(LIKES)
                        .append(&owner, like_at(old, 5_000_000))
                        .await
                        .unwrap()
                        .added
                );
            }
        });
    }
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let items = walk(&store, &owner, LIKES, 1_000).await;
    let names: BTreeSet<&str> = items
        .iter()
        .map(|item| item.by.as_ref().unwrap().as_str())
        .collect();
    assert_eq!((items.len() as u64, names.len() as u64), (n + 200, n + 200));
    is_sound(&store).await;
}

/// Old code pushes items to the raw array until it is refused: acknowledged items are in the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_old_code_pushed_before_it_was_refused_is_kept() {
    let store = small_store(50, 40).await;
    let owner = post(&store, 1).await;
    set(&store, &owner, "likes", array(1..=2_000)).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4_u64 {
        let (store, owner) = (store.clone(), owner.clone());
        tasks.spawn(async move {
            for n in 0_u64.. {
                let new = like(10_000 + task * 1_000 + n);
                let push = doc! { "$push": { "likes": new.to_document() } };
                let update = Update::one(doc! { "_id": owner_id(&owner) }, push);
                match store.engine().update("posts", update).await {
                    Ok(_) => {}
                    Err(Error::Refused { .. }) => return (task, n),
                    Err(error) => panic!("{error}"),
                }
            }
            unreachable!()
        });
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    let migrated = run(&store).await;
    assert_eq!(migrated.refused, []);
    let mut pushed = 0;
    while let Some(done) = tasks.join_next().await {
        let (task, n) = done.unwrap();
        pushed += n;
        for k in 0..n {
            let key = Key::By(handle(10_000 + task * 1_000 + k));
            assert!(
                store.list(LIKES).find(&owner, &key).await.unwrap().is_some(),
                "{key:?}"
            );
        }
    }
    assert!(pushed > 0);
    assert_eq!(
        walk(&store, &owner, LIKES, 100).await.len() as u64,
        2_000 + pushed
    );
    is_sound(&store).await;
}
