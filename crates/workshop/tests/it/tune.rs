//! A list with chosen limits, laid out in a sandbox: its documents are kept for display, and nothing else stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bson::Document;
use document::Engine;
use embedded::Embedded;
use futures::future::BoxFuture;
use model::{Relation, Timestamp};
use store::Limits;
use uuid::Uuid;
use workshop::JobError;
use workshop::report::{Progress, TunedList};
use workshop::sandbox::{MOST, MOST_ITEMS, SandboxError, Sandboxes};
use workshop::tune::{Tuner, Tuning};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

const LIMITS: Limits = Limits {
    threshold: 30,
    page_size: 20,
};

struct Fixture {
    engine: Engine,
    tuner: Tuner,
}

type Work = BoxFuture<'static, Result<(), SandboxError>>;

impl Fixture {
    fn new() -> Self {
        Self {
            engine: Arc::new(Embedded::in_memory().unwrap()),
            tuner: Tuner::default(),
        }
    }

    async fn begin(&self, by: &str) -> Result<Work, JobError> {
        let sandboxes = Sandboxes::of(&self.engine);
        let open = sandboxes.open("tuner", Uuid::from_u128(1), NOW);
        let (tuning, from) = (Tuning::new(LIMITS, 62), (Relation::Likes, 2_048));
        self.tuner
            .begin(tuning, from, by.parse().unwrap(), NOW, open)
            .await
    }

    fn list(&self) -> TunedList {
        self.tuner.shown().unwrap().list
    }

    async fn documents(&self) -> u64 {
        let mut count = 0;
        for collection in self.engine.collections().await.unwrap() {
            count += self.engine.count(&collection, Document::new()).await.unwrap();
        }
        count
    }
}

#[tokio::test]
async fn a_list_is_laid_out_in_a_sandbox_measured_and_cleared_away() {
    let place = Fixture::new();
    assert!(place.tuner.shown().is_none());
    let work = place.begin("ada").await.unwrap();
    let sandboxes = Sandboxes::of(&place.engine);
    let registered = sandboxes.all().await.unwrap();
    assert_eq!(
        (registered[0].purpose.as_str(), registered[0].items),
        ("tuner", place.list().items)
    );
    work.await.unwrap();

    let list = place.list();
    assert_eq!(list.progress, Progress::Finished);
    assert_eq!((list.appended, list.items), (20, 30 + 20 * 49));
    let cost = list.cost.unwrap();
    assert!(cost.as_predicted, "{cost:?}");
    assert_eq!(cost.seams, 49);
    let documents = place.tuner.shown().unwrap().documents.unwrap();
    assert_eq!(documents.pages.len(), 49);
    assert_eq!(documents.owner.lists[&Relation::Likes].count, list.items);
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
    assert_eq!(place.list().progress, Progress::Failed);
    assert!(place.begin("bob").await.is_ok());
}

#[tokio::test]
async fn only_one_of_two_concurrent_callers_asks_for_a_sandbox() {
    let place = Fixture::new();
    let sandboxes = Sandboxes::of(&place.engine);
    let asked = AtomicUsize::new(0);
    let begin = |by: &str| {
        let open = async {
            asked.fetch_add(1, Ordering::Relaxed);
            sandboxes.open("tuner", Uuid::from_u128(1), NOW).await
        };
        place.tuner.begin(
            Tuning::new(LIMITS, 62),
            (Relation::Likes, 2_048),
            by.parse().unwrap(),
            NOW,
            open,
        )
    };
    let (ada, bob) = futures::future::join(begin("ada"), begin("bob")).await;
    assert_eq!((ada.is_ok(), bob.is_ok()), (true, false));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_list_that_does_not_fit_gives_its_sandbox_back() {
    let place = Fixture::new();
    let sandboxes = Sandboxes::of(&place.engine);
    let open = async {
        let sandbox = sandboxes.open("tuner", Uuid::from_u128(1), NOW).await?;
        sandbox.reserve(MOST_ITEMS, NOW).await?;
        Ok(sandbox)
    };
    let tuning = Tuning::new(LIMITS, 62);
    let begun = place.tuner.begin(
        tuning,
        (Relation::Likes, 2_048),
        "ada".parse().unwrap(),
        NOW,
        open,
    );
    let refused = begun.await.err().unwrap();
    assert!(
        matches!(refused, JobError::Sandbox(SandboxError::TooManyItems(_))),
        "{refused:?}"
    );
    assert_eq!(sandboxes.all().await.unwrap().len(), 0);
    assert!(place.tuner.shown().is_none());
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
    assert!(place.tuner.shown().is_none());
}

#[tokio::test]
async fn a_holder_that_loses_its_sandbox_stops_writing() {
    let place = Fixture::new();
    let tuning = Tuning::new(
        Limits {
            threshold: 300,
            page_size: 200,
        },
        62,
    );
    let sandboxes = Sandboxes::of(&place.engine);
    let open = sandboxes.open("tuner", Uuid::from_u128(1), NOW);
    let from = (Relation::Likes, 32_768);
    let work = place
        .tuner
        .begin(tuning, from, "ada".parse().unwrap(), NOW, open)
        .await
        .unwrap();
    let much_later = Timestamp::from_millis(NOW.millis() + workshop::sandbox::IDLE + 1);
    assert_eq!(sandboxes.sweep(Uuid::from_u128(2), much_later).await.unwrap(), 1);
    assert!(matches!(work.await, Err(SandboxError::Gone)));
    assert_eq!(place.list().progress, Progress::Failed);
}
