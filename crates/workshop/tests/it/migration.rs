//! A migration under load loses nothing and doubles nothing, says so from the documents, and leaves nothing behind.

use std::sync::Arc;

use bson::Document;
use document::Engine;
use embedded::Embedded;
use futures::future::BoxFuture;
use model::Timestamp;
use store::Settings;
use uuid::Uuid;
use workshop::JobError;
use workshop::migration::Migrations;
use workshop::report::{ListForm, MeasuredList, Migration, Progress};
use workshop::sandbox::{MOST, SandboxError, Sandboxes};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

struct Fixture {
    engine: Engine,
    migrations: Migrations,
}

type Work = BoxFuture<'static, Result<(), SandboxError>>;

impl Fixture {
    fn new() -> Self {
        Self {
            engine: Arc::new(Embedded::in_memory().unwrap()),
            migrations: Migrations::default(),
        }
    }

    async fn begin(&self, by: &str) -> Result<Work, JobError> {
        let sandboxes = Sandboxes::of(&self.engine);
        let open = sandboxes.open("migration", Uuid::from_u128(1), NOW);
        let what = (1_000, by.parse().unwrap());
        self.migrations.begin(what, NOW, Settings::default(), open).await
    }

    async fn documents(&self) -> u64 {
        let mut count = 0;
        for collection in self.engine.collections().await.unwrap() {
            count += self.engine.count(&collection, Document::new()).await.unwrap();
        }
        count
    }

    /// Waits until the shown state satisfies the condition.
    async fn until(&self, is_so: impl Fn(&Migration) -> bool) {
        while !is_so(&self.migrations.shown()) {
            tokio::task::yield_now().await;
        }
    }
}

fn forms(lists: &[MeasuredList]) -> Vec<ListForm> {
    lists.iter().map(|list| list.form).collect()
}

#[tokio::test]
async fn earlier_and_acknowledged_items_are_there_in_the_end() {
    let place = Fixture::new();
    place.begin("ada").await.unwrap().await.unwrap();
    let migration = place.migrations.shown();
    assert_eq!(migration.progress, Progress::Finished);

    let verdict = migration.verdict.unwrap();
    assert!(verdict.holds, "{verdict:?}");
    assert_eq!(
        (verdict.before, verdict.acknowledged),
        (1_000, migration.acknowledged)
    );
    // Some likes were sent before the migration, and some after it.
    assert!(migration.pushed >= 160, "{}", migration.pushed);
    assert!(
        migration.acknowledged >= migration.pushed + 320 - 8,
        "{migration:?}"
    );

    assert_eq!(forms(&migration.found), [ListForm::Unbounded; 3]);
    assert_eq!(
        forms(&migration.left),
        [ListForm::Overflowed, ListForm::Overflowed, ListForm::Head]
    );
    let (found, left) = (&migration.found[0], &migration.left[0]);
    assert_eq!((found.items, left.items), (1_000, verdict.counted));
    let (first, last) = (
        migration.samples.first().unwrap(),
        migration.samples.last().unwrap(),
    );
    assert_eq!(
        (first.form, last.form),
        (ListForm::Unbounded, ListForm::Overflowed)
    );
    assert_eq!(
        (last.count, last.acknowledged),
        (verdict.counted, verdict.acknowledged)
    );
    assert_eq!(place.documents().await, 0);
}

#[tokio::test]
async fn a_second_start_is_refused_with_the_owner_of_the_first() {
    let place = Fixture::new();
    let work = place.begin("ada").await.unwrap();
    let refused = place.begin("bob").await.err().unwrap();
    assert!(
        matches!(&refused, JobError::Busy(Some(by)) if by.as_str() == "ada"),
        "{refused:?}"
    );
    drop(work);
    assert_eq!(place.migrations.shown().progress, Progress::Failed);
    assert!(place.begin("bob").await.is_ok());
}

#[tokio::test]
async fn a_second_caller_takes_no_sandbox_while_the_first_opens_its_own() {
    let place = Fixture::new();
    let (what, never) = ((1_000, "ada".parse().unwrap()), std::future::pending());
    let mut first = Box::pin(place.migrations.begin(what, NOW, Settings::default(), never));
    assert!(futures::poll!(&mut first).is_pending());
    let (mut asked, what) = (false, (1_000, "bob".parse().unwrap()));
    let open = async {
        asked = true;
        Err(SandboxError::Full)
    };
    let refused = place.migrations.begin(what, NOW, Settings::default(), open).await;
    let refused = refused.err().unwrap();
    assert!(
        matches!(&refused, JobError::Busy(Some(by)) if by.as_str() == "ada"),
        "{refused:?}"
    );
    assert!(!asked);
    drop(first);
    assert!(place.begin("bob").await.is_ok());
}

#[tokio::test]
async fn likes_that_are_stopped_are_counted_and_the_list_is_migrated() {
    let place = Fixture::new();
    let work = place.begin("ada").await.unwrap();
    let (done, ()) = tokio::join!(work, async {
        place.until(|migration| migration.acknowledged > 0).await;
        place.migrations.stop().await;
    });
    done.unwrap();
    let migration = place.migrations.shown();
    assert_eq!(migration.progress, Progress::Stopped);
    let verdict = migration.verdict.unwrap();
    assert!(verdict.holds && verdict.acknowledged < 160, "{verdict:?}");
    assert_eq!(migration.left[0].form, ListForm::Overflowed);
    assert_eq!(place.documents().await, 0);
}

#[tokio::test]
async fn without_a_sandbox_nothing_begins_and_the_last_one_stays() {
    let place = Fixture::new();
    let sandboxes = Sandboxes::of(&place.engine);
    for lease in 0..u128::from(MOST) {
        sandboxes.open("test", Uuid::from_u128(lease), NOW).await.unwrap();
    }
    let refused = place.begin("ada").await.err().unwrap();
    assert!(
        matches!(refused, JobError::Sandbox(SandboxError::Full)),
        "{refused:?}"
    );
    assert_eq!(place.migrations.shown().progress, Progress::Idle);
}
