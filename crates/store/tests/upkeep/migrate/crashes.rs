//! Migration and repair that crash at any write.

use super::*;

/// Lets this many writes through and fails every one after them, like a process that was killed.
struct Dying {
    inner: Engine,
    writes: AtomicI64,
}

impl Dying {
    fn write(&self) -> Result<()> {
        if self.writes.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        Err(Error::Unavailable("the process is dead".to_owned()))
    }
}

#[async_trait]
impl Layer for Dying {
    fn below(&self) -> &Engine {
        &self.inner
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            document_sizes: false,
            ..self.inner.capabilities()
        }
    }

    async fn aggregate(&self, _: &str, _: Vec<Document>) -> Result<Vec<Document>> {
        Err(Error::refused(59, "no such command: 'aggregate'"))
    }
    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        // One after the other, so that a crash leaves only some of them.
        for document in documents {
            self.write()?;
            self.inner.insert(collection, vec![document]).await?;
        }
        Ok(())
    }
    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.write()?;
        self.inner.update(collection, update).await
    }
    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.write()?;
        self.inner.find_and_modify(collection, change).await
    }
    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.write()?;
        self.inner.delete(collection, filter, many).await
    }
    async fn create_index(&self, _: &str, _: Index) -> Result<()> {
        Ok(())
    }
}

async fn dying(store: &Store, writes: i64) -> Store {
    let engine = Dying {
        inner: store.engine().clone(),
        writes: AtomicI64::new(writes),
    };
    Store::open(Arc::new(engine), store.settings().clone())
        .await
        .unwrap()
}

/// Killed before every single write, and run again.
#[tokio::test]
async fn a_migration_that_crashes_at_any_write_has_the_same_result_when_repeated() {
    let names: Vec<String> = (0..17).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut results = Vec::new();
    for writes in 0.. {
        let store = small_store(5, 3).await;
        let owner = post(&store, 1).await;
        set(&store, &owner, "likes", array(1..=20)).await;
        let ada = ada(&store, &names).await;
        let died = migrate(&dying(&store, writes).await, false, &|_, _| ()).await;
        // A like in between, whatever the state.
        store.list(LIKES).append(&owner, like(77)).await.unwrap();
        let migrated = run(&store).await;
        assert_eq!(migrated.refused, [], "after {writes} writes");
        assert_sound(&store, &owner, LIKES).await;
        is_sound(&store).await;
        results.push((
            walk(&store, &owner, LIKES, 9).await,
            walk(&store, &ada, FOLLOWERS, 9).await,
        ));
        if died.is_ok() {
            break;
        }
    }
    assert!(results.len() > 15, "{}", results.len());
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!((results[0].0.len(), results[0].1.len()), (21, 17));
}

/// An interrupted repair is continued too.
#[tokio::test]
async fn a_repair_that_crashes_at_any_write_leaves_a_sound_store_when_repeated() {
    for writes in 0.. {
        let store = small_store(5, 3).await;
        let owner = post(&store, 1).await;
        for n in 1..=20 {
            store.list(LIKES).append(&owner, like(n)).await.unwrap();
        }
        let items = [like(6), like(4), like(4), like(2)]
            .map(|item| item.to_document())
            .to_vec();
        let page = Update::one(doc! { "page": 1_i64 }, doc! { "$set": { "items": items } });
        store.engine().update(PAGES, page).await.unwrap();
        set(&store, &owner, "likes.hasOverflow", false).await;
        set(
            &store,
            &owner,
            "likes.pending",
            vec![doc! { "page": 0_i64, "rev": 0_i64, "id": like(1).to_document().get("id").unwrap() }],
        )
        .await;
        let options = CheckOptions {
            repair: true,
            lists_only: true,
            pause: Duration::from_millis(1),
        };
        let died = check(&dying(&store, writes).await, options, &|_, _| ()).await;
        let checked = check(&store, options, &|_, _| ()).await.unwrap();
        assert!(
            checked.is_sound(),
            "after {writes} writes: {:#?}",
            checked.findings
        );
        is_sound(&store).await;
        assert_sound(&store, &owner, LIKES).await;
        if died.is_ok() {
            assert!(writes > 4, "{writes}");
            return;
        }
    }
}

#[tokio::test]
async fn outliers_are_the_same_with_and_without_aggregation() {
    let store = small_store(5, 3).await;
    for n in 1..=4 {
        let owner = post(&store, u128::from(n)).await;
        for k in 0..n * 4 {
            store.list(LIKES).append(&owner, like(k + 1)).await.unwrap();
        }
    }
    let unbounded = post(&store, 9).await;
    set(&store, &unbounded, "likes", array(1..=40)).await;
    ada(&store, &["bob"; 7]).await;
    let options = DetectOptions {
        threshold: None,
        bytes: 1 << 20,
        top: 3,
    };
    let found = detect(&store, options, &|_, _| ()).await.unwrap();
    let summary: Vec<_> = found
        .iter()
        .map(|found| (&*found.list, found.form, found.items, found.pages > 0))
        .collect();
    assert_eq!(
        summary,
        [
            (FOLLOWERS.as_str(), Form::Unbounded, 7, false),
            (LIKES.as_str(), Form::Unbounded, 40, false),
            (LIKES.as_str(), Form::Overflowed, 16, true),
            (LIKES.as_str(), Form::Overflowed, 12, true),
        ]
    );
    assert!(found[2].page_bytes > 500 && found[2].owner_bytes > 300);
    assert_eq!(
        detect(&dying(&store, 0).await, options, &|_, _| ())
            .await
            .unwrap(),
        found
    );
    let by_bytes = DetectOptions {
        threshold: Some(1_000),
        bytes: found[1].owner_bytes,
        top: 3,
    };
    let large = detect(&store, by_bytes, &|_, _| ()).await.unwrap();
    assert!(
        large.iter().all(|found| found.owner == unbounded.to_string()) && large.len() == 1,
        "{large:?}"
    );
}
